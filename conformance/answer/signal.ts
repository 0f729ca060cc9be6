import type { SignedReference } from '../../fixtures/sender/options.ts';
import { type CanonicalElement, childNamed, childrenNamed } from './canonical-tree.ts';
import { NS } from './namespaces.ts';

/** One eb:Error. */
export interface SignalError {
  readonly code: string | null;
  readonly severity: string | null;
  readonly refToMessageInError: string | null;
  readonly description: string | null;
  readonly detail: string | null;
}

/** eb:SignalMessage as it is, right or wrong. */
export interface SignalMessage {
  readonly messageId: string | null;
  readonly timestamp: string | null;
  readonly refToMessageId: string | null;
  readonly receipt: Receipt | null;
  readonly errors: readonly SignalError[];
}

export interface Receipt {
  /** Local names of the children of eb:Receipt; should be NonRepudiationInformation alone. */
  readonly children: readonly string[];
  /** The ds:Reference of each MessagePartNRInformation. */
  readonly references: readonly SignedReference[];
}

/** Reads eb:Messaging. @throws Error when it does not hold exactly one SignalMessage */
export function readSignal(messaging: CanonicalElement): SignalMessage {
  const signals = childrenNamed(messaging, NS.eb, 'SignalMessage');
  const [signal] = signals;
  if (signals.length !== 1 || signal === undefined) throw new Error(`it has ${signals.length} eb:SignalMessage`);
  const info = childNamed(signal, NS.eb, 'MessageInfo');
  const text = (local: string) => (info === null ? null : (childNamed(info, NS.eb, local)?.text ?? null));
  const receipt = childNamed(signal, NS.eb, 'Receipt');
  return {
    messageId: text('MessageId'),
    timestamp: text('Timestamp'),
    refToMessageId: text('RefToMessageId'),
    receipt: receipt === null ? null : readReceipt(receipt),
    errors: childrenNamed(signal, NS.eb, 'Error').map((error) => ({
      code: error.attributes.errorCode ?? null,
      severity: error.attributes.severity ?? null,
      refToMessageInError: error.attributes.refToMessageInError ?? null,
      description: childNamed(error, NS.eb, 'Description')?.text ?? null,
      detail: childNamed(error, NS.eb, 'ErrorDetail')?.text ?? null,
    })),
  };
}

function readReceipt(receipt: CanonicalElement): Receipt {
  const information = childNamed(receipt, NS.ebbp, 'NonRepudiationInformation');
  const parts = information === null ? [] : childrenNamed(information, NS.ebbp, 'MessagePartNRInformation');
  return {
    children: receipt.children.map((child) => child.local),
    references: parts.flatMap((part) => childrenNamed(part, NS.ds, 'Reference').map(readReference)),
  };
}

function readReference(reference: CanonicalElement): SignedReference {
  const transforms = childNamed(reference, NS.ds, 'Transforms');
  return {
    uri: reference.attributes.URI ?? '',
    transforms: (transforms === null ? [] : childrenNamed(transforms, NS.ds, 'Transform')).map((transform) => {
      const inclusive = childNamed(transform, NS.ec, 'InclusiveNamespaces');
      return {
        algorithm: transform.attributes.Algorithm ?? '',
        prefixList: inclusive === null ? null : (inclusive.attributes.PrefixList ?? ''),
      };
    }),
    digestMethod: childNamed(reference, NS.ds, 'DigestMethod')?.attributes.Algorithm ?? '',
    digestValue: childNamed(reference, NS.ds, 'DigestValue')?.text ?? '',
  };
}
