/** What `make.ts` writes and `inventory.test.ts` checks: one row a certificate. Everything here is FOR TEST ONLY. */

/** Bits of keyUsage in the two forms that real access-point certificates have (Symantec G2, DigiCert G3). */
const USAGE = {
  agreement: ['digitalSignature', 'keyEncipherment', 'keyAgreement'],
  data: ['digitalSignature', 'keyEncipherment', 'dataEncipherment'],
  none: ['keyEncipherment', 'dataEncipherment'],
} as const;

export interface CaRow {
  readonly name: string;
  readonly commonName: string;
  /** The row that issued it; its own name for a root. */
  readonly issuer: string;
  readonly notBefore: string;
  readonly notAfter: string;
  readonly note: string;
}

export interface LeafRow {
  readonly name: string;
  readonly commonNames: readonly string[];
  /** A row of `CAS`, or the leaf's own name when it signs itself. */
  readonly issuer: string;
  readonly keyUsage: readonly string[];
  readonly note: string;
  /** Why the trust store refuses it; absent for the good ones. */
  readonly refused?: string;
  /** Take over the key of this row. */
  readonly sameKeyAs?: string;
  readonly notBefore?: string;
  readonly notAfter?: string;
  readonly bits?: number;
  readonly ca?: boolean;
  readonly unknownCritical?: boolean;
  readonly extKeyUsage?: 'serverAuth';
  readonly sha1?: boolean;
  readonly unit?: string;
}

/** CAs are younger and shorter-lived than some leaves, as Peppol's are: validity periods need not nest. */
export const CAS: readonly CaRow[] = [
  {
    name: 'root',
    commonName: 'QUITTANCE ROOT TEST CA - G1',
    issuer: 'root',
    notBefore: '2020-01-01',
    notAfter: '2049-01-01',
    note: 'root of our test PKI',
  },
  {
    name: 'ap-ca',
    commonName: 'QUITTANCE ACCESS POINT TEST CA - G1',
    issuer: 'root',
    notBefore: '2021-01-01',
    notAfter: '2046-06-01',
    note: 'issues the access points',
  },
  {
    name: 'smp-ca',
    commonName: 'QUITTANCE SERVICE METADATA PUBLISHER TEST CA - G1',
    issuer: 'root',
    notBefore: '2021-01-01',
    notAfter: '2046-06-01',
    note: 'same root, but not for access points',
  },
  {
    name: 'other-root',
    commonName: 'FOREIGN ROOT TEST CA',
    issuer: 'other-root',
    notBefore: '2020-01-01',
    notAfter: '2049-01-01',
    note: 'root of a foreign PKI',
  },
  {
    name: 'other-ca',
    commonName: 'FOREIGN ACCESS POINT TEST CA',
    issuer: 'other-root',
    notBefore: '2021-01-01',
    notAfter: '2046-06-01',
    note: 'issuing CA of the foreign PKI',
  },
];

const good = { issuer: 'ap-ca', keyUsage: USAGE.data } as const;
const bad = { ...good, commonNames: ['POP000001'] } as const;

export const LEAVES: readonly LeafRow[] = [
  { ...good, name: 'sender', commonNames: ['POP000001'], note: 'the sending access point' },
  { ...good, name: 'sender-2', commonNames: ['POP000003'], keyUsage: USAGE.agreement, note: 'another sender' },
  { ...good, name: 'sender-renewed', commonNames: ['POP000001'], note: 'the sender with a new key' },
  { ...good, name: 'receiver', commonNames: ['POP000002'], keyUsage: USAGE.agreement, note: 'us' },
  {
    ...good,
    name: 'receiver-renewed',
    commonNames: ['POP000002'],
    sameKeyAs: 'receiver',
    note: 'us, a new certificate on the same key',
  },
  { ...good, name: 'receiver-next', commonNames: ['POP000002'], note: 'us, a new key: for roll-over' },
  { ...bad, name: 'expired', notAfter: '2022-01-01', refused: 'expired', note: 'ended in 2022' },
  {
    ...bad,
    name: 'not-yet-valid',
    notBefore: '2048-01-01',
    notAfter: '2049-01-01',
    refused: 'not-yet-valid',
    note: 'begins in 2048',
  },
  { ...bad, name: 'revoked', refused: 'revoked', note: 'listed in ap-ca.crl' },
  { ...bad, name: 'other', issuer: 'other-ca', refused: 'unknown-issuer', note: 'issued by the foreign CA' },
  { ...bad, name: 'smp', issuer: 'smp-ca', unit: 'PEPPOL TEST SMP', refused: 'unknown-issuer', note: 'an SMP' },
  { ...bad, name: 'root-issued', issuer: 'root', refused: 'issued-by-root', note: 'issued by the root itself' },
  { ...bad, name: 'self-signed', issuer: 'self-signed', refused: 'self-signed', note: 'its own issuer' },
  { ...bad, name: 'weak', bits: 1024, refused: 'weak-key', note: 'RSA 1024' },
  { ...bad, name: 'sha1', sha1: true, refused: 'weak-signature', note: 'signed with SHA-1' },
  {
    ...bad,
    name: 'critical-extension',
    unknownCritical: true,
    refused: 'critical-extension',
    note: 'an unknown critical extension',
  },
  {
    ...bad,
    name: 'no-digital-signature',
    keyUsage: USAGE.none,
    refused: 'key-usage',
    note: 'keyUsage without digitalSignature',
  },
  {
    ...bad,
    name: 'server-auth',
    extKeyUsage: 'serverAuth',
    refused: 'extended-key-usage',
    note: 'extKeyUsage serverAuth only',
  },
  { ...bad, name: 'ca-true', ca: true, refused: 'ca-certificate', note: 'basicConstraints CA:TRUE' },
  {
    ...bad,
    name: 'two-cn',
    commonNames: ['POP000001', 'POP000099'],
    refused: 'common-name',
    note: 'two CNs in the subject',
  },
  { ...bad, name: 'bad-seat', commonNames: ['ap.example.org'], refused: 'seat-id', note: 'CN is not a seat id' },
];

/** OCSP responders that their issuer has delegated to (RFC 6960 §4.2.2.2). Made by `make-responders.ts`, which changes nothing else. */
export const RESPONDERS: readonly {
  readonly name: string;
  readonly commonName: string;
  readonly issuer: string;
  readonly note: string;
}[] = [
  { name: 'ocsp', commonName: 'QUITTANCE OCSP TEST RESPONDER', issuer: 'ap-ca', note: 'OCSP responder of the CA' },
  { name: 'other-ocsp', commonName: 'FOREIGN OCSP TEST RESPONDER', issuer: 'other-ca', note: 'of the foreign CA' },
];

/** Validity of a leaf whose row says nothing else. */
export const LEAF_VALIDITY = { notBefore: '2020-01-01', notAfter: '2047-01-01' } as const;

/** `.crl` files: the CA, and the leaves that are revoked. */
export const CRLS: readonly { readonly ca: string; readonly revoked: readonly string[] }[] = [
  { ca: 'ap-ca', revoked: ['revoked'] },
  { ca: 'root', revoked: [] },
];
export const CRL_VALIDITY = { thisUpdate: '2024-01-01', nextUpdate: '2046-01-01' } as const;

/** PKCS#12 files, password `test`: one in today's form, one in the old form that many tools still write. */
export const PKCS12: readonly { readonly name: string; readonly algorithm: 'aes256' | '3des' }[] = [
  { name: 'receiver', algorithm: 'aes256' },
  { name: 'sender', algorithm: '3des' },
];
export const PASSWORD = 'test';
