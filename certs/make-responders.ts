/**
 * Makes the OCSP responders of the test PKI with the CA keys that are there: `npx tsx certs/make-responders.ts [DIRECTORY]`.
 * Every other file stays as it is. TEST ONLY: the private keys are public.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LEAF_VALIDITY, RESPONDERS } from './inventory.ts';
import { makeCertificate, newKeys, readMade, responderExtensions } from './maker.ts';

const directory = process.argv[2] ?? import.meta.dirname;
const read = (file: string) => readFileSync(join(directory, file), 'utf8');

for (const { name, commonName, issuer } of RESPONDERS) {
  const responder = makeCertificate({
    ...LEAF_VALIDITY,
    name,
    keys: newKeys(2048),
    commonNames: [commonName],
    organisation: 'Quittance Test PKI',
    unit: 'FOR TEST ONLY',
    issuer: readMade(read(`${issuer}.crt`), read(`${issuer}.key`)),
    extensions: responderExtensions(),
  });
  writeFileSync(join(directory, `${name}.crt`), responder.pem);
  writeFileSync(join(directory, `${name}.key`), responder.keyPem);
}
