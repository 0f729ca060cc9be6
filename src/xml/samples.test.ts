import { execFileSync } from 'node:child_process';
import { createHash, verify, X509Certificate } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalize } from './c14n.ts';
import { parseXml, type XmlDocument, XmlError } from './parse.ts';
import { splitPrefixList } from './prefix-list.ts';
import { libxml2Canonical } from './testing/oracle.ts';
import { attribute, child, childrenNamed, elements, text, type XmlElement } from './tree.ts';

const SAMPLES = fileURLToPath(new URL('../../../shared/samples/', import.meta.url));
const SOAP = 'http://www.w3.org/2003/05/soap-envelope';
const EB = 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/';
const DS = 'http://www.w3.org/2000/09/xmldsig#';
const EXC = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const WSSE = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
const WSU = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd';

const HASH: Record<string, string> = {
  'http://www.w3.org/2001/04/xmlenc#sha256': 'sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512': 'sha512',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256': 'sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512': 'sha512',
};

function envelopeOf(file: string): Buffer {
  const bytes = readFileSync(join(SAMPLES, file));
  const latin1 = bytes.toString('latin1');
  const root = /<(\w+):Envelope[ >]/.exec(latin1)!;
  const end = `</${root[1]}:Envelope>`;
  return bytes.subarray(root.index, latin1.indexOf(end) + end.length);
}

const one = (el: XmlElement, uri: string, local: string): XmlElement => {
  const found = childrenNamed(el, uri, local);
  expect(found, `${local} in ${el.name}`).toHaveLength(1);
  return found[0]!;
};
const prefixesIn = (transform: XmlElement | null): readonly string[] => {
  const list = transform === null ? null : child(transform, EXC, 'InclusiveNamespaces');
  return splitPrefixList(list === null ? null : attribute(list, 'PrefixList'));
};

interface Signed {
  readonly doc: XmlDocument;
  readonly signature: XmlElement;
  readonly signedInfo: XmlElement;
  readonly signedInfoPrefixes: readonly string[];
  readonly references: readonly { target: XmlElement; prefixes: readonly string[]; hash: string; digest: string }[];
}

/** The same-document references of an envelope's signature, with what they say. */
function signed(envelope: Buffer): Signed {
  const doc = parseXml(envelope);
  const signature = one(one(one(doc.root, SOAP, 'Header'), WSSE, 'Security'), DS, 'Signature');
  const signedInfo = one(signature, DS, 'SignedInfo');
  const references = childrenNamed(signedInfo, DS, 'Reference').flatMap((reference) => {
    const uri = attribute(reference, 'URI')!;
    if (!uri.startsWith('#')) return [];
    return {
      target: doc.byId.get(uri.slice(1))!,
      prefixes: prefixesIn(elements(one(reference, DS, 'Transforms'))[0]!),
      hash: HASH[attribute(one(reference, DS, 'DigestMethod'), 'Algorithm')!]!,
      digest: text(one(reference, DS, 'DigestValue'))!.replace(/\s/g, ''),
    };
  });
  return {
    doc,
    signature,
    signedInfo,
    signedInfoPrefixes: prefixesIn(one(signedInfo, DS, 'CanonicalizationMethod')),
    references,
  };
}

const digestOf = (r: Signed['references'][number]): string =>
  createHash(r.hash).update(canonicalize(r.target, r.prefixes)).digest('base64');

/** The certificate that the Signature's KeyInfo refers to; null when it names its key in another way. */
function certificateOf({ doc, signature }: Signed): X509Certificate | null {
  const str = child(one(signature, DS, 'KeyInfo'), WSSE, 'SecurityTokenReference')!;
  const direct = child(str, WSSE, 'Reference');
  if (direct === null) return null;
  return new X509Certificate(Buffer.from(text(doc.byId.get(attribute(direct, 'URI')!.slice(1))!)!, 'base64'));
}

function filesIn(folder: string, pattern: RegExp): string[] {
  const path = join(SAMPLES, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path)
    .filter((name) => pattern.test(name))
    .map((name) => `${folder}/${name}`);
}

