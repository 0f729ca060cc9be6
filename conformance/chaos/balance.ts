/** One wire form of a message: its content as it was signed once. */
export interface SentForm {
  /** The reference set, as text: equal for equal ds:References. */
  readonly references: string;
  /** SHA-256 of each payload, hex. */
  readonly payloads: readonly string[];
  /** Every different receipt that came for it, Content-Type included. */
  readonly receipts: ReadonlySet<string>;
}

/** What one sender means by one MessageId. Forms after the first were rebuilt over the same document. */
export interface SentMessage {
  readonly messageId: string;
  readonly forms: readonly SentForm[];
  /** The sender still waits, or has given up waiting: whether the receiver has the message is not known. */
  readonly pending: boolean;
}

/** What the receiver handed over at once: a directory of the folder. */
export interface Delivery {
  readonly name: string;
  /** SHA-256 of each file in it, hex. */
  readonly files: ReadonlySet<string>;
}

/**
 * Compares what senders hold with what is in the folder. Every message with a receipt is there exactly once; every receipt for one reference set
 * is the same; nothing is there without a receipt or a sender that waits for one.
 * @returns what is wrong, a sentence each
 */
export function balance(messages: readonly SentMessage[], folder: readonly Delivery[]): string[] {
  return [...deliveredOnce(messages, folder), ...sameReceipts(messages)];
}

function deliveredOnce(messages: readonly SentMessage[], folder: readonly Delivery[]): string[] {
  const byFile = new Map<string, Delivery[]>();
  for (const delivery of folder) {
    for (const file of delivery.files) byFile.set(file, [...(byFile.get(file) ?? []), delivery]);
  }
  const wrong: string[] = [];
  const explained = new Set<Delivery>();
  for (const { messageId, forms, pending } of messages) {
    const found = new Set(
      forms.flatMap(({ payloads }) =>
        (byFile.get(payloads[0] ?? '') ?? []).filter(({ files }) => payloads.every((payload) => files.has(payload))),
      ),
    );
    for (const delivery of found) explained.add(delivery);
    const receipted = forms.some(({ receipts }) => receipts.size > 0);
    const names = [...found].map(({ name }) => name).join(', ');
    if (found.size > 1) wrong.push(`${messageId} is ${found.size} times in the folder: ${names}`);
    else if (receipted && found.size === 0) wrong.push(`${messageId} has a receipt and is not in the folder`);
    else if (!receipted && !pending && found.size > 0) wrong.push(`${messageId} is in the folder without a receipt`);
  }
  for (const delivery of folder) {
    if (!explained.has(delivery)) wrong.push(`${delivery.name} in the folder is nothing that was sent`);
  }
  return wrong;
}

function sameReceipts(messages: readonly SentMessage[]): string[] {
  const bySet = new Map<string, { readonly messageId: string; readonly receipts: Set<string> }>();
  for (const { messageId, forms } of messages) {
    for (const { references, receipts } of forms) {
      const known = bySet.get(references) ?? { messageId, receipts: new Set() };
      for (const receipt of receipts) known.receipts.add(receipt);
      bySet.set(references, known);
    }
  }
  return [...bySet.values()]
    .filter(({ receipts }) => receipts.size > 1)
    .map(({ messageId, receipts }) => `${messageId} got ${receipts.size} different receipts for one reference set`);
}
