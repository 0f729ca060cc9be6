import { randomInt, randomUUID } from 'node:crypto';
import { type BusinessDocument, DOCUMENTS, readDocument } from '../fixtures/documents/documents.ts';
import { type SbdOptions, sbdText } from '../fixtures/documents/sbd.ts';
import { buildMessage } from '../fixtures/sender/build.ts';
import type { Signer } from '../fixtures/sender/keys.ts';
import type {
  BuiltMessage,
  HeaderOptions,
  MessageOptions,
  PayloadOptions,
  Property,
} from '../fixtures/sender/options.ts';
import type { Target } from './target/target.ts';
import type { WireOptions } from './wire/request.ts';

export type DocumentName = keyof typeof DOCUMENTS;
export type SenderName = 'sender' | 'sender2' | `bad:${string}`;

/** A message in terms of what is special about it; everything else is right, and fresh. */
export interface MessageSpec extends MessageOptions {
  /** Null: a ping, unless `payloads` are given. Default: the order. */
  readonly document?: DocumentName | null;
  readonly sbd?: Partial<SbdOptions>;
  /** About the part with the document. */
  readonly payload?: Partial<PayloadOptions>;
  /** Parts behind it. */
  readonly more?: readonly PayloadOptions[];
  /** The octets of the part with the document, made from the SBD. */
  readonly octetsOf?: (sbd: string) => Buffer;
  /** Who signs; default the sender. */
  readonly as?: SenderName;
  readonly wire?: WireOptions;
}

export interface MadeMessage extends BuiltMessage {
  /** As the backend must get them, in the order of PartInfo. */
  readonly payloads: readonly Buffer[];
  readonly wire: WireOptions;
}

/** The scheme of all participants. */
export const PARTICIPANT_SCHEME = 'iso6523-actorid-upis';

/** Makes a message for this target. @throws Error when the target has no such signer, or an edit changes nothing */
export function makeMessage(target: Target, spec: MessageSpec): MadeMessage {
  const document: BusinessDocument | null = spec.document === null ? null : DOCUMENTS[spec.document ?? 'order'];
  const payloads = spec.payloads ?? (document === null ? [] : documentPayloads(target, document, spec));
  const signer = spec.signature?.signer ?? signerOf(target, spec.as ?? 'sender');
  const message = buildMessage({
    ...spec,
    ...effectiveEdits(spec),
    header: { ...usualHeader(target, document), ...spec.header },
    payloads,
    signature: { ...spec.signature, signer },
    encryption: { recipient: target.receiver, ...spec.encryption },
  });
  return {
    ...message,
    payloads: payloads.filter(({ named }) => named !== false).map(({ content }) => content),
    wire: spec.wire ?? {},
  };
}

function documentPayloads(target: Target, document: BusinessDocument, spec: MessageSpec): PayloadOptions[] {
  const facts: SbdOptions = {
    instanceIdentifier: randomUUID(),
    created: new Date().toISOString(),
    sender: document.sender ?? target.participants.sender,
    receiver: document.receiver ?? target.participants.receiver,
    content: freshDocument(document),
    ...spec.sbd,
  };
  const sbd = sbdText(document, facts);
  if (facts.edit !== undefined && sbdText(document, { ...facts, edit: (text) => text }) === sbd) {
    throw new Error('an edit of the SBD changes nothing');
  }
  return [{ content: (spec.octetsOf ?? Buffer.from)(sbd), ...spec.payload }, ...(spec.more ?? [])];
}

/** The document; EDIFACT and X12 with control numbers of their own, or a second layer of duplicate detection would hold it back. */
export function freshDocument(document: BusinessDocument): Buffer {
  const octets = readDocument(document);
  if (document.file.endsWith('.edi')) {
    const reference = `ZT${randomInt(1e8, 1e9)}`.slice(0, 10);
    return Buffer.from(octets.toString('latin1').replaceAll('ZT26113001', reference), 'latin1');
  }
  if (document.file.endsWith('.x12')) {
    return Buffer.from(octets.toString('latin1').replaceAll('000000471', String(randomInt(1e8, 1e9))), 'latin1');
  }
  return octets;
}

/** A PDF that no other message has. */
export function freshSlip(): PayloadOptions {
  const content = Buffer.concat([readDocument(DOCUMENTS.pdf), Buffer.from(`\n%${randomUUID()}\n`)]);
  return { content, mimeType: 'application/pdf' };
}

function usualHeader({ participants }: Target, document: BusinessDocument | null): HeaderOptions {
  if (document === null) return {};
  return {
    service: { value: document.process, type: 'cenbii-procid-ubl' },
    action: `${document.typeScheme ?? 'busdox-docid-qns'}::${document.type}`,
    properties: fourCorners(document.sender ?? participants.sender, document.receiver ?? participants.receiver),
  };
}

/** originalSender and finalRecipient. */
export function fourCorners(sender: string, receiver: string): [Property, Property] {
  return [
    { name: 'originalSender', type: PARTICIPANT_SCHEME, value: sender },
    { name: 'finalRecipient', type: PARTICIPANT_SCHEME, value: receiver },
  ];
}

export function signerOf(target: Target, name: SenderName): Signer {
  const signer =
    name === 'sender' ? target.sender : name === 'sender2' ? target.sender2 : target.bad(name.slice('bad:'.length));
  if (signer === null) throw new Error(`no key for ${name}`);
  return signer;
}

type Edits = Pick<MessageOptions, 'editMessaging' | 'editSignedInfo' | 'editEnvelope'>;

/** The edits, each made to complain when it changes nothing: such a case would show nothing. */
function effectiveEdits(spec: MessageSpec): Edits {
  const edits: Record<string, (xml: string) => string> = {};
  for (const name of ['editMessaging', 'editSignedInfo', 'editEnvelope'] as const) {
    const edit = spec[name];
    if (edit === undefined) continue;
    edits[name] = (xml) => {
      const edited = edit(xml);
      if (edited === xml) throw new Error(`${name} changes nothing`);
      return edited;
    };
  }
  return edits as Edits;
}
