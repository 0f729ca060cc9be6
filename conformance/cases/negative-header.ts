import { PARTY_TYPE } from '../../fixtures/sender/messaging.ts';
import type { Case } from '../case.ts';
import { freshSlip, type MessageSpec } from '../message.ts';
import { refuse } from './rows.ts';

/** Nothing can be echoed that is not known. */
const NO_ID = { echo: 'none' } as const;

/** Known or not, by the product's own reading. */
const ANY_ID = { echo: 'any' } as const;

function structure(
  id: string,
  asserts: string,
  spec: MessageSpec,
  o: {
    readonly echo?: 'message' | 'none' | 'any';
    readonly codes?: string;
    readonly source?: string;
    readonly basis?: Case['basis'];
  } = {},
): Case {
  const { codes = '0009', source = 'Core §5.2, XSD', ...rest } = o;
  return refuse(`NEG-HDR-${id}`, source, asserts, codes, spec, rest);
}

const messaging = (edit: (xml: string) => string): MessageSpec => ({ editMessaging: edit });

const USER = /<eb:UserMessage>.*<\/eb:UserMessage>/s;

/** What breaks SOAP or the schema of the ebMS header; all of it signed. */
export const HEADER_CASES: readonly Case[] = [
  structure(
    '01',
    'A SOAP 1.1 envelope is refused.',
    {
      editEnvelope: (e) =>
        e.replaceAll('http://www.w3.org/2003/05/soap-envelope', 'http://schemas.xmlsoap.org/soap/envelope/'),
    },
    { ...ANY_ID, source: 'AS4 §2.1' },
  ),
  structure(
    '02',
    'Two SOAP Bodies are refused.',
    {
      editEnvelope: (e) => e.replace('</S12:Envelope>', '<S12:Body></S12:Body></S12:Envelope>'),
    },
    ANY_ID,
  ),
  structure(
    '03',
    'A payload in the SOAP Body is refused.',
    { body: '<p xmlns="urn:example:payload">42</p>' },
    {
      source: 'PAS4 §4.10',
    },
  ),
  structure(
    '04',
    'A header that must be understood and is not is refused.',
    {
      headerOrder: [
        { raw: '<t:routing xmlns:t="urn:example:routing" S12:mustUnderstand="true"></t:routing>' },
        'messaging',
        'security',
      ],
    },
    { source: 'SOAP 1.2 §5.2.3' },
  ),
  structure(
    '05',
    'An envelope without eb:Messaging is refused.',
    {
      headerOrder: ['security'],
      signature: { order: ['body', 'attachments'] },
    },
    NO_ID,
  ),
  structure(
    '06',
    'Two eb:Messaging are refused.',
    {
      editEnvelope: (e) =>
        e.replace(
          '<eb:Messaging',
          `${/<eb:Messaging.*<\/eb:Messaging>/s.exec(e)?.[0].replace(/wsu:Id="[^"]*"/, 'wsu:Id="other"')}<eb:Messaging`,
        ),
    },
    ANY_ID,
  ),
  structure(
    '07',
    'An empty eb:Messaging is refused.',
    messaging((x) => x.replace(USER, '')),
    NO_ID,
  ),
  structure(
    '08',
    'Two eb:UserMessage are refused.',
    messaging((x) => x.replace(USER, '$&$&')),
    {
      ...ANY_ID,
      source: 'eD §1.4.2.2',
    },
  ),
  structure(
    '09',
    'PartyInfo behind CollaborationInfo is refused.',
    messaging((x) =>
      x.replace(/(<eb:PartyInfo>.*<\/eb:PartyInfo>)(<eb:CollaborationInfo>.*<\/eb:CollaborationInfo>)/s, '$2$1'),
    ),
  ),
  structure(
    '10',
    'An element that the schema does not know is refused.',
    messaging((x) => x.replace('</eb:MessageInfo>', '<eb:Priority>high</eb:Priority></eb:MessageInfo>')),
  ),
  structure(
    '11',
    'An attribute that the schema does not know is refused.',
    messaging((x) => x.replace('<eb:Role>', '<eb:Role kind="x">')),
  ),
  structure(
    '12',
    'Role is mandatory.',
    messaging((x) => x.replace(/<eb:Role>[^<]*<\/eb:Role>/, '')),
  ),
  structure('13', 'PartyId is not empty.', { header: { from: [{ value: '', type: PARTY_TYPE }] } }),
  structure(
    '14',
    'Property/@name is mandatory.',
    messaging((x) => x.replace('<eb:Property name="MimeType"', '<eb:Property')),
  ),
  structure(
    '15',
    'ConversationId is mandatory.',
    messaging((x) => x.replace(/<eb:ConversationId>[^<]*<\/eb:ConversationId>/, '')),
  ),
  structure(
    '16',
    'Service is mandatory.',
    messaging((x) => x.replace(/<eb:Service [^>]*>[^<]*<\/eb:Service>/, '')),
  ),
  structure(
    '17',
    'Action is mandatory.',
    messaging((x) => x.replace(/<eb:Action>[^<]*<\/eb:Action>/, '')),
  ),
  structure(
    '18',
    'Timestamp is mandatory.',
    messaging((x) => x.replace(/<eb:Timestamp>[^<]*<\/eb:Timestamp>/, '')),
  ),
  structure('19', 'A Timestamp that does not exist is refused.', { header: { timestamp: '2026-02-30T10:00:00Z' } }),
  structure('20', 'A Timestamp that is no xsd:dateTime is refused.', { header: { timestamp: '30.11.2026 10:00' } }),
  structure(
    '21',
    'MessageId is mandatory.',
    messaging((x) => x.replace(/<eb:MessageId>.*?<\/eb:MessageId>/, '')),
    NO_ID,
  ),
  structure('22', 'MessageId is not empty.', { header: { messageId: '' } }, NO_ID),
  structure(
    '23',
    'A MessageId of 300 characters is refused and not echoed.',
    { header: { messageId: 'x'.repeat(300) } },
    { ...NO_ID, basis: 'reading', source: 'architecture §5' },
  ),
  structure(
    '24',
    'A MessageId with a line break is refused and not echoed.',
    {
      header: { messageId: 'one\ntwo@sender.example' },
    },
    NO_ID,
  ),
  structure(
    '25',
    'PartInfo without href means the SOAP Body, which must be empty.',
    { payload: { href: null } },
    {
      source: 'Core §5.2.2.13',
    },
  ),
  structure(
    '26',
    'PartInfo with a fragment means an element of the envelope.',
    messaging((x) => x.replace(/href="cid:[^"]*"/, 'href="#Body"')),
    { source: 'Core §5.2.2.13; eD §1.4.2.3' },
  ),
  structure(
    '27',
    'Two PartInfo with one href are refused.',
    messaging((x) => x.replace(/<eb:PartInfo .*<\/eb:PartInfo>/s, '$&$&')),
    { codes: '0003 0009', source: 'Core §5.2.2.13' },
  ),
  structure(
    '28',
    'Two PartInfo with two spellings of one href are refused.',
    {
      payload: { contentId: 'a@sender.example' },
      editMessaging: (x) =>
        x.replace(/<eb:PartInfo .*<\/eb:PartInfo>/s, (part) => part + part.replace('cid:a@', 'cid:%61@')),
    },
    { codes: '0003 0009', source: 'RFC 2392' },
  ),
  refuse('NEG-HDR-29', 'eD §1.4.2.3', 'A payload at a file URL beside a good one is refused.', '0011', () => ({
    more: [freshSlip()],
    editMessaging: (x) => x.replace(/(href="cid:[^"]*".*href=)"cid:[^"]*"/s, '$1"file:///etc/passwd"'),
  })),
  refuse('NEG-HDR-30', 'eD §1.4.2.3', 'A payload at an http URL is refused as an external payload.', '0011', {
    editMessaging: (x) => x.replace(/href="cid:[^"]*"/, 'href="http://127.0.0.1:1/payload.xml"'),
  }),
  refuse(
    'NEG-HDR-31',
    'eD §1.4.3.1',
    'A missing MimeType is refused as inconsistent.',
    '0003',
    {
      payload: { mimeType: null },
    },
    { basis: 'reading' },
  ),
  refuse(
    'NEG-HDR-32',
    'eD §1.4.3.1; XML 1.0 §4.3.3',
    'A CharacterSet that is no name is refused as inconsistent.',
    '0003',
    {
      payload: { characterSet: 'utf 8' },
    },
    { basis: 'reading' },
  ),
];
