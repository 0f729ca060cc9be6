import type { SbdDocument } from './sbd.ts';

/** File extensions by media type. What is not here is `.bin`: the sender's words never become part of a name. */
const extensions: ReadonlyMap<string, string> = new Map([
  ['application/xml', 'xml'],
  ['text/xml', 'xml'],
  ['application/edifact', 'edi'],
  ['application/edi-x12', 'edi'],
  ['application/edi-consent', 'edi'],
  ['application/x12', 'edi'],
  ['application/pdf', 'pdf'],
  ['application/json', 'json'],
  ['application/zip', 'zip'],
  ['application/gzip', 'gz'],
  ['application/vnd.etsi.asic-e+zip', 'asice'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['application/vnd.oasis.opendocument.spreadsheet', 'ods'],
  ['image/jpeg', 'jpg'],
  ['image/png', 'png'],
  ['image/tiff', 'tiff'],
  ['text/csv', 'csv'],
  ['text/plain', 'txt'],
]);

const octets = 'application/octet-stream';

/** A media type without parameters, in lower case (`Application/EDIFACT; charset=x` is `application/edifact`). */
function bare(mimeType: string): string {
  return (mimeType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** The extension for a media type, without the dot. */
export function extensionOf(mimeType: string): string {
  const type = bare(mimeType);
  return extensions.get(type) ?? (type.endsWith('+xml') ? 'xml' : 'bin');
}

/**
 * Name and media type of the file that the business document is delivered as (architecture §4). `xml` is what the reader has found to
 * be well-formed; XML in a wrapper is not called XML: nobody has looked.
 */
export function documentFile({ kind, mimeType }: Pick<SbdDocument, 'kind' | 'mimeType'>): {
  readonly name: string;
  readonly mime: string;
} {
  if (kind === 'xml') return { name: 'document.xml', mime: 'application/xml' };
  const unknown = kind === 'text' ? { extension: 'txt', mime: 'text/plain' } : { extension: 'bin', mime: octets };
  const known = mimeType === null ? 'bin' : extensionOf(mimeType);
  const extension = known === 'xml' || known === 'bin' ? unknown.extension : known;
  return { name: `document.${extension}`, mime: mimeType ?? unknown.mime };
}
