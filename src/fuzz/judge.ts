import { isDeepStrictEqual } from 'node:util';
import { XmlDocument, type XmlElement } from 'libxml2-wasm';
import { canonicalForm, type DomNode, parseDom } from '../../fixtures/sender/canonical.ts';
import { judgeAnswer } from '../../fixtures/sender/judge-answer.ts';
import type { Answer } from '../exchange.ts';
import type { NewMessage } from '../store/types.ts';
import { libxml2Canonical } from '../xml/testing/oracle.ts';
import type { Case } from './cases.ts';
import type { Remains, Taken } from './world.ts';

/** What a receiver understood of a message: all that it stores, hands over or answers by. */
export interface Understood {
  readonly sender: string;
  readonly messageId: string;
  readonly purpose: string;
  readonly ebTimestampText: string;
  readonly routing: unknown;
  readonly interchanges: unknown;
  readonly payloads: readonly unknown[];
  /** eb:Messaging and the Body in the canonical form of libxml2, which shares no line with ours. */
  readonly canonical: readonly string[];
  /** The references that the receipt repeats. */
  readonly references: unknown;
}

export function understood(message: NewMessage): Understood {
  const { sender, messageId, purpose, ebTimestampText, routing, interchanges } = message;
  const payloads = message.payloads.map((payload) => {
    // Where the octets lie is not what they are.
    const { data: _, ...facts } = payload as typeof payload & { readonly data?: unknown };
    return { ...facts, sha256: Buffer.from(payload.sha256).toString('hex') };
  });
  const canonical = canonicalParts(message.envelope);
  const { references } = judgeAnswer(Buffer.from(message.receipt.body).toString('utf8'));
  return { sender, messageId, purpose, ebTimestampText, routing, interchanges, payloads, canonical, references };
}

/** libxml2 refuses namespace names that are no absolute URIs, also where nothing signed is in their scope: then xml-crypto reads. */
function canonicalParts(envelope: Uint8Array): string[] {
  const paths = ['/*/*[local-name()="Header"]/*[local-name()="Messaging"]', '/*/*[local-name()="Body"]'];
  try {
    return paths.map((path) => libxml2Canonical(envelope, path));
  } catch (error) {
    if (!/is not a valid URI|Failed to canonicalize/.test(String(error))) throw error;
    const root = parseDom(Buffer.from(envelope).toString('utf8')).documentElement;
    const [header, body] = elementsOf(root);
    const messaging = elementsOf(header).find(({ localName }) => localName === 'Messaging');
    if (messaging === undefined || body === undefined) throw error;
    return [messaging, body].map((element) => canonicalForm(element));
  }
}

function elementsOf(node: DomNode | undefined): DomNode[] {
  return Array.from(node?.childNodes ?? []).filter(({ attributes }) => attributes !== undefined);
}

export function isReceipt({ status, body }: Answer): boolean {
  return status === 200 && body !== null && Buffer.from(body).includes(':Receipt>');
}

/** What is wrong with the answer to a changed message; null when nothing is. `original`: what was understood of the seed. */
export function judge(c: Case, answer: Answer, taken: readonly Taken[], original: Understood | null): string | null {
  const text = answer.body === null ? '' : Buffer.from(answer.body).toString('utf8');
  if (answer.status >= 500) return `status ${answer.status}: ${text}`;
  if (!isReceipt(answer)) {
    if (taken.length > 0) return `stored without a receipt (status ${answer.status}): ${text.slice(0, 2000)}`;
    return text.includes('Envelope') ? judgeError(text) : null;
  }
  const [{ message } = { message: undefined }, ...more] = taken;
  if (message === undefined || more.length > 0) return `a receipt, and ${taken.length} messages stored`;
  let now: Understood;
  try {
    now = understood(message);
  } catch (error) {
    return `a receipt for what another reader cannot read: ${error}`;
  }
  if (!Buffer.from(message.receipt.body).equals(Buffer.from(answer.body ?? [])))
    return 'another receipt than the stored one';
  if (c.seed !== null) return judgeUnsigned(now, original);
  return judgeSigned(c, now, text);
}

/**
 * What is wrong with what a receiver leaves when it has ended.
 * @param given the receipts that it gave, and the MessageIds among them that belong into the folder
 */
export function judgeRemains(
  { messages, held, spooled, delivered }: Remains,
  given: { readonly receipts: number; readonly toDeliver: readonly string[] },
): string[] {
  const [there, wanted] = [[...delivered].sort(), [...given.toDeliver].sort()];
  const without = there.filter((id) => !wanted.includes(id));
  const lost = wanted.filter((id) => !there.includes(id));
  return [
    ...(messages === given.receipts ? [] : [`${messages} messages stored, ${given.receipts} receipts given`]),
    ...(held === 0 ? [] : [`${held} messages held`]),
    ...(spooled === 0 ? [] : [`${spooled} files left in the spool`]),
    ...(isDeepStrictEqual(there, wanted)
      ? []
      : [`in the folder without a receipt: ${without}; not in the folder: ${lost}; of ${there.length} entries`]),
  ];
}

/** Our own error must be XML, whatever it quotes. */
function judgeError(text: string): string | null {
  try {
    XmlDocument.fromString(text).dispose();
  } catch (error) {
    return `an answer that is no XML: ${error}`;
  }
  return /<eb:Error /.test(text) ? null : 'a signal that is neither a receipt nor an error';
}

/** A receipt for a message that was changed on the way: only what no signature covers may have changed. */
function judgeUnsigned(now: Understood, original: Understood | null): string | null {
  for (const key of Object.keys(now) as (keyof Understood)[]) {
    if (!isDeepStrictEqual(now[key], original?.[key]))
      return `a receipt, but ${key} is not as signed: ${JSON.stringify(now[key])}`;
  }
  return null;
}

/** A receipt for a message of a participant's own making: what was understood is what was signed. */
function judgeSigned({ signed }: Case, now: Understood, receipt: string): string | null {
  const [messaging = ''] = now.canonical;
  const id = textOf(messaging, '//*[local-name()="MessageId"]');
  if (id !== now.messageId) return `understood the MessageId ${now.messageId}, libxml2 reads ${id}`;
  if (!receipt.includes(':RefToMessageId>')) return 'a receipt that names no message';
  if (signed?.references !== null && !isDeepStrictEqual(now.references, signed?.references))
    return `a receipt for other references: ${JSON.stringify(now.references)}`;
  const [payload] = now.payloads as readonly { readonly sha256: string }[];
  if (payload !== undefined && payload.sha256 !== signed?.payload) return 'another payload than the one that was sent';
  return judgeChangedPayload(signed?.before ?? null);
}

/** The payload was changed behind the signature: a receipt is right only when its canonical form is still the same. */
function judgeChangedPayload(before: NonNullable<Case['signed']>['before']): string | null {
  if (before === null || before.octets.equals(before.after)) return null;
  if (before.isXml) {
    const [was, is] = [before.octets, before.after].map((octets) => libxml2Canonical(octets, '/*'));
    return was === is ? null : 'a receipt for another payload than the signed one';
  }
  const lines = (octets: Buffer) => octets.toString('latin1').replace(/\r\n?|\n/g, '\n');
  return lines(before.octets) === lines(before.after) ? null : 'a receipt for another payload than the signed one';
}

function textOf(xml: string, path: string): string | undefined {
  const document = XmlDocument.fromString(xml);
  try {
    return (document.get(path) as XmlElement | null)?.content;
  } finally {
    document.dispose();
  }
}
