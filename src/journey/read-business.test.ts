import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { OpenedPayload } from './open-payloads.ts';
import { readBusinessDocument, readFurtherPayloads } from './read-business.ts';

const LIMITS = { payload: 100_000_000, ratio: 10_000 };
const EDI = "UNA:+.? '\r\nUNB+UNOC:3+A:14+B:14+261130:0915+R1'BGM+220'UNZ+0+R1'";
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function sbd(document: string): Buffer {
  const party = (side: string) =>
    `<${side}><Identifier Authority="iso6523-actorid-upis">0088:${side}</Identifier></${side}>`;
  const scope = (type: string, value: string) =>
    `<Scope><Type>${type}</Type><InstanceIdentifier>${value}</InstanceIdentifier></Scope>`;
  return Buffer.from(
    `<StandardBusinessDocument xmlns="http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader">` +
      `<StandardBusinessDocumentHeader><HeaderVersion>1.0</HeaderVersion>${party('Sender')}${party('Receiver')}` +
      '<DocumentIdentification><Standard>s</Standard><TypeVersion>1</TypeVersion><InstanceIdentifier>i</InstanceIdentifier>' +
      '<Type>t</Type><CreationDateAndTime>2026-01-01T00:00:00Z</CreationDateAndTime></DocumentIdentification>' +
      `<BusinessScope>${scope('DOCUMENTID', 'd')}${scope('PROCESSID', 'p')}${scope('COUNTRY_C1', 'AT')}</BusinessScope>` +
      `</StandardBusinessDocumentHeader>${document}</StandardBusinessDocument>`,
  );
}

function wrapper(local: 'TextContent' | 'BinaryContent', content: string): string {
  return `<${local} xmlns="http://peppol.eu/xsd/ticc/envelope/1.0" mimeType="Application/EDIFACT">${content}</${local}>`;
}

function opened(octets: Buffer, data: Buffer | { file: string } = gzipSync(octets)): OpenedPayload {
  const part = {
    href: 'cid:a@b',
    mimeType: 'application/xml',
    characterSet: null,
    compressed: Buffer.isBuffer(data),
    properties: [],
    partInfo: { href: 'cid:a@b', partProperties: [] },
  };
  return { part, sha256: createHash('sha256').update(octets).digest(), bytes: octets.length, data };
}

const read = (octets: Buffer, data?: { file: string }) => readBusinessDocument(opened(octets, data), 'strict', LIMITS);

it('finds an interchange in a BinaryContent and in a TextContent, as what they decode to', async () => {
  const binary = await read(sbd(wrapper('BinaryContent', Buffer.from(EDI).toString('base64'))));
  expect(binary).toMatchObject({ payloadKind: 'edifact', unrecordedInterchanges: 0 });
  expect(binary.interchanges.map((i) => [i.reference, i.damaged, i.sha256.toString('hex')])).toEqual([
    ['R1', undefined, sha256(EDI)],
  ]);
  const text = await read(sbd(wrapper('TextContent', EDI.replaceAll("'", '&#39;'))));
  expect(text.interchanges[0]?.sha256.toString('hex')).toBe(sha256(EDI.replace('\r\n', '\n')));
  const cdata = await read(sbd(wrapper('TextContent', `<![CDATA[${EDI}]]>`)));
  expect(cdata.interchanges).toEqual(text.interchanges);
});

it('finds it in a payload that streams from a file', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'quittance-business-'));
  const file = join(directory, 'payload');
  const edi = EDI.replace("BGM+220'", "FTX+AAI+++it?'s text'".repeat(50_000));
  const octets = sbd(wrapper('BinaryContent', Buffer.from(edi).toString('base64')));
  writeFileSync(file, octets);
  const { interchanges, document } = await read(octets, { file });
  expect(interchanges.map((i) => [i.reference, i.damaged, i.sha256.toString('hex')])).toEqual([
    ['R1', undefined, sha256(edi)],
  ]);
  expect(document.sha256.equals(interchanges[0]!.sha256)).toBe(true);
  rmSync(directory, { recursive: true });
});

it('tells XML, PDF and anything else apart, none of which has interchanges', async () => {
  const kinds = await Promise.all(
    [
      `<Invoice xmlns="urn:x">${EDI}</Invoice>`,
      wrapper('BinaryContent', Buffer.from('%PDF-1.7\n%…').toString('base64')),
      wrapper('BinaryContent', Buffer.from('anything').toString('base64')),
      wrapper('TextContent', 'anything'),
      wrapper('TextContent', ''),
    ].map(async (document) => {
      const { payloadKind, interchanges } = await read(sbd(document));
      return [payloadKind, interchanges.length];
    }),
  );
  expect(kinds).toEqual([
    ['xml', 0],
    ['pdf', 0],
    ['binary', 0],
    ['text', 0],
    ['text', 0],
  ]);
});

it('finds an interchange that is a further payload by itself', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'quittance-business-'));
  const file = join(directory, 'payload');
  writeFileSync(file, EDI);
  for (const payload of [opened(Buffer.from(EDI)), opened(Buffer.from(EDI), { file })]) {
    const [further] = await readFurtherPayloads([payload], { interchanges: [] }, LIMITS);
    expect(further?.sha256.toString('hex')).toBe(sha256(EDI));
    expect(further?.interchanges.map((i) => i.reference)).toEqual(['R1']);
  }
  rmSync(directory, { recursive: true });
});
