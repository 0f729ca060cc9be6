import { describe, expect, it } from 'vitest';
import { documentFile } from './document-file.ts';

describe('documentFile', () => {
  it.each([
    ['xml', null, 'document.xml'],
    ['xml', 'application/pdf', 'document.xml'],
    ['text', 'Application/EDIFACT; charset=x', 'document.edi'],
    ['text', 'application/EDI-X12', 'document.edi'],
    ['text', 'text/html', 'document.txt'],
    ['text', 'text/csv', 'document.csv'],
    ['binary', 'application/json', 'document.json'],
    ['binary', 'application/x-sh', 'document.bin'],
    ['binary', 'text/xml', 'document.bin'],
    ['binary', '../../etc/passwd', 'document.bin'],
    ['binary', 'constructor', 'document.bin'],
    ['binary', null, 'document.bin'],
  ] as const)('names a document of kind %s and type %s %s', (kind, mimeType, name) => {
    expect(documentFile({ kind, mimeType }).name).toBe(name);
  });
});
