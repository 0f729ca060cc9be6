import { hash } from 'node:crypto';
import type { Certificate } from './certificate.ts';
import { type Der, DerReader, TAG } from './der.ts';

/** What one certificate is called in OCSP (RFC 6960 §4.1.1 CertID) and the request that asks about it, DER. */
export interface OcspQuestion {
  readonly issuerNameHash: Buffer;
  readonly issuerKeyHash: Buffer;
  /** Content of the INTEGER. */
  readonly serial: Buffer;
  readonly request: Buffer;
}

/** The hash that names the issuer. SHA-1 because every responder knows it (RFC 5019 §2.1.1); nothing is proved with it. */
export const CERT_ID_HASH = '1.3.14.3.2.26';
const OID_SHA1 = Buffer.from('06052b0e03021a', 'hex');
const NULL = Buffer.from('0500', 'hex');
const reader = new DerReader('bad-certificate', 'The certificate');

/** Asks about `leaf`, which `issuer` has issued. Without a nonce: no public responder honours one (RFC 5019 §2.1.1). */
export function askAbout(leaf: Certificate, issuer: Certificate): OcspQuestion {
  const issuerNameHash = hash('sha1', certificateField(issuer, 4).whole, 'buffer');
  const issuerKeyHash = keyHash(issuer);
  const serial = reader.content(certificateField(leaf, 0), TAG.integer);
  const certId = encode(
    TAG.sequence,
    encode(TAG.sequence, OID_SHA1, NULL),
    encode(TAG.octetString, issuerNameHash),
    encode(TAG.octetString, issuerKeyHash),
    encode(TAG.integer, serial),
  );
  // OCSPRequest { tbsRequest { requestList { Request { reqCert } } } }
  let request = certId;
  for (let depth = 0; depth < 4; depth++) request = encode(TAG.sequence, request);
  return { issuerNameHash, issuerKeyHash, serial, request };
}

/** SHA-1 over the bits of the public key: issuerKeyHash of a CertID, and byKey of a responder's id. */
export function keyHash(certificate: Certificate): Buffer {
  const info = reader.one(certificate.publicKey.export({ type: 'spki', format: 'der' }));
  const [, bits] = reader.inside(info, TAG.sequence);
  return hash('sha1', reader.content(bits, TAG.bitString).subarray(1), 'buffer');
}

/** A field of the tbsCertificate by its place after the version: 0 serialNumber, 4 subject. */
function certificateField(certificate: Certificate, at: number): Der {
  const [tbs] = reader.inside(reader.one(certificate.der), TAG.sequence);
  const fields = reader.inside(tbs, TAG.sequence);
  const field = fields[fields[0]?.tag === 0xa0 ? at + 1 : at];
  if (field === undefined) throw reader.fail('is not built as X.509 says');
  return field;
}

function encode(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  // A request has less than 200 bytes; 256 and more would need a third form.
  const length = content.length < 0x80 ? [content.length] : [0x81, content.length];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
