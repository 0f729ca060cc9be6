/**
 * Makes the test PKI anew: `npx tsx certs/make.ts [DIRECTORY]`. Keys are new each time, serial numbers and names stay.
 * TEST ONLY: the private keys are public.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CAS, CRL_VALIDITY, CRLS, LEAF_VALIDITY, LEAVES, PASSWORD, PKCS12 } from './inventory.ts';
import {
  caExtensions,
  leafExtensions,
  type Made,
  makeCertificate,
  makeCrl,
  makePkcs12,
  newKeys,
  serialOf,
} from './maker.ts';

const directory = process.argv[2] ?? import.meta.dirname;
const made = new Map<string, Made>();

function write(file: string, content: string | Buffer): void {
  writeFileSync(join(directory, file), content);
}

function lookUp(name: string): Made {
  const found = made.get(name);
  if (found === undefined) throw new Error(`${name} is used before it is made`);
  return found;
}

function keep(name: string, certificate: Made): void {
  made.set(name, certificate);
  write(`${name}.crt`, certificate.pem);
  write(`${name}.key`, certificate.keyPem);
}

for (const { name, commonName, issuer, notBefore, notAfter } of CAS) {
  const root = issuer === name;
  const ca = makeCertificate({
    name,
    keys: newKeys(3072),
    commonNames: [commonName],
    organisation: 'Quittance Test PKI',
    unit: 'FOR TEST ONLY',
    issuer: root ? null : lookUp(issuer),
    notBefore,
    notAfter,
    extensions: caExtensions(root ? 1 : 0),
  });
  keep(name, ca);
}

for (const row of LEAVES) {
  const leaf = makeCertificate({
    ...LEAF_VALIDITY,
    ...row,
    keys: row.sameKeyAs === undefined ? newKeys(row.bits ?? 2048) : lookUp(row.sameKeyAs).keys,
    organisation: 'Quittance Test Organisation',
    unit: row.unit ?? 'PEPPOL TEST AP',
    issuer: row.issuer === row.name ? null : lookUp(row.issuer),
    extensions: leafExtensions({ ...row, crlUrl: `http://crl.quittance.test/${row.issuer}.crl` }),
  });
  keep(row.name, leaf);
}

for (const { ca, revoked } of CRLS) {
  write(`${ca}.crl`, makeCrl({ ...CRL_VALIDITY, issuer: lookUp(ca), revoked: revoked.map(serialOf) }));
}
for (const { name, algorithm } of PKCS12) {
  write(`${name}.p12`, makePkcs12(lookUp(name), [lookUp('ap-ca')], PASSWORD, algorithm));
}
write('trust.pem', lookUp('ap-ca').pem + lookUp('root').pem);
