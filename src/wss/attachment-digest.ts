import { createHash } from 'node:crypto';
import { canonicalizeStream } from '../xml/c14n-stream.ts';
import { XmlError } from '../xml/xml-error.ts';
import { Channel } from './channel.ts';

/** How the content of a signed part is brought into canonical form before it is hashed (SwA §5.4.2). */
export type DigestForm =
  | { readonly kind: 'raw' }
  | { readonly kind: 'text' }
  | { readonly kind: 'xml'; readonly charset: string | undefined };

/** Takes the octets of one part, in order, and gives the digest that its ds:Reference must have. */
export interface AttachmentDigest {
  /** Hashes a chunk; a promise only when the caller should wait before it gives more. */
  push(chunk: Buffer): void | Promise<void>;
  /** null: there is no canonical form, so no digest can match. */
  end(): Promise<AttachmentDigestResult>;
}

export interface AttachmentDigestResult {
  readonly digest: Buffer | null;
  /** Why there is none. */
  readonly cause: unknown;
}

/** Octets of an XML part that is canonicalised; raw parts have no such limit. */
export const MAX_XML_BYTES = 20 * 1024 * 1024;

const XML_TYPE = /^(?:text\/xml|application\/xml|(?:application|image)\/[^;\s]+\+xml)\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]+))/i;

/** The form that a media type asks for; `EncryptedData/@MimeType` decides, and without it the octets are taken as they are. */
export function digestForm(mimeType: string | null): DigestForm {
  const type = mimeType?.trim() ?? '';
  if (XML_TYPE.test(type)) {
    const charset = CHARSET.exec(type);
    return { kind: 'xml', charset: charset?.[1] ?? charset?.[2] };
  }
  return { kind: /^text\//i.test(type) ? 'text' : 'raw' };
}

/** A digest for a part of this form. */
export function attachmentDigest(form: DigestForm, maxXmlBytes: number = MAX_XML_BYTES): AttachmentDigest {
  if (form.kind === 'xml') return new XmlDigest(form.charset, maxXmlBytes);
  return form.kind === 'text' ? new TextDigest() : new RawDigest();
}

class RawDigest implements AttachmentDigest {
  readonly #hash = createHash('sha256');

  push(chunk: Buffer): void {
    this.#hash.update(chunk);
  }

  async end(): Promise<AttachmentDigestResult> {
    return { digest: this.#hash.digest(), cause: undefined };
  }
}

const CR = 0x0d;
const LF = 0x0a;
const CRLF = Buffer.from('\r\n');

/** Line ends of any kind become CRLF (RFC 2046 §4.1.1, which SwA §5.4.2 refers to). */
class TextDigest implements AttachmentDigest {
  readonly #hash = createHash('sha256');
  #afterCr = false;

  push(chunk: Buffer): void {
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      const octet = chunk[i];
      if (octet === CR || (octet === LF && !this.#afterCr)) {
        this.#hash.update(chunk.subarray(from, i)).update(CRLF);
        from = i + 1;
      } else if (octet === LF) from = i + 1; // the CR before it has given the CRLF
      this.#afterCr = octet === CR;
    }
    this.#hash.update(chunk.subarray(from));
  }

  async end(): Promise<AttachmentDigestResult> {
    return { digest: this.#hash.digest(), cause: undefined };
  }
}

/** Exclusive C14N without comments, as a stream; XML that cannot be read has no digest (and so fails as a wrong one). */
class XmlDigest implements AttachmentDigest {
  readonly #channel = new Channel();
  readonly #result: Promise<AttachmentDigestResult>;

  constructor(charset: string | undefined, maxBytes: number) {
    this.#result = this.#run(charset, maxBytes);
    // It may fail long before end() is called and hands the error on.
    this.#result.catch(() => {});
  }

  push(chunk: Buffer): void | Promise<void> {
    return this.#channel.put(chunk);
  }

  end(): Promise<AttachmentDigestResult> {
    this.#channel.close();
    return this.#result;
  }

  async #run(charset: string | undefined, maxBytes: number): Promise<AttachmentDigestResult> {
    const hash = createHash('sha256');
    try {
      const options = charset === undefined ? { maxBytes } : { maxBytes, charset };
      for await (const text of canonicalizeStream(this.#channel, options)) hash.update(text, 'utf8');
      return { digest: hash.digest(), cause: undefined };
    } catch (cause) {
      if (!(cause instanceof XmlError)) throw cause;
      return { digest: null, cause };
    } finally {
      this.#channel.stop();
    }
  }
}
