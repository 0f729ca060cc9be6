import { PARTY_TYPE } from '../../fixtures/sender/messaging.ts';
import type { Case } from '../case.ts';
import type { MessageSpec } from '../message.ts';
import { refuse, type Spec } from './rows.ts';

const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';

const reference = (uri: string) =>
  `<ds:Reference URI="${uri}"><ds:Transforms><ds:Transform Algorithm="${EXCLUSIVE}"></ds:Transform></ds:Transforms>` +
  '<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod>' +
  `<ds:DigestValue>${Buffer.alloc(32).toString('base64')}</ds:DigestValue></ds:Reference>`;

/** A validly signed SignedInfo with further references. */
const withReference = (uri: string, count = 1): MessageSpec => ({
  editSignedInfo: (xml) => xml.replace('</ds:SignedInfo>', `${reference(uri).repeat(count)}</ds:SignedInfo>`),
});

const CERTIFICATES = [
  ['expired', 'that has expired'],
  ['not-yet-valid', 'that is not valid yet'],
  ['revoked', 'that is revoked'],
  ['other', 'of a foreign CA'],
  ['smp', 'of an SMP, from the same root'],
  ['root-issued', 'issued by the root itself'],
  ['self-signed', 'that signed itself'],
  ['weak', 'with an RSA key of 1024 bits'],
  ['sha1', 'signed with SHA-1'],
  ['critical-extension', 'with an unknown critical extension'],
  ['no-digital-signature', 'that may not sign'],
  ['server-auth', 'for servers only'],
  ['ca-true', 'that is a CA'],
  ['two-cn', 'with two CNs'],
] as const;

function authentication(id: string, source: string, asserts: string, spec: Spec): Case {
  return refuse(`NEG-AUTH-${id}`, source, asserts, '0101', spec);
}

const other = (c: string) => (c === 'A' ? 'B' : 'A');

/** Signed by somebody else, or changed since. */
export const AUTHENTICATION_CASES: readonly Case[] = [
  ...CERTIFICATES.map(([name, words], index) =>
    authentication(String(index + 1).padStart(2, '0'), 'PAS4 §4.7', `A certificate ${words} proves nobody.`, {
      as: `bad:${name}`,
    }),
  ),
  authentication('20', 'XMLDSig §3.2.2', 'A token of another access point is refused.', ({ sender, sender2 }) => ({
    signature: {
      signer: { certificate: (sender2 ?? sender).certificate, privateKey: sender.privateKey },
    },
    ...(sender2 === null
      ? { editEnvelope: (xml: string) => xml.replace(/(<ds:SignatureValue>.{9})(.)/s, (_, a, c) => a + other(c)) }
      : {}),
  })),
  authentication('21', 'XMLDSig §3.2.2', 'A changed SignatureValue is refused.', {
    editEnvelope: (xml) => xml.replace(/(<ds:SignatureValue>)(.)/, (_, tag, c) => tag + other(c)),
  }),
  authentication('22', 'XMLDSig §4.3', 'A SignatureValue that is no base64 is refused.', {
    editEnvelope: (xml) => xml.replace(/(<ds:SignatureValue>)./, '$1!'),
  }),
  authentication('23', 'XMLDSig §3.2.2', 'A changed DigestValue is refused.', {
    editEnvelope: (xml) => xml.replace(/(<ds:DigestValue>)(.)/, (_, tag, c) => tag + other(c)),
  }),
  authentication('24', 'XMLDSig §3.2.1', 'An eb:Messaging that was changed is refused.', {
    editEnvelope: (xml) => xml.replace('</eb:ConversationId>', 'x</eb:ConversationId>'),
  }),
  authentication('25', 'XMLDSig §3.2.1', 'A SOAP Body that was changed is refused.', {
    editEnvelope: (xml) => xml.replace('</S12:Body>', ' </S12:Body>'),
  }),
  authentication('26', 'XMLDSig §3.2.1', 'A signed wsu:Timestamp that was changed is refused.', {
    security: ['timestamp', 'receiverToken', 'encryptedKey', 'encryptedData', 'signerToken', 'signature'],
    signature: { order: ['messaging', 'body', 'timestamp', 'attachments'] },
    wsuTimestamp: { created: '2026-11-30T10:00:00Z', expires: '2099-11-30T10:05:00Z' },
    editEnvelope: (xml) => xml.replace('2099-', '2098-'),
  }),
  authentication('27', 'XMLDSig §4.4.3', 'A reference that leads nowhere is refused.', withReference('#nowhere')),
  authentication('28', 'SwA §5.4', 'A payload that was changed before it was encrypted is refused.', {
    editPlain: (octets) => Buffer.from(octets).fill(0, 30, 31).fill(1, 31, 32),
  }),
  authentication('29', 'SwA §5.4.2', 'Uncompressed XML that was changed is refused.', {
    payload: { compress: false },
    editPlain: (octets) => Buffer.from(octets.toString().replace('EUR', 'USD')),
  }),
  authentication('30', 'SwA §5.4.2', 'Uncompressed XML with a DOCTYPE in front of it is refused.', {
    payload: { compress: false },
    editPlain: (octets) => Buffer.concat([Buffer.from('<!DOCTYPE StandardBusinessDocument>'), octets]),
  }),
];

