import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseXml } from '../xml/parse.ts';
import { child } from '../xml/tree.ts';
import { EB, S12 } from './namespaces.ts';
import { type Messaging, readMessaging, type UserMessage } from './user-message.ts';

const NS = `xmlns:eb="${EB}" xmlns:S12="${S12}" xmlns:x="urn:other"`;
const AP = 'type="urn:fdc:peppol.eu:2017:identifiers:ap"';
const INFO =
  '<eb:MessageInfo><eb:Timestamp>2026-11-30T10:00:00.123Z</eb:Timestamp><eb:MessageId>m1@a</eb:MessageId></eb:MessageInfo>';
const FROM = `<eb:From><eb:PartyId ${AP}>POP000001</eb:PartyId><eb:Role>urn:initiator</eb:Role></eb:From>`;
const TO = `<eb:To><eb:PartyId ${AP}>POP000002</eb:PartyId><eb:Role>urn:responder</eb:Role></eb:To>`;
const COLLABORATION =
  '<eb:CollaborationInfo><eb:AgreementRef>urn:agreement\n </eb:AgreementRef><eb:Service type="s">urn:p</eb:Service>' +
  '<eb:Action> a::b\n c </eb:Action><eb:ConversationId></eb:ConversationId></eb:CollaborationInfo>';
const PROPERTIES =
  '<eb:MessageProperties><eb:Property name="originalSender" type="t">0088:A</eb:Property>' +
  '<eb:Property name="own">1</eb:Property></eb:MessageProperties>';
const PART =
  '<eb:PartInfo href=" cid:a@b "><eb:PartProperties><eb:Property name="MimeType">application/xml</eb:Property></eb:PartProperties></eb:PartInfo>';
const USER_MESSAGE =
  `<eb:UserMessage>${INFO}<eb:PartyInfo>${FROM}${TO}</eb:PartyInfo>${COLLABORATION}${PROPERTIES}` +
  `<eb:PayloadInfo>${PART}</eb:PayloadInfo></eb:UserMessage>`;

function read(content: string, attributes = 'S12:mustUnderstand="true"'): Messaging {
  return readMessaging(parseXml(Buffer.from(`<eb:Messaging ${NS} ${attributes}>${content}</eb:Messaging>`)).root);
}

/** The user message with one piece of its text replaced. */
function altered(from: string, to: string): UserMessage {
  if (!USER_MESSAGE.includes(from)) throw new Error(`nothing to replace: ${from}`);
  const messaging = read(USER_MESSAGE.replace(from, to));
  if (messaging.kind !== 'userMessage') throw new Error('a signal');
  return messaging.userMessage;
}

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
}

