import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type InterchangeLimits, InterchangeReader } from './interchange-reader.ts';
import type { InterchangeFinding } from './open-interchange.ts';

const sha256 = (octets: string) => createHash('sha256').update(octets, 'latin1').digest('hex');

/** Reads a payload, cut at the given places. Each chunk is overwritten after use: the reader must not rely on it. */
function read(payload: string | Buffer, cuts: readonly number[] = [], limits: InterchangeLimits = {}) {
  const octets = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
  const reader = new InterchangeReader(limits);
  const bounds = [...new Set([0, ...cuts.filter((c) => c < octets.length), octets.length])].sort((a, b) => a - b);
  for (let i = 1; i < bounds.length; i++) {
    const chunk = Buffer.from(octets.subarray(bounds[i - 1], bounds[i]));
    reader.push(chunk);
    chunk.fill(0x55);
  }
  return { findings: reader.end(), look: reader.look, unrecorded: reader.unrecorded };
}

const everyOctet = (length: number) => Array.from({ length }, (_, i) => i);
/** `reference sender:qualifier>recipient:qualifier @date time usage [groups]` and what is wrong. */
function brief(f: InterchangeFinding): string {
  const groups = f.groups.length > 0 ? ` [${f.groups.join()}]` : '';
  const usage = f.usage === '' ? '' : ` ${f.usage}${f.test ? ' test' : ''}`;
  const damaged = f.damaged === undefined ? '' : ` !${f.damaged}`;
  return `${f.reference} ${f.sender}:${f.senderQualifier}>${f.recipient}:${f.recipientQualifier} @${f.dateTime ?? ''}${usage}${groups}${damaged}`;
}

const UNB = "UNB+UNOC:3+7300010000001:14+7300010000018:14+261130:0915+R1'";
const UNH = "UNH+1+ORDERS:D:96A:UN'BGM+220+N7'UNT+3+1'";
const UNZ = "UNZ+1+R1'";
const PLAIN = 'R1 7300010000001:14>7300010000018:14 @261130 0915';

function isa(
  o: { number?: string; usage?: string; component?: string; end?: string; sep?: string; rep?: string } = {},
) {
  const s = o.sep ?? '*';
  const fields = [
    'ISA',
    '00',
    ' '.repeat(10),
    '00',
    ' '.repeat(10),
    'ZZ',
    'ACME'.padEnd(15),
    '01',
    '987654321'.padEnd(15),
  ];
  fields.push(
    '261130',
    '0915',
    o.rep ?? 'U',
    '00401',
    o.number ?? '000000042',
    '0',
    o.usage ?? 'P',
    o.component ?? ':',
  );
  return fields.join(s) + (o.end ?? '~');
}
const GS = 'GS*PO*ACME*BUYER*20261130*0915*7*X*004010~ST*850*0001~SE*2*0001~GE*1*7~';
const IEA = 'IEA*1*000000042~';
const X12 = '000000042 ACME:ZZ>987654321:01 @261130 0915 P';

