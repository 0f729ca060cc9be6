import { EB, S12 } from '../ebms/namespaces.ts';
import { readSignalMessage, type SignalError } from '../ebms/signal-message.ts';
import { child, childrenNamed, type XmlElement } from '../xml/tree.ts';
import { printable } from './printable.ts';

/** What the log says of a Receipt or Error that somebody posted; nobody has verified it. */
export interface PostedSignal {
  readonly signalMessageId: string | undefined;
  readonly refToMessageId: string | undefined;
  readonly receipt: boolean;
  readonly errors: readonly Partial<Record<keyof SignalError, string>>[] | undefined;
}

const MOST_SIGNALS = 4;
const MOST_ERRORS = 8;

/**
 * Reads the signals out of an envelope that carries nothing else (see isPostedSignal), each value cut.
 * @param root which has exactly that form
 */
export function postedSignals(root: XmlElement): PostedSignal[] {
  const header = child(root, S12, 'Header');
  const messaging = header && child(header, EB, 'Messaging');
  const signals = messaging ? childrenNamed(messaging, EB, 'SignalMessage') : [];
  return signals
    .filter((signal) => child(signal, EB, 'Receipt') !== null || child(signal, EB, 'Error') !== null)
    .slice(0, MOST_SIGNALS)
    .map((element) => {
      const { messageId, refToMessageId, receipt, errors } = readSignalMessage(element);
      return {
        signalMessageId: shown(messageId),
        refToMessageId: shown(refToMessageId),
        receipt,
        errors: errors.length === 0 ? undefined : errors.slice(0, MOST_ERRORS).map(shownError),
      };
    });
}

function shown(value: string | null): string | undefined {
  return value === null ? undefined : printable(value.trim());
}

function shownError(error: SignalError): Partial<Record<keyof SignalError, string>> {
  const entries = Object.entries(error) as [keyof SignalError, string | null][];
  return Object.fromEntries(entries.flatMap(([key, value]) => (value === null ? [] : [[key, printable(value)]])));
}
