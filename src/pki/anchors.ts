import type { Crl } from './crl.ts';
import { CrlDirectory } from './crl-directory.ts';
import type { CrlReader } from './crl-memory.ts';
import { readPkiFile } from './files.ts';
import { type Issuer, readIssuers } from './issuers.ts';
import { type CrlIndex, indexCrls, newestOfEach } from './revocation.ts';

export interface TrustOptions {
  /** PEM bundle: the access-point CAs, and the self-signed roots above them. */
  readonly issuers: string;
  /** CRL files, PEM or DER; not read when `revocation` is `off`. */
  readonly crls: readonly string[];
  /** Where lists that were fetched are kept; not read when `revocation` is `off`. */
  readonly crlDirectory?: string;
  readonly revocation: 'hard' | 'soft' | 'off';
  /**
   * `on`: whoever judges goes on to ask OCSP. A leaf of which no list says anything is then trusted with the warning
   * `revocation-unknown` also under `hard`, and only `RevocationWatch.confirm` settles it.
   */
  readonly ocsp?: 'off' | 'on';
  /** `production` refuses a bundle that holds test CAs. */
  readonly environment: 'test' | 'production';
  /** Epoch milliseconds; for `degraded`. */
  readonly now: () => number;
}

/** What was read from the files at one moment; replaced as a whole. */
export interface Anchors {
  readonly issuers: readonly Issuer[];
  /** From the files that the operator names. */
  readonly configured: readonly Crl[];
  /** Fetched, the newest of each CA. */
  readonly fetched: readonly Crl[];
  /** All of them. */
  readonly crls: CrlIndex;
  /** Sentences about fetched lists that cannot be used. */
  readonly faults: readonly string[];
}

/** Reads the files. Throws PkiError that names the file and says what to do. */
export async function readAnchors(options: TrustOptions, readCrl: CrlReader): Promise<Anchors> {
  const issuers = readIssuers(await readPkiFile(options.issuers), options.issuers, options.environment);
  if (options.revocation === 'off') return anchorsOf(issuers, [], [], []);
  const configured = await Promise.all(options.crls.map(async (file) => readCrl(await readPkiFile(file), file)));
  if (!options.crlDirectory) return anchorsOf(issuers, configured, [], []);
  const { crls, faults } = await new CrlDirectory(options.crlDirectory).read(readCrl);
  return anchorsOf(issuers, configured, crls, faults);
}

/** Fetched lists count as far as a trusted CA has signed them, a configured one that none has signed is a fault (PkiError). */
export function anchorsOf(
  issuers: readonly Issuer[],
  configured: readonly Crl[],
  candidates: readonly Crl[],
  faults: readonly string[],
): Anchors {
  const fetched = newestOfEach(candidates, issuers);
  return { issuers, configured, fetched, crls: indexCrls([...configured, ...fetched], issuers), faults };
}
