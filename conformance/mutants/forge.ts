import { randomUUID } from 'node:crypto';
import type { Signer } from '../../fixtures/sender/keys.ts';
import type { SignatureOptions } from '../../fixtures/sender/options.ts';
import { digestTargets, signatureValue, signedInfoElement } from '../../fixtures/sender/signature.ts';
import { DEFAULT_PREFIXES, write } from '../../fixtures/sender/xml.ts';
import { NS, X509V3 } from '../answer/namespaces.ts';

export interface ForgeOptions {
  /** What is signed; default both. */
  readonly signed?: readonly ('messaging' | 'body')[];
  /** Behind the Signature in wsse:Security. */
  readonly inSecurity?: string;
  /** Behind wsse:Security. */
  readonly inHeader?: string;
  readonly body?: string;
  readonly valueType?: string;
  readonly signature?: SignatureOptions;
}

/** A signal, validly signed, around whatever eb:Messaging: what a receiver with a fault of its own would answer. */
export function forgeSignal(messaging: string, signer: Signer, o: ForgeOptions = {}): string {
  const id = / (?:wsu:Id|id)="([^"]*)"/.exec(messaging)?.[1] ?? '';
  const body = `body-${randomUUID()}`;
  const envelope = (signedInfo: string, value: string) =>
    `<S12:Envelope xmlns:S12="${NS.soap}" xmlns:wsse="${NS.wsse}" xmlns:wsu="${NS.wsu}"><S12:Header>` +
    `<wsse:Security S12:mustUnderstand="true"><wsse:BinarySecurityToken wsu:Id="token" ValueType="${o.valueType ?? X509V3}">` +
    `${signer.certificate.raw.toString('base64')}</wsse:BinarySecurityToken><ds:Signature xmlns:ds="${NS.ds}" Id="signature">` +
    `${signedInfo}<ds:SignatureValue>${value}</ds:SignatureValue><ds:KeyInfo><wsse:SecurityTokenReference>` +
    `<wsse:Reference URI="#token"></wsse:Reference></wsse:SecurityTokenReference></ds:KeyInfo></ds:Signature>` +
    `${o.inSecurity ?? ''}</wsse:Security>${o.inHeader ?? ''}${messaging}</S12:Header>` +
    `<S12:Body wsu:Id="${body}">${o.body ?? ''}</S12:Body></S12:Envelope>`;
  const targets = (o.signed ?? ['messaging', 'body']).map((name) => {
    const target = name === 'messaging' ? id : body;
    return { uri: `#${target}`, id: target, prefixList: null };
  });
  const how = o.signature ?? {};
  const signedInfo = write(signedInfoElement(digestTargets(targets, envelope('', ''), how), how), DEFAULT_PREFIXES);
  const value = signatureValue(envelope(signedInfo, ''), 'signature', signer, how).toString('base64');
  return envelope(signedInfo, value);
}

/** eb:Messaging with a receipt for whatever a request says it has signed, verified or not. */
export function forgeReceipt(request: string): string {
  const [signedInfo = ''] = /<ds:SignedInfo.*?<\/ds:SignedInfo>/s.exec(request) ?? [];
  const parts = [...signedInfo.matchAll(/<ds:Reference .*?<\/ds:Reference>/gs)].map(
    ([reference]) => `<ebbp:MessagePartNRInformation>${reference}</ebbp:MessagePartNRInformation>`,
  );
  return (
    `<eb:Messaging xmlns:eb="${NS.eb}" xmlns:S12="${NS.soap}" xmlns:wsu="${NS.wsu}" xmlns:ec="${NS.ec}" wsu:Id="m-${randomUUID()}" S12:mustUnderstand="true">` +
    `<eb:SignalMessage><eb:MessageInfo><eb:Timestamp>${new Date().toISOString()}</eb:Timestamp>` +
    `<eb:MessageId>${randomUUID()}@mutant.example</eb:MessageId><eb:RefToMessageId>${messageIdOf(request)}</eb:RefToMessageId>` +
    `</eb:MessageInfo><eb:Receipt><ebbp:NonRepudiationInformation xmlns:ebbp="${NS.ebbp}" xmlns:ds="${NS.ds}">${parts.join('')}` +
    '</ebbp:NonRepudiationInformation></eb:Receipt></eb:SignalMessage></eb:Messaging>'
  );
}

/** The first eb:MessageId in a request. */
export function messageIdOf(request: string): string {
  return /<eb:MessageId>([^<]*)</.exec(request)?.[1] ?? '';
}
