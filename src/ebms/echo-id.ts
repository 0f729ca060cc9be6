import { childrenNamed, is, text, type XmlElement } from '../xml/tree.ts';
import { messageIdFault } from './message-id.ts';
import { EB, S12 } from './namespaces.ts';

/**
 * The MessageId of a message that is not verified (yet), for RefToMessageId and `@refToMessageInError` of an error signal.
 *
 * @returns null unless exactly one is found on the path Envelope/Header/Messaging/UserMessage/MessageInfo/MessageId and it can be
 * echoed without harm (architecture §5): an error that names no message is better than one that names a wrong one (Core §6.3)
 */
export function findEchoId(root: XmlElement): string | null {
  if (!is(root, S12, 'Envelope')) return null;
  let at = only(root, S12, 'Header');
  for (const local of ['Messaging', 'UserMessage', 'MessageInfo', 'MessageId']) at = at && only(at, EB, local);
  const id = at && text(at);
  return id === null || messageIdFault(id) !== null ? null : id;
}

function only(parent: XmlElement, uri: string, local: string): XmlElement | null {
  const found = childrenNamed(parent, uri, local);
  return found.length === 1 ? (found[0] ?? null) : null;
}
