import { expect, it } from 'vitest';
import {
  type FoundInterchanges,
  interchangeKeys,
  interchangeWarnings,
  type KeyFacts,
  withoutKey,
} from './interchange-keys.ts';
import { InterchangeReader } from './interchange-reader.ts';

const UNB = "UNB+UNOC:3+A:14+B:ZZ+261130:0915+R1'";
const FACTS: KeyFacts = {
  senderAp: 'POP000001',
  originalSender: { scheme: 'iso6523-actorid-upis', value: '0088:Acme' },
  contentDigest: Buffer.from('content'),
};
const SBDH = { sender: { scheme: 'iso6523-actorid-upis', value: '0088:ACME' }, instanceIdentifier: 'uuid-1' };

function find(payload: string) {
  const reader = new InterchangeReader();
  reader.push(Buffer.from(payload));
  return reader.end();
}

const keys = (
  payload: string,
  interchangeKey: 'reference' | 'reference+sender' | 'reference+sender+content' = 'reference+sender',
) => interchangeKeys(FACTS, find(payload), SBDH, { interchangeKey });

it('gives the InstanceIdentifier with the digest of the whole message, whatever the rule', () => {
  for (const by of ['reference', 'reference+sender', 'reference+sender+content'] as const) {
    expect(keys('', by)).toEqual([
      {
        layer: 'sbdh',
        scope: '["POP000001","iso6523-actorid-upis","0088:acme"]',
        key: 'uuid-1',
        contentDigest: FACTS.contentDigest,
        dateTime: null,
        label: "InstanceIdentifier 'uuid-1'",
      },
    ]);
  }
});

it('scopes by signer and sender, also where the SBDH names none', () => {
  const [key] = interchangeKeys(FACTS, [], { ...SBDH, sender: null }, { interchangeKey: 'reference' });
  expect(key?.scope).toBe('["POP000001","iso6523-actorid-upis","0088:acme"]');
  expect(interchangeKeys(FACTS, [], { ...SBDH, instanceIdentifier: null }, { interchangeKey: 'reference' })).toEqual(
    [],
  );
});

it('names an interchange as the rule says', () => {
  const payload = `${UNB}UNZ+0+R1'`;
  const [finding] = find(payload);
  const key = (by: Parameters<typeof keys>[1]) => JSON.parse(keys(payload, by)[1]!.key);
  expect(key('reference')).toEqual(['R1']);
  expect(key('reference+sender')).toEqual(['14', 'A', 'ZZ', 'B', 'R1', '']);
  expect(key('reference+sender+content')).toEqual(['14', 'A', 'ZZ', 'B', 'R1', '', finding!.sha256.toString('hex')]);
});

it('keeps test and production interchanges, other partners and other qualifiers apart', () => {
  const others = [
    UNB,
    UNB.replace("R1'", "R1++++++1'"),
    UNB.replace('A:14', 'A:1'),
    UNB.replace('B:ZZ', 'C:ZZ'),
    UNB.replace('A:14', 'A'),
  ].map((unb) => keys(`${unb}UNZ+0+R1'`)[1]!.key);
  expect(new Set(others).size).toBe(others.length);
});

it('carries date, digest and a label that people understand', () => {
  const [, key] = keys(`${UNB}UNZ+0+R1'`);
  expect(key).toMatchObject({
    layer: 'edifact',
    dateTime: '261130 0915',
    label: "EDIFACT interchange 'R1' from 'A' to 'B' of '261130 0915'",
  });
  expect(key?.contentDigest.equals(find(`${UNB}UNZ+0+R1'`)[0]!.sha256)).toBe(true);
});

it('has one key for an interchange that is in the payload twice, and two entries when its contents differ', () => {
  const one = `${UNB}UNZ+0+R1'`;
  expect(keys(one + one)).toHaveLength(2);
  expect(keys(`${one}${UNB}BGM+1'UNZ+0+R1'`).map((k) => k.key)).toEqual([
    'uuid-1',
    expect.any(String),
    expect.any(String),
  ]);
});

it('has no key for an interchange without a reference, but a warning', () => {
  const findings = find("UNB+UNOC:3+A+B+261130:0915'UNZ+0+'");
  expect(interchangeKeys(FACTS, findings, SBDH, { interchangeKey: 'reference' })).toHaveLength(1);
  expect(interchangeWarnings(findings, 0)).toEqual([
    'an EDIFACT interchange is damaged: its UNB has no interchange control reference (0020)',
  ]);
});

it('warns of what is damaged, of ten at most, and of what was not compared', () => {
  expect(interchangeWarnings(find(`${UNB}UNZ+0+R2'`), 3)).toEqual([
    "EDIFACT interchange 'R1' from 'A' to 'B' of '261130 0915' is damaged: its UNZ repeats 'R2' where its UNB has 'R1'",
    '3 interchanges beyond the first 1 were not compared',
  ]);
  const many = interchangeWarnings(find(`${UNB}UNZ+0+R2'`.repeat(12)), 0);
  expect(many).toHaveLength(11);
  expect(many.at(-1)).toBe('2 more interchanges are damaged');
});

it('names what of a message has no key', () => {
  const search = (name: string, payload: string): FoundInterchanges & { readonly name: string } => {
    const reader = new InterchangeReader({ interchanges: 2 });
    reader.push(Buffer.from(payload));
    const interchanges = reader.end();
    const { unrecorded, beside } = reader;
    return { name, interchanges, unrecordedInterchanges: unrecorded, besideInterchanges: beside };
  };
  const one = `${UNB}UNZ+0+R1'`;
  expect(withoutKey([search('1', one + one), search('2', one)])).toEqual([]);
  // Without any interchange the InstanceIdentifier stands for all of it.
  expect(withoutKey([search('1', '<Invoice/>'), search('2', 'a drawing')])).toEqual([]);
  expect(withoutKey([search('1', '<Invoice/>'), search('2', one), search('3', 'a drawing')])).toEqual(['1', '3']);
  expect(withoutKey([search('1', "UNB+UNOC:3+A+B+261130:0915'UNZ+0+'"), search('2', `${one}and a letter`)])).toEqual([
    '1 interchange without a reference in 1',
    'what follows an interchange in 2',
  ]);
  expect(withoutKey([search('1', one.repeat(3))])).toEqual(['1 interchanges beyond the first 2 in 1']);
});
