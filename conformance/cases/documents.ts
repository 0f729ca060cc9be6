import { randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { TEST_SERVICE } from '../../fixtures/sender/messaging.ts';
import type { Case } from '../case.ts';
import { freshSlip } from '../message.ts';
import { compressedAs } from './compressed-as.ts';
import { accept, refuse } from './rows.ts';

const SBDH = 'SBDH 2.0.2 §2';
const MEGABYTE = 1_000_000;

/** An SBD whose document is grown to about so many octets that hardly compress. */
function large(octets: number): (sbd: string) => Buffer {
  return (sbd) => {
    const noise = randomBytes(Math.ceil((octets * 3) / 4)).toString('base64');
    return Buffer.from(sbd.replace('<cbc:IssueDate>', `<cbc:Note>${noise}</cbc:Note><cbc:IssueDate>`));
  };
}

/** What is carried, and how. */
export const DOCUMENT_CASES: readonly Case[] = [
  accept('DOC-01', 'PAS4 §4', 'A BIS Billing invoice is delivered.', { document: 'invoice' }),
  accept('DOC-02', 'PAS4 §4', 'A credit note is delivered.', { document: 'creditNote' }),
  accept('DOC-03', 'PAS4 §4', 'An order response is delivered.', { document: 'orderResponse' }),
  accept('DOC-04', 'PAS4 §4', 'A despatch advice is delivered.', { document: 'despatchAdvice' }),
  accept('DOC-05', 'MLS 1.0', 'A Message Level Status is delivered.', { document: 'mls' }),
  accept('DOC-06', SBDH, 'EDIFACT as TextContent is delivered.', { document: 'edifact' }),
  accept('DOC-07', SBDH, 'X12 as BinaryContent is delivered.', { document: 'x12' }),
  accept('DOC-08', SBDH, 'A PDF as BinaryContent is delivered.', { document: 'pdf' }),
  accept('DOC-09', SBDH, 'An SBD in UTF-16 is delivered as it is.', {
    sbd: { xmlDeclaration: '<?xml version="1.0" encoding="UTF-16"?>' },
    octetsOf: (sbd) => Buffer.from(`\uFEFF${sbd}`, 'utf16le'),
    payload: { characterSet: 'UTF-16' },
  }),
  accept('DOC-10', SBDH, 'An SBD in UTF-8 with a byte order mark is delivered as it is.', {
    octetsOf: (sbd) => Buffer.from(`\uFEFF${sbd}`),
  }),
  accept('DOC-11', SBDH, 'An SBD in ISO-8859-1 that says so is delivered as it is.', {
    sbd: { xmlDeclaration: '<?xml version="1.0" encoding="ISO-8859-1"?>' },
    octetsOf: (sbd) => Buffer.from(sbd, 'latin1'),
  }),
  accept(
    'DOC-12',
    'SwA §5.4.2',
    'The digest of uncompressed XML is over its canonical form; its octets are delivered.',
    {
      payload: { compress: false },
      sbd: {
        xmlDeclaration: '<?xml version="1.0" encoding="UTF-8"?>\r\n',
        edit: (sbd) => sbd.replaceAll('\n', '\r\n').replace('<Scope>', '<Scope ><!-- a comment -->'),
      },
    },
  ),
  accept('DOC-13', 'SwA §5.4.2', 'Uncompressed XML in UTF-16BE is canonicalised as UTF-8.', {
    octetsOf: (sbd) => Buffer.from(`\uFEFF${sbd}`, 'utf16le').swap16(),
    payload: { compress: false },
  }),
  accept('DOC-14', 'SwA §5.4.2', 'Without EncryptedData/@MimeType the octets are digested.', {
    payload: { compress: false, encryptedMimeType: null },
  }),
  accept('DOC-15', 'SwA §5.4.2', 'text/plain is digested with CRLF.', {
    payload: { compress: false, encryptedMimeType: 'text/plain' },
  }),
  accept('DOC-16', 'eD §1.4.3.1', 'One part compressed and one not: CompressionType is a matter of each part.', () => ({
    more: [{ ...freshSlip(), compress: false }],
  })),
  accept('DOC-17', 'eD §1.4.4.6', 'The order of PartInfo counts, not that of the MIME parts.', () => ({
    more: [freshSlip()],
    mime: { partOrder: [1, 0] },
  })),
  accept('DOC-18', 'PAS4 §4.10', 'Chunked transfer coding is accepted.', {
    document: 'invoice',
    wire: { chunked: 1000 },
  }),
  accept('DOC-19', 'PAS4 §4.10', 'Chunked in single octets is accepted.', { wire: { chunked: 1 } }),
  accept('DOC-20', 'Peppol test bed', 'A document of 50 MB is delivered.', () => ({
    // The highest speed: the usual level would take seconds.
    ...compressedAs((content) => gzipSync(content, { level: 1 }), large(50 * MEGABYTE)),
    wire: { timeout: 240_000 },
  })),
  accept('DOC-21', 'Peppol test bed', 'A document of 5 MB is delivered, chunked.', {
    octetsOf: large(5 * MEGABYTE),
    wire: { chunked: 65_536 },
  }),
  accept(
    'DOC-22',
    'RFC 1952 §2.2',
    'gzip of several members is decompressed as a whole.',
    () =>
      compressedAs((content) => Buffer.concat([gzipSync(content.subarray(0, 500)), gzipSync(content.subarray(500))])),
    { basis: 'reading' },
  ),
  refuse('GZ-01', 'AS4 §3.1', 'What is said to be gzip and is not is refused.', '0303', () => ({
    payload: { octets: Buffer.from('not gzip'.repeat(20)) },
  })),
  refuse('GZ-02', 'AS4 §3.1', 'gzip that ends early is refused.', '0303', () =>
    compressedAs((content) => gzipSync(content).subarray(0, -40)),
  ),
  refuse(
    'GZ-03',
    'AS4 §3.1',
    'gzip with something behind it is refused.',
    '0303',
    () => compressedAs((content) => Buffer.concat([gzipSync(content), Buffer.from('more')])),
    { basis: 'reading' },
  ),
  refuse(
    'GZ-04',
    'AS4 §3.1; facts §7.4',
    'A gzip bomb (an order with 300 MB of blanks in 300 KB) is refused.',
    '0303',
    () => compressedAs((content) => bomb(content.toString(), 300)),
    { basis: 'reading' },
  ),
  refuse('GZ-05', 'AS4 §3.1', 'CompressionType other than application/gzip is refused.', '0003 0303', {
    payload: { compressionType: 'application/zip' },
  }),
];

/** Pings. */
export const PING_CASES: readonly Case[] = [
  accept(
    'PING-01',
    'Core §5.2.2.8, §5.1.1',
    'A ping as plain SOAP without message properties is answered and not delivered.',
    { document: null },
    { basis: 'reading' },
  ),
  accept(
    'PING-02',
    'Core §5.2.2.8, §5.1.1',
    'A ping as a multipart of one part is answered and not delivered.',
    {
      document: null,
      mime: { packaging: 'multipart' },
    },
    { basis: 'reading' },
  ),
  accept(
    'PING-03',
    'Core §5.2.2.8',
    'Whatever the action, the test service makes it a test.',
    {
      document: null,
      header: { action: `urn:example:${randomUUID()}` },
    },
    { basis: 'reading' },
  ),
  accept(
    'PING-04',
    'eD §1.4.2.4',
    'A ping that carries a document is answered and not delivered.',
    { header: { service: { value: TEST_SERVICE }, action: 'urn:example:anything' } },
    { delivered: 0 },
  ),
  refuse('PING-05', 'eD §1.4.2.4', 'A ping is secured like any message: a changed one is refused.', '0101', {
    document: null,
    editEnvelope: (xml) => xml.replace('</eb:ConversationId>', 'x</eb:ConversationId>'),
  }),
];

/** gzip of an order with so many megabytes of blanks in it; in members, so that nobody has to compress them all. */
function bomb(sbd: string, megabytes: number): Buffer {
  const at = sbd.indexOf('</Order>');
  const blanks = gzipSync(Buffer.alloc(MEGABYTE, ' '));
  return Buffer.concat([
    gzipSync(sbd.slice(0, at)),
    ...Array.from({ length: megabytes }, () => blanks),
    gzipSync(sbd.slice(at)),
  ]);
}