function decryption(id: string, asserts: string, spec: Spec): Case {
  return refuse(`NEG-DEC-${id}`, 'XMLENC 1.1 §5.2.4, §5.5', asserts, '0102', spec);
}

/** Cannot be decrypted. */
export const DECRYPTION_CASES: readonly Case[] = [
  decryption('01', 'A changed ciphertext is refused.', { editCipher: (octets) => Buffer.from(octets).fill(0, 20, 24) }),
  decryption('02', 'A changed tag is refused.', {
    editCipher: (octets) => Buffer.concat([octets.subarray(0, -4), Buffer.alloc(4)]),
  }),
  decryption('03', 'A ciphertext shorter than IV and tag is refused.', {
    editCipher: (octets) => octets.subarray(0, 20),
  }),
  decryption('04', 'An empty part is refused.', { editCipher: () => Buffer.alloc(0) }),
  decryption('05', 'A damaged wrapped key is refused.', {
    editEnvelope: (xml) => xml.replace(/(<xenc:CipherValue>.{40})(.)/s, (_, head, c) => head + other(c)),
  }),
  decryption('06', 'A content key of 24 octets is refused.', { encryption: { wrapped: Buffer.alloc(24, 7) } }),
  decryption('07', 'Another content key is refused.', { encryption: { wrapped: Buffer.alloc(16, 7) } }),
  decryption('08', 'A message that is encrypted for another access point is refused.', ({ sender, receiver }) => ({
    encryption: { recipient: sender.certificate },
    header: { to: [{ value: /^CN=(.*)$/m.exec(receiver.subject)?.[1] ?? '', type: PARTY_TYPE }] },
  })),
  {
    id: 'NEG-DEC-09',
    source: 'facts §1.7',
    asserts: 'A damaged key, a wrong key and a damaged tag are answered in the same words: there is no oracle.',
    basis: 'reading',
    async run(trial) {
      const specs: readonly MessageSpec[] = [
        { encryption: { wrapped: Buffer.alloc(16, 7) } },
        { encryption: { wrapped: Buffer.alloc(24, 7) } },
        { editCipher: (octets) => Buffer.concat([octets.subarray(0, -4), Buffer.alloc(4)]) },
        { editEnvelope: (xml) => xml.replace(/(<xenc:CipherValue>.{40})(.)/s, (_, head, c) => head + other(c)) },
      ];
      const words = new Set<string>();
      for (const spec of specs) {
        const message = trial.make(spec);
        const [error] = trial.error(await trial.send(message), message, { codes: [] }).errors;
        words.add(JSON.stringify([error?.code, error?.description, error?.detail]));
      }
      if (words.size > 1) trial.fail('form', `${words.size} different answers: ${[...words].join('; ').slice(0, 400)}`);
    },
  },
];