const messages = [...filesIn('real', /\.as4(in|out)$/), ...filesIn('peers', /\.as4$/)];
const receipts = filesIn('receipts', /\.as4in$/);

describe('messages that other products sent', () => {
  if (messages.length === 0) return it.skip('are not tested: ../shared/samples is not there', () => undefined);

  it.each(messages)('%s has the canonical forms of libxml2 and the digests of its sender', (file) => {
    const envelope = envelopeOf(file);
    const parts = signed(envelope);
    const messaging = one(one(parts.doc.root, SOAP, 'Header'), EB, 'Messaging');
    const body = one(parts.doc.root, SOAP, 'Body');
    const path = new Map([
      [messaging, '/*/*[local-name()="Header"]/*[local-name()="Messaging"]'],
      [body, '/*/*[local-name()="Body"]'],
    ]);
    expect(parts.references.map((r) => r.target)).toEqual(expect.arrayContaining([messaging, body]));
    for (const reference of parts.references) {
      expect(digestOf(reference)).toBe(reference.digest);
      const xpath = path.get(reference.target);
      if (xpath === undefined) continue;
      expect(canonicalize(reference.target, reference.prefixes)).toBe(
        libxml2Canonical(envelope, xpath, reference.prefixes),
      );
    }
    const signedInfo = canonicalize(parts.signedInfo, parts.signedInfoPrefixes);
    const xpath = '//*[local-name()="Security"]/*[local-name()="Signature"]/*[local-name()="SignedInfo"]';
    expect(signedInfo).toBe(libxml2Canonical(envelope, xpath, parts.signedInfoPrefixes));

    const certificate = certificateOf(parts);
    if (certificate === null) return expect(file).toContain('sign-ski');
    const hash = HASH[attribute(one(parts.signedInfo, DS, 'SignatureMethod'), 'Algorithm')!]!;
    const value = Buffer.from(text(one(parts.signature, DS, 'SignatureValue'))!, 'base64');
    expect(verify(hash, Buffer.from(signedInfo), certificate.publicKey, value)).toBe(true);
  });

  it('have envelopes that are refused when cut off anywhere', () => {
    const envelope = envelopeOf(messages[0]!);
    for (let end = 0; end < envelope.length; end += 97)
      expect(() => parseXml(envelope.subarray(0, end))).toThrow(XmlError);
  });
});

function hasXmlsec1(): boolean {
  try {
    execFileSync('xmlsec1', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('receipts whose signature xmlsec1 accepts', () => {
  if (receipts.length === 0) return it.skip('are not tested: ../shared/samples is not there', () => undefined);
  if (!hasXmlsec1())
    return it.skip('are not tested: xmlsec1 is not installed (apt-get install xmlsec1)', () => undefined);

  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'quittance-xmlsec-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function xmlsec1Accepts(envelope: Buffer, certificate: X509Certificate): boolean {
    writeFileSync(join(folder, 'signer.pem'), certificate.toString());
    writeFileSync(join(folder, 'envelope.xml'), envelope);
    const ids = [`${EB}:Messaging`, `${SOAP}:Body`, `${WSU}:Timestamp`].flatMap((name) => ['--id-attr:Id', name]);
    try {
      const args = ['--verify', '--pubkey-cert-pem', 'signer.pem', ...ids, 'envelope.xml'];
      execFileSync('xmlsec1', args, { cwd: folder, stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  }

  it.each(receipts)('%s has the digests that we compute, and neither of us accepts another id in it', (file) => {
    const envelope = envelopeOf(file);
    const parts = signed(envelope);
    const certificate = certificateOf(parts)!;
    expect(xmlsec1Accepts(envelope, certificate)).toBe(true);
    expect(parts.references.length).toBeGreaterThanOrEqual(2);
    for (const reference of parts.references) expect(digestOf(reference)).toBe(reference.digest);

    const changed = Buffer.from(envelope.toString('utf8').replace(/(RefToMessageId>)./, '$1_'));
    expect(changed.equals(envelope)).toBe(false);
    expect(xmlsec1Accepts(changed, certificate)).toBe(false);
    const agrees = signed(changed).references.map((reference) => digestOf(reference) === reference.digest);
    expect(agrees).toContain(false);
  });
});
