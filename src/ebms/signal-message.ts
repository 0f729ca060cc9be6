import { As4Error } from '../as4-error.ts';
import { attribute, child, childrenNamed, is, text, type XmlElement } from '../xml/tree.ts';
import { invalidHeader } from './cursor.ts';
import { EB, S12 } from './namespaces.ts';

/** eb:Error of a signal that somebody posted to us: for the log. */
export interface SignalError {
  readonly errorCode: string | null;
  readonly severity: string | null;
  readonly description: string | null;
  readonly errorDetail: string | null;
}

/** eb:SignalMessage as far as a receiver cares: it is logged and answered with nothing (architecture §5). */
export interface SignalMessage {
  readonly messageId: string | null;
  readonly refToMessageId: string | null;
  readonly receipt: boolean;
  readonly errors: readonly SignalError[];
}

/**
 * Reads a signal leniently: whatever is wrong inside a Receipt or an Error, it must not provoke an answer.
 * @throws {As4Error} EBMS:0008 for a PullRequest or a signal of another kind, 0009 when it signals nothing
 */
export function readSignalMessage(element: XmlElement): SignalMessage {
  const receipt = child(element, EB, 'Receipt') !== null;
  const errors = childrenNamed(element, EB, 'Error').map(readError);
  if (!receipt && errors.length === 0) {
    const other = element.children.find((node) => typeof node !== 'string' && !is(node, EB, 'MessageInfo'));
    if (other === undefined) throw invalidHeader('eb:SignalMessage contains no signal');
    throw new As4Error(
      'EBMS:0008',
      'this receiver takes pushed user messages only; PullRequest and other signals are not supported',
      {
        reason: 'unsupported-signal',
      },
    );
  }
  const info = child(element, EB, 'MessageInfo');
  return {
    messageId: info && textOf(info, 'MessageId'),
    refToMessageId: info && textOf(info, 'RefToMessageId'),
    receipt,
    errors,
  };
}

/**
 * Whether an envelope, verified or not, carries nothing but a Receipt or Error signal. Asked before authentication: not even a
 * missing signature may be answered with an error then.
 */
export function isPostedSignal(root: XmlElement): boolean {
  const header = is(root, S12, 'Envelope') ? child(root, S12, 'Header') : null;
  const messaging = header && child(header, EB, 'Messaging');
  if (messaging === null || child(messaging, EB, 'UserMessage') !== null) return false;
  return childrenNamed(messaging, EB, 'SignalMessage').some(
    (signal) => child(signal, EB, 'Receipt') !== null || child(signal, EB, 'Error') !== null,
  );
}

function readError(element: XmlElement): SignalError {
  return {
    errorCode: attribute(element, 'errorCode') ?? null,
    severity: attribute(element, 'severity') ?? null,
    description: textOf(element, 'Description'),
    errorDetail: textOf(element, 'ErrorDetail'),
  };
}

function textOf(parent: XmlElement, local: string): string | null {
  const found = child(parent, EB, local);
  return found && text(found);
}
