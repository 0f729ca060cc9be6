import { caExtensions, type Keys, leafExtensions, type Made, makeCertificate, newKeys } from '../../../certs/maker.ts';
import { type Certificate, readCertificate } from '../certificate.ts';
import { pemBlocks } from '../files.ts';

/** A PKI of its own: root, CA and leaf with the dates and addresses that a test needs. */
export interface SmallPki {
  readonly root: Made;
  readonly ca: Made;
  readonly leaf: Made;
}

export interface SmallPkiOptions {
  readonly keys: readonly [Keys, Keys, Keys];
  readonly crlUrl?: string;
  readonly rootCrlUrl?: string;
  readonly ocspUrl?: string;
  readonly leafUntil?: string;
  readonly caUntil?: string;
}

export function threeKeys(): [Keys, Keys, Keys] {
  return [newKeys(2048), newKeys(2048), newKeys(2048)];
}

export function makeSmallPki(name: string, o: SmallPkiOptions): SmallPki {
  const [rootKeys, caKeys, leafKeys] = o.keys;
  const common = { organisation: 'Test', unit: 'Bench', notBefore: '2020-01-01', notAfter: '2046-01-01' };
  const root = makeCertificate({
    ...common,
    name: `${name} root`,
    keys: rootKeys,
    commonNames: [`${name} ROOT`],
    issuer: null,
    extensions: caExtensions(1),
  });
  const ca = makeCertificate({
    ...common,
    name: `${name} ca`,
    keys: caKeys,
    commonNames: [`${name} CA`],
    issuer: root,
    notAfter: o.caUntil ?? common.notAfter,
    extensions: caExtensions(0, o.rootCrlUrl),
  });
  const leaf = makeCertificate({
    ...common,
    name: `${name} leaf`,
    keys: leafKeys,
    commonNames: ['POP000001'],
    issuer: ca,
    notAfter: o.leafUntil ?? common.notAfter,
    extensions: leafExtensions({
      keyUsage: ['digitalSignature'],
      crlUrl: o.crlUrl ?? 'http://crl.test/ca.crl',
      ...(o.ocspUrl === undefined ? {} : { ocspUrl: o.ocspUrl }),
    }),
  });
  return { root, ca, leaf };
}

export function certificateOf(made: Made): Certificate {
  return readCertificate(pemBlocks(made.pem, 'CERTIFICATE')[0] as Buffer);
}
