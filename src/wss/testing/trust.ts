import { readCertificate } from '../../pki/certificate.ts';
import type { TrustStore } from '../../pki/trust.ts';

/** Trusts whatever can be read: these tests are about signatures; who is trusted is tested in `pki/`. */
export const trustEverything: Pick<TrustStore, 'judge'> = {
  judge: (der) => ({ status: 'trusted', certificate: readCertificate(der), chain: [], warnings: [] }),
};
