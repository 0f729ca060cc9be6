import { randomUUID } from 'node:crypto';
import { DOCUMENTS } from '../../fixtures/documents/documents.ts';
import type { Case } from '../case.ts';
import { fourCorners, freshSlip, type MessageSpec, PARTICIPANT_SCHEME } from '../message.ts';
import { accept, refuse, type Spec } from './rows.ts';

const SBDH = 'SBDH 2.0.2 §2';
const EDELIVERY = 'eD §1.5.2; PAS4 §4.6, §4.9';

/** 0004 with some ErrorDetail. */
function other(id: string, source: string, asserts: string, spec: Spec): Case {
  return refuse(id, source, asserts, '0004', spec, { detail: true });
}

function header(id: string, asserts: string, edit: (sbd: string) => string, more: MessageSpec = {}): Case {
  return other(id, SBDH, asserts, { ...more, sbd: { edit } });
}

const scope = (type: string) => new RegExp(`<Scope><Type>${type}</Type>.*?</Scope>`, 's');
const leaf = (name: string) => new RegExp(`<${name}>[^<]*</${name}>`);
const DOCUMENT = /<Order .*<\/Order>/s;
const IDENTIFIER = leaf('InstanceIdentifier');

/** The business envelope: what must be in it, and that it agrees with the ebMS header. */
export const SBDH_CASES: readonly Case[] = [
  other('SBD-01', 'PAS4 §4.9', 'A message without payload is refused, if it is no ping.', ({ participants }) => ({
    document: null,
    header: {
      service: { value: DOCUMENTS.order.process, type: 'cenbii-procid-ubl' },
      action: `busdox-docid-qns::${DOCUMENTS.order.type}`,
      properties: fourCorners(participants.sender, participants.receiver),
    },
  })),
  other('SBD-02', SBDH, 'A document without an envelope is refused.', {
    octetsOf: (sbd) => Buffer.from(`<!-- ${randomUUID()} -->${DOCUMENT.exec(sbd)?.[0]}`),
  }),
  other('SBD-03', SBDH, 'A PDF instead of an envelope is refused.', () => ({
    payload: { content: freshSlip().content },
  })),
  other('SBD-04', SBDH, 'An empty payload is refused.', { payload: { content: Buffer.alloc(0) } }),
  header('SBD-05', 'An envelope that is not well-formed is refused.', (sbd) => sbd.replace('</BusinessScope>', '')),
  header('SBD-06', 'An envelope that ends early is refused.', (sbd) => sbd.slice(0, -200)),
  header('SBD-07', 'A document that is not well-formed is refused.', (sbd) => sbd.replace('</cac:OrderLine>', '')),
  header('SBD-08', 'An envelope with a DOCTYPE is refused.', (sbd) => `<!DOCTYPE StandardBusinessDocument>${sbd}`),
  header('SBD-09', 'An envelope in another namespace is refused.', (sbd) =>
    sbd.replace('/cefact/namespaces/StandardBusinessDocumentHeader', '/cefact/namespaces/Something'),
  ),
  header('SBD-10', 'An envelope without a header is refused.', (sbd) =>
    sbd.replace(/<StandardBusinessDocumentHeader>.*<\/StandardBusinessDocumentHeader>/s, ''),
  ),
  header('SBD-11', 'An envelope without a document is refused.', (sbd) => sbd.replace(DOCUMENT, '')),
  header('SBD-12', 'An envelope with two documents is refused.', (sbd) =>
    sbd.replace(DOCUMENT, '$&<x xmlns="urn:x"></x>'),
  ),
  header('SBD-13', 'An envelope in an envelope is refused.', (sbd) =>
    sbd.replace(DOCUMENT, '<StandardBusinessDocument></StandardBusinessDocument>'),
  ),
  header('SBD-14', 'HeaderVersion is 1.0.', (sbd) => sbd.replace('<HeaderVersion>1.0<', '<HeaderVersion>2.0<')),
  header('SBD-15', 'HeaderVersion is mandatory.', (sbd) => sbd.replace(leaf('HeaderVersion'), '')),
  header('SBD-16', 'Sender is mandatory.', (sbd) => sbd.replace(/<Sender>.*<\/Sender>/s, '')),
  header('SBD-17', 'Receiver is mandatory.', (sbd) => sbd.replace(/<Receiver>.*<\/Receiver>/s, '')),
  header('SBD-18', 'There is only one Sender.', (sbd) => sbd.replace(/<Sender>.*<\/Sender>/s, '$&$&')),
  header('SBD-19', 'There is only one Receiver.', (sbd) => sbd.replace(/<Receiver>.*<\/Receiver>/s, '$&$&')),
  header('SBD-20', 'Identifier/@Authority is iso6523-actorid-upis.', (sbd) =>
    sbd.replace(/(<Sender><Identifier Authority=")[^"]*/, '$1urn:other'),
  ),
  header('SBD-21', 'Participants have the form XXXX:value.', (sbd) =>
    sbd.replace(/(<Sender><Identifier[^>]*>)[0-9]{4}:/, '$1'),
  ),
  header('SBD-22', 'InstanceIdentifier is mandatory.', (sbd) => sbd.replace(IDENTIFIER, '')),
  header('SBD-23', 'InstanceIdentifier is not empty.', (sbd) =>
    sbd.replace(IDENTIFIER, '<InstanceIdentifier></InstanceIdentifier>'),
  ),
  header('SBD-24', 'Standard is mandatory.', (sbd) => sbd.replace(leaf('Standard'), '')),
  header('SBD-25', 'TypeVersion is mandatory.', (sbd) => sbd.replace(leaf('TypeVersion'), '')),
  header('SBD-26', 'Type is mandatory.', (sbd) => sbd.replace('<Type>Order</Type>', '')),
  header('SBD-27', 'CreationDateAndTime is mandatory.', (sbd) => sbd.replace(leaf('CreationDateAndTime'), '')),
  header('SBD-28', 'CreationDateAndTime has a time zone.', (sbd) =>
    sbd.replace(/Z<\/CreationDateAndTime>/, '</CreationDateAndTime>'),
  ),
  header('SBD-29', 'CreationDateAndTime is a date and a time.', (sbd) =>
    sbd.replace(leaf('CreationDateAndTime'), '<CreationDateAndTime>yesterday</CreationDateAndTime>'),
  ),
  header('SBD-30', 'DOCUMENTID is mandatory.', (sbd) => sbd.replace(scope('DOCUMENTID'), '')),
  header('SBD-31', 'PROCESSID is mandatory.', (sbd) => sbd.replace(scope('PROCESSID'), '')),
  header('SBD-32', 'COUNTRY_C1 is mandatory.', (sbd) => sbd.replace(scope('COUNTRY_C1'), '')),
  header('SBD-33', 'COUNTRY_C1 has two characters.', (sbd) =>
    sbd.replace('>BE</InstanceIdentifier>', '>Belgium</InstanceIdentifier>'),
  ),
  header('SBD-34', 'Keys of scopes are unique.', (sbd) => sbd.replace(scope('COUNTRY_C1'), '$&$&')),
  header('SBD-35', 'Wrappers are not nested.', (sbd) => sbd.replace('</BinaryContent>', '<x></x></BinaryContent>'), {
    document: 'pdf',
  }),
  header('SBD-36', 'BinaryContent is base64.', (sbd) => sbd.replace('</BinaryContent>', '!</BinaryContent>'), {
    document: 'pdf',
  }),
  header('SBD-37', 'BinaryContent has a mimeType.', (sbd) => sbd.replace(/ mimeType="[^"]*"/, ''), { document: 'pdf' }),
  header('SBD-38', 'TextContent has a mimeType.', (sbd) => sbd.replace(/ mimeType="[^"]*"/, ''), {
    document: 'edifact',
  }),
  header(
    'SBD-39',
    'Wrappers are not for XML.',
    (sbd) => sbd.replace(/(<TextContent[^>]*>)[^<]*/, '$1<x xmlns="urn:x"></x>'),
    {
      document: 'edifact',
    },
  ),
  other('SBD-40', 'eD §1.5.1', 'originalSender is mandatory.', ({ participants }) => ({
    header: { properties: fourCorners(participants.sender, participants.receiver).slice(1) },
  })),
  other('SBD-41', 'eD §1.5.1', 'finalRecipient is mandatory.', ({ participants }) => ({
    header: { properties: fourCorners(participants.sender, participants.receiver).slice(0, 1) },
  })),
  other('SBD-42', 'eD §1.5.1', 'MessageProperties are mandatory.', { header: { properties: null } }),
  other('SBD-43', 'PAS4 §4', 'originalSender has a type.', ({ participants }) => ({
    header: {
      properties: [
        { name: 'originalSender', value: participants.sender },
        { name: 'finalRecipient', type: PARTICIPANT_SCHEME, value: participants.receiver },
      ],
    },
  })),
  other('SBD-44', 'PAS4 §4', 'finalRecipient has a type.', ({ participants }) => ({
    header: {
      properties: [
        { name: 'originalSender', type: PARTICIPANT_SCHEME, value: participants.sender },
        { name: 'finalRecipient', value: participants.receiver },
      ],
    },
  })),
  refuse('SBD-45', 'eD §1.5.1', 'originalSender is there once.', '0003 0004', ({ participants }) => {
    const [sender, receiver] = fourCorners(participants.sender, participants.receiver);
    return { header: { properties: [sender, receiver, sender] } };
  }),
  refuse('SBD-46', 'eD §1.5.1', 'finalRecipient is there once.', '0003 0004', ({ participants }) => {
    const [sender, receiver] = fourCorners(participants.sender, participants.receiver);
    return { header: { properties: [sender, receiver, receiver] } };
  }),
  other('SBD-50', EDELIVERY, 'SBDH Sender is originalSender.', { sbd: { sender: '0208:0111111111' } }),
  other('SBD-51', EDELIVERY, 'SBDH Receiver is finalRecipient.', { sbd: { receiver: '0208:0111111111' } }),
  other('SBD-52', EDELIVERY, 'DOCUMENTID is the Action, case-sensitive.', {
    sbd: { type: DOCUMENTS.order.type.replace('Order##', 'order##') },
  }),
  other('SBD-53', EDELIVERY, 'PROCESSID is the Service.', {
    sbd: { process: 'urn:fdc:peppol.eu:poacc:bis:ordering:4' },
  }),
  other('SBD-54', EDELIVERY, 'The scheme of PROCESSID is Service/@type.', {
    header: { service: { value: DOCUMENTS.order.process, type: 'oioubl-procid-ubl' } },
  }),
  accept('SBD-60', 'PFUOI policy 1', 'Participants are compared without regard to case.', ({ participants }) => ({
    header: { properties: fourCorners('9930:de123456789', participants.receiver) },
    sbd: { sender: '9930:DE123456789' },
  })),
  accept('SBD-61', SBDH, 'Scopes of other keys are allowed, empty values too.', {
    sbd: {
      scopes: [
        ['MLS_TYPE', 'FAILURE_ONLY'],
        ['urn:example:batch', ''],
      ],
    },
  }),
  accept('SBD-62', SBDH, 'DOCUMENTID and PROCESSID without Identifier mean the usual schemes.', {
    sbd: { edit: (sbd) => sbd.replace(/<Identifier>(?:busdox-docid-qns|cenbii-procid-ubl)<\/Identifier>/g, '') },
  }),
  accept('SBD-63', SBDH, 'COUNTRY_C1 may be 1A.', { sbd: { country: '1A' } }),
  accept('SBD-64', SBDH, 'CreationDateAndTime may have an offset and fractions.', {
    sbd: { created: '2026-11-30T11:58:00.1234567+02:00' },
  }),
  accept('SBD-65', SBDH, 'The SBDH namespace may have a prefix.', { sbd: { prefix: 'sh' } }),
  accept('SBD-66', SBDH, 'MLS_TO and MLS_TYPE are allowed.', {
    sbd: {
      edit: (sbd) =>
        sbd.replace(
          '</BusinessScope>',
          '<Scope><Type>MLS_TO</Type><InstanceIdentifier>0242:000001</InstanceIdentifier>' +
            '<Identifier>iso6523-actorid-upis</Identifier></Scope>' +
            '<Scope><Type>MLS_TYPE</Type><InstanceIdentifier>ALWAYS_SEND</InstanceIdentifier></Scope></BusinessScope>',
        ),
    },
  }),
  accept('SBD-67', SBDH, 'Media types are compared without regard to case.', {
    document: 'edifact',
    sbd: { edit: (sbd) => sbd.replace(/ mimeType="[^"]*"/, ' mimeType="application/edifact"') },
  }),
  accept('SBD-68', SBDH, 'text/xml and application/xml are the same.', { payload: { mimeType: 'text/xml' } }),
  header('SBD-70', 'Receiver/Identifier/@Authority is iso6523-actorid-upis.', (sbd) =>
    sbd.replace(/(<Receiver><Identifier Authority=")[^"]*/, '$1urn:other'),
  ),
  header('SBD-71', 'Identifier/@Authority is mandatory.', (sbd) => sbd.replace(/(<Sender><Identifier) [^>]*/, '$1')),
  header('SBD-72', 'A Scope has a Type.', (sbd) =>
    sbd.replace('</BusinessScope>', '<Scope><InstanceIdentifier>x</InstanceIdentifier></Scope></BusinessScope>'),
  ),
  header('SBD-73', 'A Scope has an InstanceIdentifier.', (sbd) =>
    sbd.replace('</BusinessScope>', '<Scope><Type>urn:example:batch</Type></Scope></BusinessScope>'),
  ),
  header('SBD-74', 'BusinessScope is mandatory.', (sbd) => sbd.replace(/<BusinessScope>.*<\/BusinessScope>/s, '')),
];
