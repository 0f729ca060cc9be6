import { createDecipheriv, createHash, type DecipherGCM, hash as hashOf } from 'node:crypto';
import { As4Error } from '../as4-error.ts';
import { quoted } from './algorithms.ts';
import { type AttachmentDigestResult, attachmentDigest, digestForm } from './attachment-digest.ts';
import type { ContentKey, ContentKeys } from './content-keys.ts';
import type { VerifiedReference } from './verify.ts';

export interface OpenOptions {
  /** Octets of an XML part whose canonical form must be computed; default 20 MB. */
  readonly maxXmlBytes?: number;
}

/** What was opened: octets and SHA-256 of the plaintext as it is, not of its canonical form. */
export interface OpenedPart {
  readonly bytes: number;
  readonly sha256: Buffer;
}

/**
 * Decrypts one part as a stream (IV ‖ ciphertext ‖ tag, XMLENC 1.1 §5.2.4) and compares the digest of the plaintext with the signed one.
 *
 * The sink gets plaintext *before* the tag is checked: what it writes may count only after this has returned. Should the sink throw
 * (a damaged gzip, say), the rest is still read, because a wrong tag or digest is the better reason and must look the same whatever the
 * garbage was; only when both are right the sink's error goes on.
 * @throws As4Error EBMS:0102 when key, ciphertext or tag is wrong; EBMS:0101 when the digest does not match; errors of `body` and sink
 */
export async function openPart(
  body: AsyncIterable<Buffer>,
  cid: string,
  keys: ContentKeys,
  reference: VerifiedReference,
  sink: (chunk: Buffer) => void | Promise<void>,
  options: OpenOptions = {},
): Promise<OpenedPart> {
  const content = keyOf(keys, cid);
  const { cipher, ivBytes, tagBytes } = content.part.method;
  const form = digestForm(content.part.mimeType);
  const digest = attachmentDigest(form, options.maxXmlBytes);
  // For a raw part the signed digest is the plaintext's own.
  const own = form.kind === 'raw' ? null : createHash('sha256');
  let bytes = 0;
  let sinkError: { readonly error: unknown } | null = null;
  const take = async (chunk: Buffer): Promise<void> => {
    bytes += chunk.length;
    own?.update(chunk);
    const room = digest.push(chunk);
    if (room !== undefined) await room;
    if (sinkError !== null) return;
    try {
      const written = sink(chunk);
      if (written !== undefined) await written;
    } catch (error) {
      sinkError = { error };
    }
  };

  let decipher: DecipherGCM | null = null;
  let held: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of body) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      if (decipher === null) {
        if (held.length < ivBytes) continue;
        decipher = createDecipheriv(cipher, content.key, held.subarray(0, ivBytes), { authTagLength: tagBytes });
        held = held.subarray(ivBytes);
      }
      // The last octets may be the tag.
      if (held.length <= tagBytes) continue;
      const plain = decipher.update(held.subarray(0, held.length - tagBytes));
      held = Buffer.from(held.subarray(held.length - tagBytes));
      await take(plain);
    }
  } catch (error) {
    await digest.end();
    throw error;
  }
  const signed = await digest.end();
  if (decipher === null || held.length !== tagBytes) throw notDecrypted();
  try {
    decipher.setAuthTag(held);
    decipher.final();
  } catch (cause) {
    throw notDecrypted(cause);
  }
  compare(signed, reference);
  if (sinkError !== null) throw (sinkError as { readonly error: unknown }).error;
  return { bytes, sha256: own === null ? signed.digest! : own.digest() };
}

/**
 * {@link openPart} for a part that is in memory as a whole; nothing comes out before tag and digest have been checked.
 * @throws As4Error EBMS:0102, EBMS:0101
 */
export async function openBuffer(
  body: Buffer,
  cid: string,
  keys: ContentKeys,
  reference: VerifiedReference,
  options: OpenOptions = {},
): Promise<OpenedPart & { readonly plain: Buffer }> {
  const { key, part } = keyOf(keys, cid);
  const { cipher, ivBytes, tagBytes } = part.method;
  if (body.length < ivBytes + tagBytes) throw notDecrypted();
  const decipher = createDecipheriv(cipher, key, body.subarray(0, ivBytes), { authTagLength: tagBytes });
  decipher.setAuthTag(body.subarray(body.length - tagBytes));
  const plain = decipher.update(body.subarray(ivBytes, body.length - tagBytes));
  try {
    decipher.final();
  } catch (cause) {
    throw notDecrypted(cause);
  }
  const sha256 = hashOf('sha256', plain, 'buffer');
  const form = digestForm(part.mimeType);
  if (form.kind === 'raw') {
    compare({ digest: sha256, cause: undefined }, reference);
  } else {
    const digest = attachmentDigest(form, options.maxXmlBytes);
    await digest.push(plain);
    compare(await digest.end(), reference);
  }
  return { bytes: plain.length, sha256, plain };
}

function keyOf(keys: ContentKeys, cid: string): ContentKey {
  const key = keys.get(cid);
  if (key === undefined) throw new Error(`no content key was unwrapped for ${cid}`);
  return key;
}

function compare({ digest, cause }: AttachmentDigestResult, reference: VerifiedReference): void {
  if (digest?.equals(reference.digest) === true) return;
  const why = digest === null ? '; it is said to be XML, but no canonical form of it can be made' : '';
  throw new As4Error('EBMS:0101', `The digest of the attachment ${quoted(reference.uri)} does not match${why}`, {
    reason: 'attachment-digest-mismatch',
    cause,
  });
}

/** One text and one reason for whatever went wrong (no oracle). */
function notDecrypted(cause?: unknown): As4Error {
  return new As4Error('EBMS:0102', 'The payload cannot be decrypted: its wrapped key, ciphertext or tag is wrong', {
    reason: 'not-decrypted',
    cause,
  });
}