const ENVELOPES: readonly (readonly [name: string, payload: string | Buffer, expected: readonly string[]])[] = [
  ['EDIFACT without UNA', UNB + UNH + UNZ, [PLAIN]],
  ['UNA with the default characters', `UNA:+.? '${UNB}${UNH}${UNZ}`, [PLAIN]],
  ['UNA with a decimal comma', `UNA:+,? '${UNB}${UNH}${UNZ}`, [PLAIN]],
  [
    'UNA that names other characters',
    'UNA|^.\\ ~UNB^UNOC|3^7300010000001|14^7300010000018|14^261130|0915^R1~UNZ^0^R1~',
    [PLAIN],
  ],
  ['UNA whose terminator is a line feed', `UNA:+.? \n${(UNB + UNH + UNZ).replaceAll("'", '\n')}`, [PLAIN]],
  ['UNA whose terminator is LF, in a file with CRLF', `UNA:+.? \n${(UNB + UNZ).replaceAll("'", '\r\n')}`, [PLAIN]],
  ['a last line feed that was left out', `UNA:+.? \n${(UNB + UNZ).replaceAll("'", '\n').trimEnd()}`, [PLAIN]],
  [
    'UNA without a release character: "?" is a letter',
    "UNA:+.  'UNB+UNOA:1+A?+B+261130:0915+R?1'UNZ+0+R?1'",
    ['R?1 A?:>B: @261130 0915'],
  ],
  ['a blank line between UNA and UNB', `UNA:+.? '\r\n${UNB}${UNZ}`, [PLAIN]],
  ['CRLF after each segment', (UNB + UNH + UNZ).replaceAll("'", "'\r\n"), [PLAIN]],
  ['LF and blanks between segments', (UNB + UNH + UNZ).replaceAll("'", "'\n   "), [PLAIN]],
  ['a byte order mark', Buffer.from(`\ufeff${UNB}${UNZ}`), [PLAIN]],
  ['blank lines before it', `\r\n \r\n${UNB}${UNZ}`, [PLAIN]],
  ['NUL and SUB as padding behind it', `${UNB}${UNZ}\r\n\x1a\0\0\0`, [PLAIN]],
  [
    'released service characters in ids and reference',
    "UNB+UNOC:3+A?+B?:C??:ZZ+D?'E:14+261130:0915+R?'1?+'UNZ+0+R?'1?+'",
    ["R'1+ A+B:C?:ZZ>D'E:14 @261130 0915"],
  ],
  ['a released terminator in a data segment', `${UNB}FTX+AAI+++it?'s a text'${UNZ}`, [PLAIN]],
  ['a released release character before the terminator', `${UNB}FTX+AAI+++what????'${UNZ}`, [PLAIN]],
  ['a UNZ inside a released text', `${UNB}FTX+AAI+++see?'UNZ?+1?+X?''${UNZ}`, [PLAIN]],
  [
    'syntax 1, UNOA, without qualifiers',
    "UNB+UNOA:1+ACME+BUYER+891231:2359+1'UNZ+0+1'",
    ['1 ACME:>BUYER: @891231 2359'],
  ],
  [
    'syntax 2, UNOB with level A characters',
    "UNB+UNOB:2+ACME:ZZ+BUYER:ZZ+261130:0915+77'UNZ+0+77'",
    ['77 ACME:ZZ>BUYER:ZZ @261130 0915'],
  ],
  [
    'UNOB with the non-printing characters of level B',
    'UNB\x1dUNOB\x1f1\x1dACME\x1fZZ\x1dBUYER?\x1d261130\x1f0915\x1d5\x1cUNZ\x1d0\x1d5\x1c',
    ['5 ACME:ZZ>BUYER?: @261130 0915'],
  ],
  [
    'syntax 4 with its long date, sub-ids and a repetition separator',
    "UNA:+.?*'UNB+UNOC:4:::02+ACME:ZZ:ROUTE:SUB+BUYER:14::SUB2+20261130:0915+R4++APP+A+1+EDI-AGREED+1'UNZ+0+R4'",
    ['R4 ACME:ZZ>BUYER:14 @20261130 0915 1 test'],
  ],
  ['the test indicator', "UNB+UNOC:3+A:14+B:14+261130:0915+R1++++++1'UNZ+0+R1'", ['R1 A:14>B:14 @261130 0915 1 test']],
  [
    'password, application reference and priority in between',
    "UNB+UNOC:3+A:14+B:14+261130:0915+R1+SECRET:AA+ORDERS+A+1+AGR'UNZ+0+R1'",
    ['R1 A:14>B:14 @261130 0915'],
  ],
  [
    'UNOY: ids in UTF-8',
    Buffer.from("UNB+UNOY:4+Käse:ZZ+Zürich:ZZ+20261130:0915+Ä1'UNZ+0+Ä1'"),
    ['Ä1 Käse:ZZ>Zürich:ZZ @20261130 0915'],
  ],
  ['UNOC: ids in ISO 8859-1', "UNB+UNOC:3+K\xe4se:ZZ+B:14+261130:0915+1'UNZ+0+1'", ['1 Käse:ZZ>B:14 @261130 0915']],
  ['UNOY that is no UTF-8', "UNB+UNOY:4+K\xe4se+B+261130:0915+1'UNZ+0+1'", ['1 Käse:>B: @261130 0915']],
  ['KECA, a syntax identifier beyond UNO', "UNB+KECA:1+A+B+261130:0915+1'UNZ+0+1'", ['1 A:>B: @261130 0915']],
  [
    'blanks that pad ids and reference',
    "UNB+UNOC:3+A   :14 +B  :14+261130:0915+R1   'UNZ+0+R1'",
    ['R1 A:14>B:14 @261130 0915'],
  ],
  [
    'functional groups',
    `${UNB}UNG+ORDERS+A+B+261130:0915+G1+UN+D:96A'${UNH}UNE+1+G1'UNG+INVOIC+A+B+261130:0915+G2+UN+D:96A'UNE+0+G2'UNZ+2+R1'`,
    [`${PLAIN} [G1,G2]`],
  ],
  [
    'several interchanges, each with its own UNA',
    `UNA:+.? '${UNB}${UNH}${UNZ}\r\nUNA|^.\\ ~UNB^UNOC|3^A^B^261201|1000^R2~UNZ^0^R2~${UNB.replace('R1', 'R3')}UNZ+0+R3'`,
    [PLAIN, 'R2 A:>B: @261201 1000', 'R3 7300010000001:14>7300010000018:14 @261130 0915'],
  ],
  [
    'a UNZ that repeats another reference',
    `${UNB}${UNH}UNZ+1+R2'`,
    [`${PLAIN} !its UNZ repeats 'R2' where its UNB has 'R1'`],
  ],
  ['a payload that ends before UNZ', UNB + UNH, [`${PLAIN} !the payload ends before its UNZ`]],
  ['a payload that ends inside UNB', UNB.slice(0, -2), [' :>: @ !the payload ends inside its UNB']],
  ['a UNZ without terminator', UNB + UNH + UNZ.slice(0, -1), [`${PLAIN} !its UNZ has no terminator`]],
  [
    'a next interchange before the UNZ of the first',
    `${UNB}${UNH}${UNB.replace('R1', 'R2')}UNZ+0+R2'`,
    [`${PLAIN} !the next interchange begins before its UNZ`, 'R2 7300010000001:14>7300010000018:14 @261130 0915'],
  ],
  [
    'something else behind UNZ',
    `${UNB}${UNZ}-- end of transmission --`,
    [`${PLAIN} !it is followed by something that is no interchange`],
  ],
  [
    'an interchange without a reference',
    "UNB+UNOC:3+A+B+261130:0915'UNZ+0+'",
    [' A:>B: @261130 0915 !its UNB has no interchange control reference (0020)'],
  ],
  [
    'a separator after UNB that is not the one of UNA',
    "UNA:+.? 'UNB;UNOC:3;A;B;261130:0915;R1'UNZ;0;R1'",
    [' :>: @ !the character after UNB is no data element separator: UNA names another one'],
  ],
  [
    'a UNB longer than any can be',
    `UNB+UNOC:3+${'A'.repeat(2000)}+B+261130:0915+R1'UNZ+0+R1'`,
    [' :>: @ !its UNB is longer than 1024 octets'],
  ],
  ['a data segment of a megabyte', `${UNB}FTX+${'x'.repeat(1_000_000)}'${UNZ}`, [PLAIN]],
  ['segments that begin like service segments', `${UNB}UNS+S'UNZA+1'UNGX'UNBOUND+1'UNAWARE'GS+1'${UNZ}`, [PLAIN]],
  [
    'service segments wrapped after so many columns',
    `${UNB.replace('+7300010000018', '\r\n+7300010000018')}UNZ+1\r\n+R1'`,
    [PLAIN],
  ],
  ['X12 with the fixed width', isa() + GS + IEA, [`${X12} [7]`]],
  ['X12 with a line break after each segment', (isa() + GS + IEA).replaceAll('~', '~\r\n'), [`${X12} [7]`]],
  ['X12 whose terminator is LF', (isa() + GS + IEA).replaceAll('~', '\n'), [`${X12} [7]`]],
  ['X12 whose terminator is CRLF', (isa() + GS + IEA).replaceAll('~', '\r\n'), [`${X12} [7]`]],
  ['X12 with other separators', (isa({ component: '>', sep: '|' }) + GS + IEA).replaceAll('*', '|'), [`${X12} [7]`]],
  ['X12 with TAB as separator', (isa() + GS + IEA).replaceAll('*', '\t'), [`${X12} [7]`]],
  ['X12 00501 with a repetition separator', isa({ rep: '^' }).replace('00401', '00501') + GS + IEA, [`${X12} [7]`]],
  ['X12 test usage', isa({ usage: 'T' }) + IEA, [X12.replace(' P', ' T test')]],
  ['X12 information usage is no test', isa({ usage: 'I' }) + IEA, [X12.replace(' P', ' I')]],
  ['X12 trimmed', `ISA*00**00**ZZ*ACME*01*987654321*261130*0915*U*00401*42*0*P*:~${GS}IEA*1*42~`, [`${X12} [7]`]],
  ['X12 padded too far', isa().replace('ACME  ', `ACME${' '.repeat(30)}`) + GS + IEA, [`${X12} [7]`]],
  ['X12 whose IEA trims the zeros', `${isa()}IEA*0*42~`, [X12]],
  [
    'X12 with two groups',
    `${isa()}${GS}${GS.replace('0915*7', '0915*8').replace('GE*1*7', 'GE*1*8')}IEA*2*000000042~`,
    [`${X12} [7,8]`],
  ],
  ['X12 with a TA1 and no group', `${isa()}TA1*000000041*261130*0914*A*000~IEA*0*000000042~`, [X12]],
  [
    'several X12 interchanges',
    `${isa() + GS + IEA + isa({ number: '000000043' })}IEA*0*000000043~`,
    [`${X12} [7]`, X12.replace('42', '43')],
  ],
  [
    'an IEA that repeats another number',
    `${isa()}${GS}IEA*1*000000043~`,
    [`${X12} [7] !its IEA repeats '000000043' where its ISA has '000000042'`],
  ],
  ['X12 that ends before IEA', isa() + GS, [`${X12} [7] !the payload ends before its IEA`]],
  ['X12 with a question mark before the terminator, which releases nothing', `${isa()}NTE**really?~${IEA}`, [X12]],
  ['X12 after EDIFACT', UNB + UNZ + isa() + IEA, [PLAIN, X12]],
];

