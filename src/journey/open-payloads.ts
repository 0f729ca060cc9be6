import { As4Error } from '../as4-error.ts';
import { findContentId } from '../mime/content-id.ts';
import type { CoveredPart } from '../peppol/coverage.ts';
import type { Identity } from '../pki/identity.ts';
import type { Spool, SpoolSink } from '../spool.ts';
import { unwrapKeys } from '../wss/content-keys.ts';
import { type OpenOptions, openBuffer, openPart } from '../wss/open.ts';
import type { VerifiedEnvelope, VerifiedReference } from '../wss/verify.ts';
import { printable } from './printable.ts';
import type { AnyPart, Packaging } from './read-body.ts';

/** One payload as its sender signed it: decrypted, verified, still compressed. */
export interface OpenedPayload {
  readonly part: CoveredPart;
  readonly sha256: Buffer;
  readonly bytes: number;
  readonly data: Buffer | { readonly file: string };
}

export interface OpenedPayloads {
  /** In PartInfo order, whatever order they arrived in (facts §3.3). */
  readonly payloads: readonly OpenedPayload[];
  readonly warnings: readonly string[];
  /** The payloads as the store takes them: large ones in a file. Called once the message is known to be good; the others cost no file. */
  settle(): Promise<readonly OpenedPayload[]>;
  /** Removes spooled files that the store has not taken. */
  discard(): void;
}

/**
 * Decrypts the parts that PartInfo names and compares each with its signed digest (architecture §2.7). Parts are matched by href,
 * never by order; a part that no PartInfo names is thrown away.
 * @throws As4Error EBMS:0007 when a part is missing or two could be meant, 0101, 0102, 0103; MimeError
 */
export async function openPayloads(
  packaging: Packaging,
  parts: readonly CoveredPart[],
  envelope: VerifiedEnvelope,
  identity: Identity,
  spool: Spool,
  options: OpenOptions,
): Promise<OpenedPayloads> {
  const keys = await unwrapKeys(
    envelope.encryption,
    parts.map((part) => part.href),
    identity,
  );
  // Coverage has been checked: each part has its signed reference.
  const referenceOf = (part: CoveredPart) => envelope.attachments.get(part.href) as VerifiedReference;
  const sinks: SpoolSink[] = [];
  const discard = () => {
    for (const sink of sinks) sink.discard();
  };
  const newSink = () => {
    const sink = spool.sink();
    sinks.push(sink);
    return sink;
  };
  const opened = new Map<CoveredPart, OpenedPayload>();
  const warnings: string[] = [];
  try {
    for await (const mime of packaging.parts) {
      const part = partOf(mime, parts);
      if (part === null) {
        warnings.push(
          `A MIME part that no PartInfo names was thrown away (Content-ID ${mime.contentId === null ? 'absent' : printable(mime.contentId)})`,
        );
        continue;
      }
      if (opened.has(part)) throw ambiguous(part);
      if (Buffer.isBuffer(mime.body)) {
        const { plain, ...seal } = await openBuffer(mime.body, part.href, keys, referenceOf(part), options);
        opened.set(part, { part, ...seal, data: plain });
        continue;
      }
      // Goes to the sink before its tag is known (see openPart).
      const sink = newSink();
      const write = (chunk: Buffer) => sink.write(chunk);
      const seal = await openPart(mime.body, part.href, keys, referenceOf(part), write, options);
      opened.set(part, { part, ...seal, data: sink.finish() });
    }
    const payloads = parts.map((part) => opened.get(part) ?? missing(part));
    const settle = async () => {
      const all: OpenedPayload[] = [];
      // One after the other: when one fails, `discard` must not close what another one still writes to.
      for (const payload of payloads) all.push(await settled(payload, newSink));
      return all;
    };
    return { payloads, warnings, settle, discard };
  } catch (error) {
    discard();
    throw error;
  }
}

async function settled(payload: OpenedPayload, newSink: () => SpoolSink): Promise<OpenedPayload> {
  if (!Buffer.isBuffer(payload.data)) return payload;
  const sink = newSink();
  const written = sink.write(payload.data);
  if (written !== undefined) await written;
  return { ...payload, data: sink.finish() };
}

function partOf(mime: AnyPart, parts: readonly CoveredPart[]): CoveredPart | null {
  if (mime.contentId === null) return null;
  const ids = [mime.contentId];
  const exact = parts.find((part) => part.href === `cid:${mime.contentId}`);
  if (exact) return exact;
  const found = parts.filter((part) => findContentId(part.href, ids) === mime.contentId);
  if (found.length > 1) throw ambiguous(found[0] as CoveredPart);
  return found[0] ?? null;
}

function ambiguous(part: CoveredPart): As4Error {
  return new As4Error('EBMS:0007', `More than one MIME part could be meant by ${JSON.stringify(part.href)}`, {
    reason: 'ambiguous-part',
  });
}

function missing(part: CoveredPart): never {
  throw new As4Error('EBMS:0007', `The MIME part that PartInfo ${JSON.stringify(part.href)} names is missing`, {
    reason: 'missing-part',
  });
}
