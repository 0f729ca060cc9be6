import { WRAPPER } from '../peppol/sbd-frame.ts';
import { SBDH } from '../peppol/sbdh.ts';
import { escapeAttribute, escapeText } from '../xml/escape.ts';

export interface SbdOptions {
  readonly sender: string;
  readonly receiver: string;
  readonly documentType: string;
  readonly process: string;
  readonly countryC1: string;
  readonly instanceIdentifier: string;
  readonly created: Date;
}

/**
 * The document inside a StandardBusinessDocument (Peppol Business Message Envelope 2.0.2).
 * XML goes in as it is, without its XML declaration; anything else goes into a BinaryContent.
 */
export function wrapInSbd(document: Buffer, o: SbdOptions): Buffer {
  const xml = document.subarray(0, 256).toString('utf8').trimStart().startsWith('<');
  const root = xml ? rootOf(document) : { namespace: WRAPPER, local: 'BinaryContent' };
  const scope = (type: string, value: string, scheme?: string) =>
    `<Scope><Type>${type}</Type><InstanceIdentifier>${escapeText(value)}</InstanceIdentifier>` +
    `${scheme ? `<Identifier>${escapeText(scheme)}</Identifier>` : ''}</Scope>`;
  const partner = (name: string, id: string) =>
    `<${name}><Identifier Authority="iso6523-actorid-upis">${escapeText(id)}</Identifier></${name}>`;
  const header =
    `<StandardBusinessDocumentHeader><HeaderVersion>1.0</HeaderVersion>${partner('Sender', o.sender)}${partner('Receiver', o.receiver)}` +
    `<DocumentIdentification><Standard>${escapeText(root.namespace)}</Standard><TypeVersion>2.1</TypeVersion>` +
    `<InstanceIdentifier>${escapeText(o.instanceIdentifier)}</InstanceIdentifier><Type>${escapeText(root.local)}</Type>` +
    `<CreationDateAndTime>${o.created.toISOString()}</CreationDateAndTime></DocumentIdentification>` +
    `<BusinessScope>${scope('DOCUMENTID', o.documentType, 'busdox-docid-qns')}${scope('PROCESSID', o.process, 'cenbii-procid-ubl')}` +
    `${scope('COUNTRY_C1', o.countryC1)}</BusinessScope></StandardBusinessDocumentHeader>`;
  const content = xml
    ? document.toString('utf8').replace(/^\uFEFF?\s*<\?xml[^>]*\?>\s*/, '')
    : `<BinaryContent xmlns="${WRAPPER}" mimeType="${escapeAttribute(mimeOf(document))}">${document.toString('base64')}</BinaryContent>`;
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?><StandardBusinessDocument xmlns="${SBDH}">${header}${content}</StandardBusinessDocument>`,
  );
}

/** True when the file already is an SBD and goes out as it is. */
export function isSbd(document: Buffer): boolean {
  return /<(?:[\w.-]+:)?StandardBusinessDocument[\s>]/.test(document.subarray(0, 2048).toString('utf8'));
}

function rootOf(document: Buffer): { namespace: string; local: string } {
  const tag = /<(?:([\w.-]+):)?([\w.-]+)((?:\s[^>]*)?)>/.exec(
    document
      .subarray(0, 8192)
      .toString('utf8')
      .replace(/<[?!][^>]*>/g, ''),
  );
  if (!tag) return { namespace: '', local: 'Document' };
  const declaration = tag[1] ? `xmlns:${tag[1]}` : 'xmlns';
  const namespace = new RegExp(`\\s${declaration}\\s*=\\s*["']([^"']*)["']`).exec(tag[3] ?? '');
  return { namespace: namespace?.[1] ?? '', local: tag[2] ?? 'Document' };
}

function mimeOf(document: Buffer): string {
  const head = document.subarray(0, 4).toString('latin1');
  if (head === '%PDF') return 'application/pdf';
  if (head.startsWith('UN')) return 'application/edifact';
  if (head.startsWith('ISA')) return 'application/edi-x12';
  return 'application/octet-stream';
}
