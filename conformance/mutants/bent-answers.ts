import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { openEnvelope } from '../answer/envelope.ts';
import { NS } from '../answer/namespaces.ts';
import type { FailureKind } from '../failure.ts';
import type { WireAnswer } from '../wire/post.ts';
import { type ForgeOptions, forgeSignal } from './forge.ts';
import type { Mutant } from './mutant.ts';

const isReceipt = ({ body }: WireAnswer) => body.includes('<eb:Receipt>');

const isError = ({ body }: WireAnswer) => body.includes('<eb:Error ');

function withBody(answer: WireAnswer, body: string): WireAnswer {
  return { ...answer, body: Buffer.from(body) };
}

/** Changes eb:Messaging of the receipts (or the errors) and signs them anew. */
function bent(
  fault: string,
  caughtBy: string,
  as: FailureKind,
  edit: (messaging: string) => string,
  o: ForgeOptions & { readonly errors?: true; readonly by?: string } = {},
): Mutant {
  return {
    fault,
    caughtBy,
    as,
    async answer({ forward, signer, signerNamed }) {
      const answer = await forward();
      if (!(o.errors === true ? isError(answer) : isReceipt(answer))) return answer;
      const messaging = edit(openEnvelope(answer.body).unverified);
      return withBody(answer, forgeSignal(messaging, o.by === undefined ? signer : signerNamed(o.by), o));
    },
  };
}

/** Changes the answer after it was signed. */
function spoilt(fault: string, caughtBy: string, as: FailureKind, edit: (answer: WireAnswer) => WireAnswer): Mutant {
  return {
    fault,
    caughtBy,
    as,
    async answer({ forward }) {
      return edit(await forward());
    },
  };
}

const PART = /<ebbp:MessagePartNRInformation.*?<\/ebbp:MessagePartNRInformation>/s;

const TRANSFORMS = /<ds:Transforms>.*?<\/ds:Transforms>/s;

const wsu = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd';

