import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BusinessDocument, DOCUMENTS, readDocument } from '../../fixtures/documents/documents.ts';
import { sbdText } from '../../fixtures/documents/sbd.ts';
import { PARTICIPANTS } from '../../fixtures/sender/messaging.ts';

/** A message that no other message of the run resembles: fresh ids, and a document that carries a mark of its own. */
export interface Sample {
  readonly document: BusinessDocument;
  readonly messageId: string;
  /** InstanceIdentifier of the SBDH. */
  readonly instanceId: string;
  /** Occurs in the document, and in no other. */
  readonly mark: string;
  readonly content: Buffer;
  /** The document, and a ready StandardBusinessDocument with it, as files. */
  readonly documentFile: string;
  readonly sbdFile: string;
}

export type SampleKind = 'invoice' | 'edifact' | 'pdf';

/** What the documents of `fixtures/documents` say where the mark comes to stand. */
const PLACES = { invoice: 'ZT-2026-0471', edifact: 'ZT26113001', pdf: '%%EOF' } as const;

/** @param ballast octets of a comment that makes an invoice longer */
export function makeSample(directory: string, kind: SampleKind, ballast = 0): Sample {
  const document = DOCUMENTS[kind];
  const mark = `Q${randomUUID().replaceAll('-', '').slice(0, 9).toUpperCase()}`;
  const text = readDocument(document).toString('latin1');
  if (!text.includes(PLACES[kind])) throw new Error(`${document.file} has no ${PLACES[kind]}`);
  const marked = text.replaceAll(PLACES[kind], kind === 'pdf' ? `% ${mark}\n%%EOF` : mark);
  const content = Buffer.from(ballast === 0 ? marked : lengthen(marked, ballast), 'latin1');
  const instanceId = randomUUID();
  const file = (suffix: string) => join(directory, `${mark}${suffix}`);
  const sbd = sbdText(document, { instanceIdentifier: instanceId, created: new Date().toISOString(), content });
  writeFileSync(file('.document'), content);
  writeFileSync(file('.sbd.xml'), sbd);
  return {
    document,
    messageId: `${randomUUID()}@interop.quittance.test`,
    instanceId,
    mark,
    content,
    documentFile: file('.document'),
    sbdFile: file('.sbd.xml'),
  };
}

/** The same document in the same envelope, under another MessageId. */
export function underAnotherId(sample: Sample): Sample {
  return { ...sample, messageId: `${randomUUID()}@interop.quittance.test` };
}

/** What every driver must be told of a message. */
export function routing({ document, messageId, instanceId }: Sample): Record<string, string> {
  return {
    messageId,
    instanceId,
    from: PARTICIPANTS.sender,
    to: PARTICIPANTS.receiver,
    documentType: document.type,
    process: document.process,
  };
}

/** Text that gzip cannot make short, before the end tag. */
function lengthen(invoice: string, octets: number): string {
  let ballast = '';
  while (ballast.length < octets) ballast += `<!-- ${randomUUID()} -->\n`;
  return invoice.replace(/<\/Invoice>\s*$/, `${ballast}</Invoice>`);
}
