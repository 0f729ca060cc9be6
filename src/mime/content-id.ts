/** The id inside a Content-ID header; without the angle brackets that RFC 2392 §2 wants and some products leave out. Null when empty. */
export function parseContentId(header: string | undefined): string | null {
  if (header === undefined) return null;
  const value = header.trim();
  const id = value.startsWith('<') && value.endsWith('>') ? value.slice(1, -1).trim() : value;
  return id === '' ? null : id;
}

/**
 * Which Content-ID a `cid:` URL means (RFC 2392; facts §5.2): the one that is equal as written, else the one that is equal after
 * percent-decoding. `+` is no blank.
 * @param ids Content-IDs without angle brackets
 * @returns null when there is none, 'ambiguous' when both spellings name a part of their own or an id is there twice
 */
export function findContentId(href: string, ids: Iterable<string>): string | null | 'ambiguous' {
  if (href.slice(0, 4).toLowerCase() !== 'cid:') return null;
  const written = href.slice(4);
  const decoded = percentDecoded(written);
  let found: string | null = null;
  for (const id of ids) {
    if (id !== written && id !== decoded) continue;
    if (found !== null) return 'ambiguous';
    found = id;
  }
  return found;
}

function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not percent-encoding at all: only the exact spelling can match
  }
}
