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

/** A media type without parameters, in lower case (`Application/EDIFACT; charset=x` is `application/edifact`). */
function bare(mimeType: string): string {
  return (mimeType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** The extension for a media type, without the dot. */
export function extensionOf(mimeType: string): string {
  const type = bare(mimeType);
  return extensions.get(type) ?? (type.endsWith('+xml') ? 'xml' : 'bin');
}

/** Whether a payload of this media type is XML and may hold a StandardBusinessDocument. */
export function isXml(mimeType: string): boolean {
  return extensionOf(mimeType) === 'xml';
}