/** Receivers whose receipts are wrong. */
export const RECEIPT_MUTANTS: readonly Mutant[] = [
  bent('one reference is missing in the receipt', 'AS4_CP_TA01', 'receipt', (xml) => xml.replace(PART, '')),
  bent('a digest in the receipt is another', 'AS4_CP_TA01', 'receipt', (xml) =>
    xml.replace(/(<ds:DigestValue>)(.)/, (_, tag, c) => tag + (c === 'A' ? 'B' : 'A')),
  ),
  bent('one reference is there twice', 'AS4_CP_TA01', 'receipt', (xml) => xml.replace(PART, '$&$&')),
  bent('the receipt has no Transforms', 'AS4_CP_TA01', 'receipt', (xml) => xml.replace(TRANSFORMS, '')),
  bent('the receipt drops PrefixLists', 'TOL-ENV-09', 'receipt', (xml) =>
    xml.replace(/<(ec|\w+):InclusiveNamespaces[^>]*><\/\1:InclusiveNamespaces>/g, ''),
  ),
  bent('RefToMessageId is another message’s', 'AS4_CP_TA01', 'receipt', (xml) =>
    xml.replace(/(<eb:RefToMessageId>)[^<]*/, '$1other@sender.example'),
  ),
  bent('there is no RefToMessageId', 'AS4_CP_TA01', 'receipt', (xml) =>
    xml.replace(/<eb:RefToMessageId>[^<]*<\/eb:RefToMessageId>/, ''),
  ),
  bent('RefToMessageId is empty', 'AS4_CP_TA01', 'receipt', (xml) => xml.replace(/(<eb:RefToMessageId>)[^<]*/, '$1')),
  bent('there is a reference too many, of something that was not signed', 'AS4_CP_TA01', 'receipt', (xml) =>
    xml.replace(PART, (part) => part + part.replace(/URI="[^"]*"/, 'URI="cid:nothing@mutant.example"')),
  ),
  bent('the receipt is empty', 'AS4_CP_TA01', 'receipt', (xml) =>
    xml.replace(/<eb:Receipt>.*<\/eb:Receipt>/s, '<eb:Receipt></eb:Receipt>'),
  ),
  bent('another access point signs', 'AS4_CP_TA01', 'unsigned', (xml) => xml, { by: 'sender-2' }),
  bent('somebody of an unknown CA signs', 'AS4_CP_TA01', 'unsigned', (xml) => xml, { by: 'other' }),
  bent('a certificate that has expired signs', 'AS4_CP_TA01', 'unsigned', (xml) => xml, { by: 'expired' }),
  bent('the signature is made with SHA-1', 'AS4_CP_TA01', 'unsigned', (xml) => xml, {
    signature: { method: `${NS.ds}rsa-sha1` },
  }),
  bent('the digests are SHA-1', 'AS4_CP_TA01', 'unsigned', (xml) => xml, { signature: { digest: `${NS.ds}sha1` } }),
  bent('only the Body is signed', 'AS4_CP_TA01', 'unsigned', (xml) => xml, { signed: ['body'] }),
  bent('only eb:Messaging is signed', 'AS4_CP_TA01', 'unsigned', (xml) => xml, { signed: ['messaging'] }),
  bent('eb:Messaging has id instead of wsu:Id', 'AS4_CP_TA01', 'unsigned', (xml) => xml.replace(' wsu:Id=', ' id=')),
  bent('eb:Receipt has a second child', 'RCPT-05', 'form', (xml) =>
    xml.replace('</eb:Receipt>', '<x xmlns="urn:x"></x></eb:Receipt>'),
  ),
  bent('MessageInfo is in the wrong order', 'RCPT-06', 'form', (xml) =>
    xml.replace(/(<eb:Timestamp>.*<\/eb:Timestamp>)(<eb:MessageId>.*<\/eb:MessageId>)/s, '$2$1'),
  ),
  bent('eb:Messaging has no mustUnderstand', 'RCPT-07', 'form', (xml) => xml.replace(/ S12:mustUnderstand="true"/, '')),
  bent('all receipts have one MessageId', 'RCPT-12', 'form', (xml) =>
    xml.replace(/(<eb:MessageId>)[^<]*/, '$1same@mutant.example'),
  ),
  bent('MessageId has angle brackets', 'RCPT-11', 'form', (xml) =>
    xml.replace(/(<eb:MessageId>)([^<]*)/, '$1&lt;$2&gt;'),
  ),
  bent('the clock is an hour late', 'RCPT-13', 'form', (xml) =>
    xml.replace(/(<eb:Timestamp>)[^<]*/, `$1${new Date(Date.now() - 3_600_000).toISOString()}`),
  ),
  bent('a wsu:Timestamp makes the receipt expire', 'RCPT-10', 'form', (xml) => xml, {
    inSecurity: `<wsu:Timestamp xmlns:wsu="${wsu}"><wsu:Expires>2026-11-30T10:05:00Z</wsu:Expires></wsu:Timestamp>`,
  }),
  bent('there are two wsse:Security', 'RCPT-02', 'form', (xml) => xml, {
    inHeader: '<wsse:Security S12:role="urn:x"></wsse:Security>',
  }),
  bent('there is something in the SOAP Body', 'RCPT-08', 'form', (xml) => xml, { body: '<x xmlns="urn:x"></x>' }),
  bent('the token is no X509v3', 'RCPT-04', 'form', (xml) => xml, { valueType: 'urn:example:token' }),
  spoilt('the receipt is changed after it was signed', 'AS4_CP_TA01', 'unsigned', (answer) =>
    withBody(answer, answer.body.toString().replace('</eb:Timestamp>', '0</eb:Timestamp>')),
  ),
  spoilt('the receipt is not signed', 'AS4_CP_TA01', 'unsigned', (answer) =>
    withBody(answer, answer.body.toString().replace(/<wsse:Security.*<\/wsse:Security>/s, '')),
  ),
  spoilt(
    'what is signed is moved aside, and another receipt stands in its place',
    'AS4_CP_TA01',
    'unsigned',
    (answer) => {
      const messaging = /<(\w+):Messaging .*<\/\1:Messaging>/s;
      return withBody(
        answer,
        answer.body
          .toString()
          .replace(
            messaging,
            (signed) => `<x xmlns="urn:x">${signed}</x>${signed.replace(/wsu:Id="[^"]*"/, 'wsu:Id="m"')}`,
          ),
      );
    },
  ),
  spoilt('what is signed is moved aside, and another receipt has its id', 'AS4_CP_TA01', 'unsigned', (answer) => {
    const messaging = /<(\w+):Messaging .*<\/\1:Messaging>/s;
    return withBody(
      answer,
      answer.body.toString().replace(messaging, (signed) => `<x xmlns="urn:x">${signed}</x>${signed}`),
    );
  }),
  spoilt('the receipt is not there at all', 'AS4_CP_TA01', 'no-signal', (answer) => withBody(answer, '')),
  spoilt('the receipt comes in a multipart', 'AS4_CP_TA01', 'no-signal', (answer) => ({
    ...withBody(answer, `--b\r\nContent-Type: application/soap+xml\r\n\r\n${answer.body.toString()}\r\n--b--\r\n`),
    headers: { ...answer.headers, 'content-type': 'multipart/related; type="application/soap+xml"; boundary=b' },
  })),
  spoilt('the receipt is compressed', 'AS4_CP_TA01', 'no-signal', (answer) => ({
    ...answer,
    body: gzipSync(answer.body),
    headers: { ...answer.headers, 'content-encoding': 'gzip' },
  })),
  spoilt('the receipt is sent as text/xml', 'AS4_CP_TA01', 'no-signal', (answer) => ({
    ...answer,
    headers: { ...answer.headers, 'content-type': 'text/xml' },
  })),
  spoilt('the receipt comes with status 500', 'AS4_CP_TA01', 'other-status', (answer) => ({ ...answer, status: 500 })),
];

/** Receivers whose errors are wrong. */
export const ERROR_MUTANTS: readonly Mutant[] = [
  bent(
    'every error is 0004',
    'GZ-01',
    'other-code',
    (xml) => xml.replace(/errorCode="[^"]*"/, 'errorCode="EBMS:0004"'),
    {
      errors: true,
    },
  ),
  bent('errors are warnings', 'GZ-01', 'form', (xml) => xml.replace('severity="failure"', 'severity="warning"'), {
    errors: true,
  }),
  bent(
    'errors do not say which message',
    'GZ-01',
    'form',
    (xml) => xml.replace(/<eb:RefToMessageId>[^<]*<\/eb:RefToMessageId>/, ''),
    { errors: true },
  ),
  bent(
    'errors have no ErrorDetail',
    'SBD-30',
    'form',
    (xml) => xml.replace(/<eb:ErrorDetail>.*<\/eb:ErrorDetail>/s, ''),
    {
      errors: true,
    },
  ),
  bent(
    'decryption is an oracle',
    'NEG-DEC-09',
    'form',
    (xml) => xml.replace(/(<eb:Description[^>]*>)/, `$1${randomUUID()}: `),
    {
      errors: true,
    },
  ),
  spoilt('errors are not signed', 'GZ-01', 'unsigned', (answer) =>
    isError(answer)
      ? withBody(answer, answer.body.toString().replace(/<wsse:Security.*<\/wsse:Security>/s, ''))
      : answer,
  ),
  spoilt('errors come with status 500', 'GZ-01', 'other-status', (answer) =>
    isError(answer) ? { ...answer, status: 500 } : answer,
  ),
];

/** Signs everything anew and has no fault: what must pass, or the mutants would be caught for nothing. */
export const CONTROL: Mutant = bent('nothing is wrong', 'AS4_CP_TA01', 'suite', (xml) => xml);
