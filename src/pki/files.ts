import { readFile } from 'node:fs/promises';
import { PkiError } from './errors.ts';

/** Reads a file of keys, certificates or CRLs. Throws PkiError `unreadable-file` that names the file. */
export async function readPkiFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : `cannot be read`;
    throw new PkiError('unreadable-file', `${path} ${why}: correct the path or its permissions`, cause);
  }
}

/** The DER of every PEM block with this label, in order; text between the blocks is skipped. */
export function pemBlocks(text: string, label: 'CERTIFICATE' | 'X509 CRL'): Buffer[] {
  const pattern = new RegExp(`-----BEGIN ${label}-----([A-Za-z0-9+/=\\s]+)-----END ${label}-----`, 'g');
  return [...text.matchAll(pattern)].map((match) => Buffer.from(match[1] as string, 'base64'));
}

/** Runs a reader over something out of `file`; its PkiErrors then name the file. */
export function inFile<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (fault) {
    if (fault instanceof PkiError) throw new PkiError(fault.code, `${file}: ${fault.message}`, fault);
    throw fault;
  }
}