describe('one payload', () => {
  it.each(ENVELOPES)('reads %s', (_, payload, expected) => {
    expect(read(payload).findings.map(brief)).toEqual(expected);
  });

  it.each(ENVELOPES)('reads the same from single octets: %s', (_, payload) => {
    const short = payload.length > 4000 ? everyOctet(300).map((i) => i * 37) : everyOctet(payload.length);
    expect(read(payload, short)).toEqual(read(payload));
  });
});

describe('what is no EDI', () => {
  it.each([
    ['', null],
    ['<Invoice/>', null],
    ['%PDF-1.7\n', 'pdf'],
    ['UNBELIEVABLE but true', null],
    ['UNB-Bank statement', null],
    ['UNARMED', null],
    ["UNA:+.? 'and then nothing", null],
    ["UNA+++++'UNB+UNOC:3+A+B+1:1+1'", null],
    ['ISA-95 is a standard', null],
    ['ISABELLA', null],
    ['ISA*00*and a sentence', null],
    [' '.repeat(2000) + UNB + UNZ, null],
    ['U', null],
    ['\u00ef\u00bb', null],
  ])('%j gives nothing', (payload, look) => {
    expect(read(payload)).toEqual({ findings: [], look, unrecorded: 0 });
    expect(read(payload, everyOctet(payload.length))).toEqual({ findings: [], look, unrecorded: 0 });
  });
});

