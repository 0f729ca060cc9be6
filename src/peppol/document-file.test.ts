import { describe, expect, it } from 'vitest';
import { documentFile, extensionOf } from './document-file.ts';

describe('the file of a business document', () => {
  it.each([
    ['xml', null, 'document.xml'],
    ['xml', 'application/pdf', 'document.xml'],
    ['text', 'Application/EDIFACT; charset=x', 'document.edi'],
    ['text', 'application/EDI-X12', 'document.edi'],
    ['text', 'text/html', 'document.txt'],
    ['text', 'text/xml', 'document.txt'],
    ['text', 'text/csv', 'document.csv'],
    ['text', null, 'document.txt'],
    ['binary', 'application/json', 'document.json'],
    ['binary', 'application/x-sh', 'document.bin'],
    ['binary', 'text/xml', 'document.bin'],
    ['binary', 'image/svg+xml', 'document.bin'],
    ['binary', '../../etc/passwd', 'document.bin'],
    ['binary', 'constructor', 'document.bin'],
    ['binary', null, 'document.bin'],
  ] as const)('of kind %s and type %s is %s', (kind, mimeType, name) => {
    expect(documentFile({ kind, mimeType }).name).toBe(name);
  });

  it.each([
    ['xml', 'application/pdf', 'application/xml'],
    ['text', 'Application/EDIFACT; charset=x', 'Application/EDIFACT; charset=x'],
    ['text', null, 'text/plain'],
    ['binary', null, 'application/octet-stream'],
  ] as const)('of kind %s and type %s is described as %s', (kind, mimeType, mime) => {
    expect(documentFile({ kind, mimeType }).mime).toBe(mime);
  });
});

it.each([
  ['Text/XML; charset=UTF-8', 'xml'],
  ['application/pdf', 'pdf'],
  ['__proto__', 'bin'],
])('a further payload of type %s has the extension %s', (mimeType, extension) => {
  expect(extensionOf(mimeType)).toBe(extension);
});
