const WHITE_SPACE = /[ \t\r\n]/;
const WHITE_SPACE_ALL = /[ \t\r\n]+/g;

/**
 * Decodes xsd:base64Binary. White space may be anywhere, also carriage returns that came as `&#xD;`; apart from that it is strict
 * (alphabet, padding, unused bits), because Node's own decoder skips whatever it does not know.
 * @returns null when it is not base64 or is empty
 */
export function decodeBase64(value: string | null | undefined): Buffer | null {
  if (value === null || value === undefined) return null;
  const packed = WHITE_SPACE.test(value) ? value.replace(WHITE_SPACE_ALL, '') : value;
  if (packed === '' || packed.length % 4 !== 0) return null;
  const bytes = Buffer.from(packed, 'base64');
  return bytes.toString('base64') === packed ? bytes : null;
}