describe('readMessaging', () => {
  it('reads every field, tokens collapsed and strings as they are', () => {
    expect(altered('name="own"', 'name="own"')).toEqual({
      messageInfo: {
        timestamp: '2026-11-30T10:00:00.123Z',
        timestampMs: Date.UTC(2026, 10, 30, 10, 0, 0, 123),
        messageId: 'm1@a',
      },
      partyInfo: {
        from: { partyId: { value: 'POP000001', type: 'urn:fdc:peppol.eu:2017:identifiers:ap' }, role: 'urn:initiator' },
        to: { partyId: { value: 'POP000002', type: 'urn:fdc:peppol.eu:2017:identifiers:ap' }, role: 'urn:responder' },
      },
      collaborationInfo: {
        agreementRef: { value: 'urn:agreement' },
        service: { value: 'urn:p', type: 's' },
        action: 'a::b c',
        conversationId: '',
      },
      messageProperties: [
        { name: 'originalSender', type: 't', value: '0088:A' },
        { name: 'own', value: '1' },
      ],
      payloadInfo: [{ href: 'cid:a@b', partProperties: [{ name: 'MimeType', value: 'application/xml' }] }],
    });
  });

  it('reads optional parts of the schema: mpc, RefToMessageId, pmode, Schema, Description', () => {
    expect(altered('<eb:UserMessage>', '<eb:UserMessage mpc="urn:mpc">').mpc).toBe('urn:mpc');
    expect(
      altered('</eb:MessageId>', '</eb:MessageId><eb:RefToMessageId>r@a</eb:RefToMessageId>').messageInfo
        .refToMessageId,
    ).toBe('r@a');
    expect(altered('<eb:AgreementRef>', '<eb:AgreementRef pmode="p" type="t">').collaborationInfo.agreementRef).toEqual(
      {
        value: 'urn:agreement',
        pmode: 'p',
        type: 't',
      },
    );
    const [part] = altered(
      '<eb:PartProperties>',
      '<eb:Schema location="urn:l" version="2"/><eb:Description xml:lang="en">d</eb:Description><eb:PartProperties>',
    ).payloadInfo;
    expect(part).toMatchObject({
      schema: { location: 'urn:l', version: '2' },
      description: { lang: 'en', value: 'd' },
    });
  });

  it('keeps the order of the PartInfos', () => {
    expect(altered(PART, `${PART.replace('a@b', 'z')}${PART}`).payloadInfo.map((p) => p.href)).toEqual([
      'cid:z',
      'cid:a@b',
    ]);
  });

  it('tolerates what the schema leaves room for: foreign attributes and elements of eb:Messaging, any prefix', () => {
    const messaging = read(`${USER_MESSAGE}<x:more/>`, 'id="_1" x:any="1" S12:mustUnderstand="1"');
    expect(messaging.kind).toBe('userMessage');
    expect(altered('<eb:PartInfo ', '<eb:PartInfo x:a="1" ').payloadInfo).toHaveLength(1);
    const other = USER_MESSAGE.replaceAll('eb:', 'ns2:');
    expect(
      readMessaging(parseXml(Buffer.from(`<ns2:Messaging xmlns:ns2="${EB}">${other}</ns2:Messaging>`)).root).kind,
    ).toBe('userMessage');
  });

  const malformed: Record<string, [string, string]> = {
    'MessageInfo missing': [INFO, ''],
    'parties in the wrong order': [`${FROM}${TO}`, `${TO}${FROM}`],
    'To missing': [TO, ''],
    'an unknown element': [PROPERTIES, `${PROPERTIES}<eb:Extra/>`],
    'a foreign element in UserMessage': [PROPERTIES, `${PROPERTIES}<x:extra/>`],
    'a foreign attribute where the schema has no room': ['<eb:Action>', '<eb:Action x:a="1">'],
    'an unknown attribute': ['<eb:Action>', '<eb:Action type="t">'],
    'text between elements': [INFO, `text${INFO}`],
    'a child in a value': ['m1@a', '<x:b/>m1@a'],
    'an empty PartyId': ['POP000001', ''],
    'a blank PartyId': ['POP000001', '  '],
    'an empty Role': ['urn:initiator', ''],
    'an empty @type': [AP, 'type=""'],
    'an empty Service': ['urn:p<', '<'],
    'an empty property': ['>1<', '><'],
    'a property without name': ['name="own"', 'type="own"'],
    'MessageProperties without Property': [PROPERTIES, '<eb:MessageProperties/>'],
    'PayloadInfo without PartInfo': [PART, ''],
    'ConversationId missing': ['<eb:ConversationId></eb:ConversationId>', ''],
    'an empty MessageId': ['m1@a', ''],
    'a MessageId of 256 characters': ['m1@a', 'a'.repeat(256)],
    'a MessageId with white space before it': ['m1@a', ' m1@a'],
    'a MessageId with a line end after it': ['m1@a', 'm1@a\n'],
    'a MessageId with a no-break space after it': ['m1@a', 'm1@a\u00a0'],
    'a MessageId with a control character': ['m1@a', 'm1&#9;@a'],
    'a MessageId with a C1 control character': ['m1@a', 'm1\u0085@a'],
    'two MessageIds': ['</eb:MessageId>', '</eb:MessageId><eb:MessageId>m2</eb:MessageId>'],
    'an impossible date': ['2026-11-30', '2026-02-30'],
    'a date without time': ['2026-11-30T10:00:00.123Z', '2026-11-30'],
    'a PartInfo without href': [' href=" cid:a@b "', ''],
    'a PartInfo that names an envelope part': ['cid:a@b', '#body'],
    'a PartInfo that names nothing': ['cid:a@b', 'cid:'],
    'a Description without language': ['<eb:PartProperties>', '<eb:Description>d</eb:Description><eb:PartProperties>'],
    'a Schema without location': ['<eb:PartProperties>', '<eb:Schema/><eb:PartProperties>'],
  };
  it.each(Object.keys(malformed))('answers EBMS:0009 to %s', (name) => {
    expect(codeOf(() => altered(...malformed[name]!))).toBe('EBMS:0009');
  });

  it('does not reject a MessageId on the RFC 2822 grammar', () => {
    for (const id of ['no at sign', '<m1@a>', 'ü@ä', 'a'.repeat(255)]) {
      expect(altered('m1@a', id.replace('<', '&lt;')).messageInfo.messageId).toBe(id);
    }
  });

  const inconsistent: Record<string, [string, string]> = {
    'two PartyIds': [
      '</eb:PartyId><eb:Role>urn:initiator',
      `</eb:PartyId><eb:PartyId ${AP}>B</eb:PartyId><eb:Role>urn:initiator`,
    ],
    'two PartInfos with one href': [PART, PART + PART],
    'two PartInfos with two spellings of one Content-ID': [PART, PART + PART.replace('a@b', 'a%40b')],
    'an untyped PartyId that is no URI': [`<eb:PartyId ${AP}>POP000002`, '<eb:PartyId>POP000002'],
    'an untyped Service that is no URI': ['<eb:Service type="s">urn:p', '<eb:Service>p'],
  };
  it.each(Object.keys(inconsistent))('answers EBMS:0003 to %s', (name) => {
    expect(codeOf(() => altered(...inconsistent[name]!))).toBe('EBMS:0003');
  });

  it.each(['http://a.example/x', 'https://a.example/x', 'file:///etc/passwd', 'CID:a@b', 'payload.xml'])(
    'answers EBMS:0011 to the payload reference %s and fetches nothing',
    (href) => {
      expect(codeOf(() => altered('cid:a@b', href))).toBe('EBMS:0011');
    },
  );

  it('says malformed before it says anything about values', () => {
    expect(codeOf(() => altered(`${PART}</eb:PayloadInfo>`, `${PART}${PART}</eb:PayloadInfo><eb:Extra/>`))).toBe(
      'EBMS:0009',
    );
  });

  it('wants exactly one unit', () => {
    const receipt = `<eb:SignalMessage>${INFO}<eb:Receipt><x:r/></eb:Receipt></eb:SignalMessage>`;
    for (const content of ['', '<x:other/>', USER_MESSAGE + USER_MESSAGE, receipt + USER_MESSAGE, receipt + receipt]) {
      expect(codeOf(() => read(content))).toBe('EBMS:0009');
    }
    expect(codeOf(() => read(`<x:first/>${USER_MESSAGE}`))).toBe('EBMS:0009');
    expect(codeOf(() => readMessaging(parseXml(Buffer.from('<Messaging/>')).root))).toBe('EBMS:0009');
  });

  it('refuses a mustUnderstand that is no boolean', () => {
    expect(codeOf(() => read(USER_MESSAGE, 'S12:mustUnderstand="yes"'))).toBe('EBMS:0009');
  });

  const shared = new URL('../../../shared/samples/negative/', import.meta.url);
  it.skipIf(!existsSync(shared))(
    'answers EBMS:0009 to the malformed samples of phase4 (skipped without ../shared)',
    () => {
      for (const name of ['TwoUserMessages.xml', 'UserMessageNoPartyID.xml']) {
        const { root } = parseXml(readFileSync(new URL(name, shared)));
        const messaging = child(child(root, S12, 'Header')!, EB, 'Messaging')!;
        expect(codeOf(() => readMessaging(messaging))).toBe('EBMS:0009');
      }
    },
  );
});
