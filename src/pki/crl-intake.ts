import type { Certificate } from './certificate.ts';
import { type Crl, isCrlOf, readCrl } from './crl.ts';
import type { CrlDirectory } from './crl-directory.ts';
import { PkiError } from './errors.ts';
import { pemBlocks } from './files.ts';
import { formatDn } from './names.ts';
import { certificatesOf } from './revocation.ts';
import type { TrustStore } from './trust.ts';

/** A list that was fetched and is in force. */
export interface Taken {
  readonly crl: Crl;
  readonly signer: Certificate;
  /** False: it is the one that was known before. */
  readonly isNew: boolean;
}

/** Decides whether what a server gave us is a list to use; if so, puts it in force and on disk. */
export class CrlIntake {
  readonly #trust: Pick<TrustStore, 'issuers' | 'listsOf' | 'take'>;
  readonly #directory: Pick<CrlDirectory, 'write'>;
  readonly #now: () => number;

  constructor(
    trust: Pick<TrustStore, 'issuers' | 'listsOf' | 'take'>,
    directory: Pick<CrlDirectory, 'write'>,
    now: () => number,
  ) {
    this.#trust = trust;
    this.#directory = directory;
    this.#now = now;
  }

  /**
   * @param expected the CA that must have signed it; null: any trusted CA or root
   * @throws PkiError `bad-crl` when it must not be used, is older than the known list (a replay, or a lagging mirror), or has
   *   ended; `not-kept` when it is in force but could not be written
   */
  async take(bytes: Buffer, url: string, expected: Certificate | null): Promise<Taken> {
    const crl = readCrl(bytes, url);
    const bad = (why: string) => new PkiError('bad-crl', `The CRL in ${url} ${why}`);
    const candidates = expected === null ? certificatesOf(this.#trust.issuers) : [expected];
    const signer = candidates.find((ca) => isCrlOf(crl, ca));
    if (signer === undefined) {
      throw bad(`is not signed by ${expected === null ? 'any trusted CA or root' : formatDn(expected.subject)}`);
    }
    // Kept as the newest it would hide the one that holds now.
    if (crl.thisUpdate > this.#now())
      throw bad(`begins on ${new Date(crl.thisUpdate).toISOString()}: is our clock right?`);
    const [known] = this.#trust.listsOf(signer);
    if (known !== undefined && crl.thisUpdate < known.thisUpdate) {
      throw bad(`is older than the one that is known, of ${new Date(known.thisUpdate).toISOString()}`);
    }
    const isNew = known === undefined || !crl.tbs.equals(known.tbs);
    if (isNew) this.#trust.take(crl);
    // A known one that has only its URL for a file could not be written the last time.
    if (isNew || known.file === url) await this.#keep(crl, bytes, signer);
    if (crl.nextUpdate <= this.#now()) throw bad(`ended on ${new Date(crl.nextUpdate).toISOString()}`);
    return { crl, signer, isNew };
  }

  async #keep(crl: Crl, bytes: Buffer, signer: Certificate): Promise<void> {
    const [pem] = pemBlocks(bytes.toString('latin1'), 'X509 CRL');
    try {
      const file = await this.#directory.write(signer.fingerprint, pem ?? bytes);
      this.#trust.take({ ...crl, file });
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === undefined) throw cause;
      const what = `The CRL of ${formatDn(signer.subject)} is in force, but cannot be kept on disk (${code})`;
      throw new PkiError('not-kept', what, cause);
    }
  }
}
