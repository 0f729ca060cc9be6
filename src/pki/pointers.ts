import { DerReader, TAG } from './der.ts';
import { PkiError } from './errors.ts';

const reader = new DerReader('bad-certificate', 'The certificate');
/** URI of a GeneralName, and the [0] tags of DistributionPoint and DistributionPointName (RFC 5280 §4.2.1.6, §4.2.1.13). */
const URI = 0x86;
const TAGGED = 0xa0;
const OCSP = '1.3.6.1.5.5.7.48.1';
/** A real certificate has one or two. */
const MAX_URLS = 4;

/** http(s) URLs of whole CRLs out of cRLDistributionPoints (RFC 5280 §4.2.1.13). Partitioned and indirect ones are left out. */
export function readCrlUrls(value: Buffer | undefined): readonly string[] {
  return tolerant(value, (extension) =>
    reader.inside(extension, TAG.sequence).flatMap((point) => {
      const [name, ...more] = reader.inside(point, TAG.sequence);
      if (name?.tag !== TAGGED || more.length > 0) return [];
      const [full] = reader.inside(name, TAGGED);
      return full?.tag === TAGGED ? reader.inside(full, TAGGED).flatMap(urlOf) : [];
    }),
  );
}

/** http(s) URLs of OCSP responders out of authorityInfoAccess (RFC 5280 §4.2.2.1). */
export function readOcspUrls(value: Buffer | undefined): readonly string[] {
  return tolerant(value, (extension) =>
    reader.inside(extension, TAG.sequence).flatMap((description) => {
      const [method, location] = reader.inside(description, TAG.sequence);
      return reader.oid(method) === OCSP && location !== undefined ? urlOf(location) : [];
    }),
  );
}

/** These extensions are hints; one that cannot be read gives none and does not make the certificate unusable. */
function tolerant(
  value: Buffer | undefined,
  read: (extension: ReturnType<DerReader['one']>) => string[],
): readonly string[] {
  if (value === undefined) return [];
  try {
    return read(reader.one(value)).slice(0, MAX_URLS);
  } catch (fault) {
    if (fault instanceof PkiError) return [];
    throw fault;
  }
}

function urlOf({ tag, content }: { readonly tag: number; readonly content: Buffer }): string[] {
  const text = content.toString('latin1');
  return tag === URI && /^https?:\/\//i.test(text) && URL.canParse(text) ? [text] : [];
}
