import { chmodSync, chownSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Checkpoint } from '../checkpoint.ts';
import { documentFile, extensionOf } from '../peppol/document-file.ts';
import { type Sbd, SbdReader } from '../peppol/sbd.ts';
import { syncDirectory } from '../store/durable-directory.ts';
import type { HandOver, StoredPayload } from '../store/types.ts';
import { type MetadataFile, metadataOf } from './metadata.ts';
import { payloadContent } from './payload-content.ts';
import type { StageJob } from './protocol.ts';
import { type Ownership, StagedFile } from './staged-file.ts';

export interface StageOptions {
  readonly staging: string;
  readonly own: Ownership;
  readonly checkpoint: Checkpoint;
  /** Called now and then, so that slow can be told from hung. */
  readonly progress: () => void;
}

/** A large document has this name until its end shows its kind. */
const unnamed = 'document.part';

/**
 * Writes the directory of one hand-over into staging, complete and durable but for staging's own entry (architecture §4).
 * @throws the folder's troubles as the file system says them; anything else is the message's own
 */
export async function stage(job: StageJob, o: StageOptions): Promise<void> {
  const { handOver, directory } = job;
  const path = makeDirectory(join(o.staging, directory), o.own);
  const files: MetadataFile[] = [];
  for (const payload of handOver.payloads) {
    files.push(...(await stagePayload(path, payload, handOver, o)));
    o.progress();
  }
  o.checkpoint('staging-half');
  const metadata = new StagedFile(join(path, 'metadata.json'), o.own);
  metadata.write(Buffer.from(`${JSON.stringify(metadataOf(handOver, files), null, 2)}\n`));
  metadata.finish();
  syncDirectory(path);
  o.progress();
}

function makeDirectory(path: string, own: Ownership): string {
  const mode = own.mode ?? 0o777;
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    // What a failed attempt left there is not known to be whole.
    rmSync(path, { recursive: true });
    mkdirSync(path, mode);
  }
  if (own.gid !== null) chownSync(path, process.geteuid?.() ?? 0, own.gid);
  if (own.mode !== null && (own.mode & own.umask) !== 0) chmodSync(path, own.mode);
  return path;
}

async function stagePayload(
  path: string,
  payload: StoredPayload,
  handOver: HandOver,
  o: StageOptions,
): Promise<MetadataFile[]> {
  const part = payload.ordinal + 1;
  const stem = handOver.payloads.length === 1 ? 'payload' : `payload-${part}`;
  // The receipt says that the first part was read as an SBD, whatever type the sender gives it. The others are adjuncts.
  const name = `${stem}.${part === 1 ? 'xml' : extensionOf(payload.mimeType)}`;
  const content = payloadContent(payload);
  const file = new StagedFile(join(path, name), o.own);
  const document = part === 1 ? new DocumentFile(path, payload, o.own) : null;
  const push = (chunk: Uint8Array): void => {
    file.write(chunk);
    document?.push(chunk);
  };
  try {
    if (content instanceof Uint8Array) push(content);
    else {
      for await (const chunk of content) {
        push(chunk);
        o.progress();
      }
    }
  } catch (error) {
    file.abandon();
    document?.abandon();
    throw error;
  }
  const written = file.finish();
  const described: MetadataFile = {
    name,
    role: 'payload',
    mime: payload.mimeType,
    ...written,
    part,
    href: payload.href,
    characterSet: payload.characterSet,
    // Compression is between the access points (eDelivery AS4 §1.4.3.1): the file is not compressed any more.
    properties: payload.properties.filter(({ name }) => name !== 'CompressionType'),
    signedSha256: Buffer.from(payload.sha256).toString('hex'),
  };
  return document === null ? [described] : [described, document.finish(part)];
}

/** The business document, taken out of the payload as that passes by. */
class DocumentFile {
  readonly #directory: string;
  readonly #file: StagedFile;
  readonly #reader: SbdReader;

  constructor(directory: string, payload: StoredPayload, own: Ownership) {
    this.#directory = directory;
    this.#file = new StagedFile(join(directory, unnamed), own);
    this.#reader = new SbdReader({
      // The receiver took the message: nothing is refused here for its form.
      mode: 'report',
      standalone: true,
      ...(payload.characterSet === null ? {} : { charset: payload.characterSet }),
      onDocument: (chunk) => this.#file.write(chunk),
    });
  }

  push(chunk: Uint8Array): void {
    this.#reader.push(chunk);
  }

  finish(part: number): MetadataFile {
    let sbd: Sbd;
    try {
      sbd = this.#reader.end();
    } catch (error) {
      this.abandon();
      throw error;
    }
    const { name, mime } = documentFile(sbd.document);
    const written = this.#file.finish(join(this.#directory, name));
    return { name, role: 'document', mime, ...written, part };
  }

  abandon(): void {
    this.#file.abandon();
  }
}
