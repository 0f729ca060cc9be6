import { describe, expect, it } from 'vitest';
import { parseXml } from '../xml/parse.ts';
import { findEchoId } from './echo-id.ts';
import { EB, S12 } from './namespaces.ts';

const id = (value: string) => `<eb:MessageId>${value}</eb:MessageId>`;
const messaging = (inside: string) =>
  `<eb:Messaging><eb:UserMessage><eb:MessageInfo>${inside}</eb:MessageInfo></eb:UserMessage></eb:Messaging>`;
const envelope = (header: string) =>
  parseXml(
    Buffer.from(`<s:Envelope xmlns:s="${S12}" xmlns:eb="${EB}"><s:Header>${header}</s:Header><s:Body/></s:Envelope>`),
  ).root;

describe('findEchoId', () => {
  it('finds the one MessageId on the path of a user message', () => {
    expect(findEchoId(envelope(messaging(id('m@a'))))).toBe('m@a');
  });

  const refused: Record<string, string> = {
    'two MessageIds': messaging(id('a') + id('b')),
    'two Messaging headers': messaging(id('a')) + messaging(id('a')),
    'an id elsewhere in the header': `<eb:Other>${messaging(id('a'))}</eb:Other>`,
    'the id of a signal': messaging(id('a')).replaceAll('UserMessage', 'SignalMessage'),
    'an id with a child element': messaging(id('a<eb:b/>')),
    'an empty id': messaging(id('')),
    'an id of 256 characters': messaging(id('a'.repeat(256))),
    'an id with a control character': messaging(id('a&#13;b')),
  };
  it.each(Object.keys(refused))('echoes nothing for %s', (name) => {
    expect(findEchoId(envelope(refused[name]!))).toBeNull();
  });

  it('echoes nothing out of what is no SOAP 1.2 envelope', () => {
    const root = parseXml(
      Buffer.from(`<Envelope xmlns:eb="${EB}"><Header>${messaging(id('a'))}</Header></Envelope>`),
    ).root;
    expect(findEchoId(root)).toBeNull();
  });
});
