import { verify } from 'node:crypto';
import { type Certificate, plainSerial } from './certificate.ts';
import { type Der, DerReader, TAG } from './der.ts';
import { pemBlocks } from './files.ts';
import { type DistinguishedName, readDn, sameDn } from './names.ts';
import { SIGNATURE_HASHES } from './signature-algorithms.ts';
import { isTime, readTime } from './time.ts';

/** A certificate revocation list (RFC 5280 §5), complete and direct; its signature is not yet verified. */
export interface Crl {
  readonly file: string;
  readonly issuer: DistinguishedName;
  /** Epoch milliseconds. Usable from `thisUpdate` until before `nextUpdate`. */
  readonly thisUpdate: number;
  readonly nextUpdate: number;
  /** Serial numbers in the form of `Certificate.serial`. */
  readonly revoked: ReadonlySet<string>;
  readonly tbs: Buffer;
  readonly hash: string;
  readonly signature: Buffer;
}

/**
 * Decodes one CRL, PEM or DER. Our own DER reader, because asn1js blocks the event loop for half a second over 5,000 entries.
 * Throws PkiError `bad-crl`: unreadable, no nextUpdate, an unknown algorithm, or a critical extension: delta, indirect and
 * partitioned CRLs carry one (RFC 5280 §5.2), and reading one of those as complete would miss revocations.
 */
export function readCrl(bytes: Buffer, file: string): Crl {
  const reader = new DerReader('bad-crl', `The CRL in ${file}`);
  const blocks = pemBlocks(bytes.toString('latin1'), 'X509 CRL');
  if (blocks.length > 1) throw reader.fail('is one of several in the file: give each a file of its own');
  const [tbs, algorithm, signature] = reader.inside(reader.one(blocks[0] ?? bytes), TAG.sequence);
  const fields = reader.inside(tbs, TAG.sequence);
  if (fields[0]?.tag === TAG.integer) fields.shift(); // version
  const [innerAlgorithm, issuer, thisUpdate, nextUpdate, ...rest] = fields;
  if (nextUpdate === undefined || !isTime(nextUpdate)) throw reader.fail('has no nextUpdate');
  if (algorithm === undefined || innerAlgorithm?.whole.equals(algorithm.whole) !== true) {
    throw reader.fail('names two signature algorithms');
  }
  const hash = SIGNATURE_HASHES.get(reader.oid(reader.inside(algorithm, TAG.sequence)[0]));
  if (hash === undefined) throw reader.fail('is signed with an algorithm that is too weak or not known');
  const entries = rest.find((field) => field.tag === TAG.sequence);
  refuseCritical(reader, rest.find((field) => field.tag === 0xa0)?.content);
  return {
    file,
    issuer: readDn(issuer),
    thisUpdate: readTime(reader, thisUpdate),
    nextUpdate: readTime(reader, nextUpdate),
    revoked: new Set(entries === undefined ? [] : serialsOf(reader, entries)),
    tbs: (tbs as Der).whole,
    hash,
    signature: reader.content(signature, TAG.bitString).subarray(1),
  };
}

/** True when `ca` issued this CRL: its name and its key. */
export function isCrlOf(crl: Crl, ca: Certificate): boolean {
  if (!sameDn(crl.issuer, ca.subject) || (ca.keyUsage !== null && !ca.keyUsage.has('cRLSign'))) return false;
  return verify(crl.hash, crl.tbs, ca.publicKey, crl.signature);
}

function* serialsOf(reader: DerReader, entries: Der): Generator<string> {
  for (const entry of reader.inside(entries, TAG.sequence)) {
    const [serial, , extensions] = reader.inside(entry, TAG.sequence);
    refuseCritical(reader, extensions?.whole);
    yield plainSerial(reader.content(serial, TAG.integer).toString('hex'));
  }
}

function refuseCritical(reader: DerReader, extensions: Buffer | undefined): void {
  if (extensions === undefined) return;
  for (const extension of reader.inside(reader.one(extensions), TAG.sequence)) {
    const parts = reader.inside(extension, TAG.sequence);
    if (parts.length === 3 && reader.boolean(parts[1])) {
      throw reader.fail(`has the critical extension ${reader.oid(parts[0])}: only complete CRLs are read`);
    }
  }
}
