import { PARTY_TYPE } from '../../fixtures/sender/messaging.ts';
import type { HeaderOptions } from '../../fixtures/sender/options.ts';
import type { Case } from '../case.ts';
import { accept, refuse } from './rows.ts';

const CORE = 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/';
const AGREEMENT = 'urn:fdc:peppol.eu:2017:agreements:tia:ap_provider';

function value(id: string, source: string, asserts: string, codes: string, header: HeaderOptions): Case {
  return refuse(id, source, asserts, codes, { header });
}

/** Values of Peppol's P-Mode, one by one. */
export const PMODE_CASES: readonly Case[] = [
  accept('PM-01', 'PAS4 §4', 'All values as Peppol has them: a receipt.', { document: 'invoice' }),
  value('PM-02', 'PAS4 §4.3; Core §5.2.2.7', 'Another AgreementRef is not recognised.', '0001', {
    agreement: { value: 'urn:example:agreement' },
  }),
  value('PM-03', 'PAS4 §4.3', 'AgreementRef must be there.', '0001 0010', { agreement: null }),
  value('PM-04', 'PAS4 §4.3', 'AgreementRef must have no type.', '0010', {
    agreement: { value: AGREEMENT, type: 'urn:example:type' },
  }),
  value('PM-05', 'PAS4 §4.3', 'AgreementRef/@pmode must not be used.', '0010', {
    agreement: { value: AGREEMENT, pmode: 'pm-1' },
  }),
  refuse('PM-06', 'PAS4 §4.4', 'The type of From/PartyId is Peppol’s.', '0010', ({ sender }) => ({
    header: { from: [{ value: commonName(sender.certificate.subject), type: 'urn:example:party' }] },
  })),
  refuse('PM-07', 'PAS4 §4.4', 'The type of To/PartyId is Peppol’s.', '0010', ({ receiver }) => ({
    header: { to: [{ value: commonName(receiver.subject), type: 'urn:example:party' }] },
  })),
  value('PM-08', 'PAS4 §4.4', 'The sender’s role is the initiator.', '0010', { fromRole: `${CORE}defaultRole` }),
  value('PM-09', 'PAS4 §4.4', 'The receiver’s role is the responder.', '0010', { toRole: `${CORE}initiator` }),
  value('PM-10', 'PAS4 §4.1', 'RefToMessageId has no place in One-Way.', '0010', {
    refToMessageId: 'earlier@receiver.example',
  }),
  value('PM-11', 'PAS4 §4.8', 'The default MPC is the only one.', '0010', { mpc: 'urn:example:mpc' }),
  accept('PM-12', 'PAS4 §4.8', 'The default MPC may be written out.', { header: { mpc: `${CORE}defaultMPC` } }),
  value('PM-13', 'PAS4 §4.4', 'To must be us.', '0010', { to: [{ value: 'POP999999', type: PARTY_TYPE }] }),
  refuse('PM-14', 'eD §1.4.4.1', 'From has exactly one PartyId.', '0003 0009', ({ sender }) => ({
    header: {
      from: [
        { value: commonName(sender.certificate.subject), type: PARTY_TYPE },
        { value: 'POP000099', type: PARTY_TYPE },
      ],
    },
  })),
  refuse(
    'PM-15',
    'Core §5.2.2.4',
    'A PartyId without type that is no URI is inconsistent.',
    '0003 0010',
    ({ sender }) => ({
      header: { from: [{ value: commonName(sender.certificate.subject) }] },
    }),
  ),
  value('PM-16', 'Core §5.2.2.8', 'A Service without type that is no URI is inconsistent.', '0003', {
    service: { value: 'ordering' },
  }),
  value('PM-17', 'PAS4 §4.6', 'Service has the process scheme as its type.', '0010 0004', {
    service: { value: 'urn:fdc:peppol.eu:poacc:bis:ordering:3' },
  }),
  value('PM-18', 'Core §5.2.2.9', 'The test action requires the test service.', '0003', { action: `${CORE}test` }),
  value('PM-19', 'PAS4 §4.4; eD §1.5.3', 'From must be the CN of the signing certificate.', '0101', {
    from: [{ value: 'POP000099', type: PARTY_TYPE }],
  }),
  accept('PM-20', 'Core §5.2.2.10', 'ConversationId may be empty.', { header: { conversationId: '' } }),
  accept(
    'PM-21',
    'Core §5.2.2.7',
    'White space around AgreementRef says nothing.',
    {
      header: { agreement: { value: `\n  ${AGREEMENT}\n` } },
    },
    { basis: 'reading' },
  ),
];

/** The signing key is named by a BinarySecurityToken of type X509v3, and its CN is a seat id. */
export const TOKEN_CASES: readonly Case[] = [
  ...(
    [
      ['issuer-serial', 'issuer and serial number'],
      ['key-id', 'subject key identifier'],
      ['thumbprint', 'thumbprint'],
      ['x509-certificate', 'X509Data'],
      ['key-value', 'KeyValue'],
      ['key-name', 'KeyName'],
      ['pki-path', 'a token of type X509PKIPathv1'],
      ['embedded', 'an embedded token'],
      ['empty', 'an empty KeyInfo'],
      ['none', 'no KeyInfo'],
    ] as const
  ).map(([keyForm, words], index) =>
    refuse(
      `BST-${String(index + 1).padStart(2, '0')}`,
      'PAS4 §4.7',
      `The signing key must be named by a BinarySecurityToken; here by ${words}.`,
      '0103 0101',
      { signature: { keyForm } },
    ),
  ),
  refuse('BST-11', 'PAS4 §4.7', 'BinarySecurityToken/@ValueType must be X509v3.', '0103 0101', {
    signature: { tokenValueType: 'urn:example:token' },
  }),
  refuse('BST-12', 'PAS4 §4.7', 'KeyInfo must lead to a token in the same Security.', '0103 0101', {
    security: ['receiverToken', 'encryptedKey', 'encryptedData', 'signature'],
  }),
  refuse('BST-13', 'PFUOI; certificate policy', 'The CN of the signer must be a seat id.', '0101', {
    as: 'bad:bad-seat',
  }),
];

/** The CN of a subject as node:crypto writes it. */
function commonName(subject: string): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? '';
}
