import type { SbdDocument } from './sbd.ts';

/** File extensions by media type of a Peppol wrapper; whatever the sender writes, only these come out. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/edifact': 'edi',
  'application/edi-x12': 'edi',
  'application/edi-consent': 'edi',
  'application/x12': 'edi',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'text/csv': 'csv',
  'text/plain': 'txt',
};

/** Media type to deliver with each extension. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  xml: 'application/xml',
  edi: 'application/EDIFACT',
  pdf: 'application/pdf',
  json: 'application/json',
  csv: 'text/csv',
  txt: 'text/plain',
  bin: 'application/octet-stream',
};

/**
 * Name and media type of the file that a business document is delivered as (architecture §4). XML in a wrapper is not called XML:
 * nobody has checked that it is well-formed.
 */
export function documentFile(document: Pick<SbdDocument, 'kind' | 'mimeType'>): {
  readonly name: string;
  readonly mime: string;
} {
  const type = document.mimeType?.split(';')[0]?.trim().toLowerCase() ?? '';
  const known = Object.hasOwn(EXTENSIONS, type) ? EXTENSIONS[type] : undefined;
  const extension = document.kind === 'xml' ? 'xml' : (known ?? (document.kind === 'text' ? 'txt' : 'bin'));
  const x12 = extension === 'edi' && type.includes('x12');
  return { name: `document.${extension}`, mime: x12 ? 'application/EDI-X12' : MEDIA_TYPES[extension]! };
}
