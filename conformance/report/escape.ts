/** Text for XML and HTML, in elements and in attributes; control characters, which neither may have, become a sign. */
export function escapeMarkup(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