it('hashes each interchange from its first octet to its terminator, and nothing around it', () => {
  const first = `UNA:+.? '\n${UNB}\r\n${UNH}${UNZ}`;
  const second = isa() + GS + IEA;
  const { findings } = read(`\n${first}\r\n  ${second}\n\x1a`);
  expect(findings.map((f) => f.sha256.toString('hex'))).toEqual([sha256(first), sha256(second)]);
  expect(findings.map((f) => f.bytes)).toEqual([first.length, second.length]);
});

it('hashes a damaged interchange up to where the next one begins', () => {
  const { findings } = read(`${UNB}${UNH}\r\n${UNB}${UNZ}`);
  expect(findings.map((f) => f.sha256.toString('hex'))).toEqual([sha256(`${UNB}${UNH}\r\n`), sha256(UNB + UNZ)]);
});

it('records so many interchanges and counts the rest', () => {
  const one = UNB + UNZ;
  const result = read(one.repeat(1200) + UNB);
  expect(result.findings).toHaveLength(1000);
  expect(result.unrecorded).toBe(201);
  expect(read(one.repeat(5), [7, 100], { interchanges: 2 })).toMatchObject({ unrecorded: 3 });
});

it('records so many group references over all interchanges', () => {
  const group = "UNG+ORDERS+A+B+261130:0915+G+UN+D:96A'";
  const { findings } = read((UNB + group.repeat(600) + UNZ).repeat(3));
  expect(findings.map((f) => f.groups.length)).toEqual([600, 400, 0]);
});

const piece = fc.oneof(
  fc.constantFrom(
    UNB,
    UNH,
    UNZ,
    "UNA:+.? '",
    "UNZ+1+'",
    'UNA|^.\\ ~',
    'UNB^UNOC|3^A^B^1|1^R~',
    'UNZ^0^R~',
    isa(),
    GS,
    IEA,
  ),
  fc.constantFrom('?', "'", '\r\n', ' ', '~', '+', '\0', '\x1a', 'UN', 'ISA*00*', 'UNG+', 'GS*', 'x'.repeat(1100)),
  fc.string({ unit: 'binary-ascii', maxLength: 8 }),
  fc.uint8Array({ maxLength: 8 }).map((octets) => Buffer.from(octets).toString('latin1')),
);

it('never throws and gives the same for any octets in any chunks', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), fc.array(fc.nat(1500), { maxLength: 12 }), (pieces, cuts) => {
      const payload = pieces.join('');
      const whole = read(payload);
      expect(read(payload, cuts)).toEqual(whole);
      expect(whole.findings.reduce((n, f) => n + f.bytes, 0)).toBeLessThanOrEqual(payload.length);
    }),
    { numRuns: 3000 },
  );
});

it('holds no more than a service segment between two chunks', () => {
  const reader = new InterchangeReader();
  const before = process.memoryUsage();
  reader.push(Buffer.from(UNB));
  const chunk = Buffer.alloc(1 << 20, 'FTX+UNZ+?');
  for (let i = 0; i < 64; i++) reader.push(chunk);
  const after = process.memoryUsage();
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(16 << 20);
  expect(reader.end()).toHaveLength(1);
});
