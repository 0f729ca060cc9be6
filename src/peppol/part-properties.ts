import { As4Error } from '../as4-error.ts';
import { trimXml } from '../ebms/cursor.ts';
import { quote } from '../ebms/quote.ts';
import type { PartInfo } from '../ebms/user-message.ts';

/** What PartProperties say about a payload (AS4 §3.1, eD §1.4.3.1). */
export interface PartDescription {
  /** Of the payload before compression; as the sender wrote it. */
  readonly mimeType: string;
  /** Whether the octets in the MIME part are gzip. */
  readonly compressed: boolean;
  readonly characterSet: string | null;
}

/** XML 1.0 §4.3.3 production EncName, which eD §1.4.3.1 refers to. */
const ENC_NAME = /^[A-Za-z][A-Za-z0-9._-]*$/;

/** @throws {As4Error} EBMS:0003 when MimeType is missing, CompressionType is not application/gzip or CharacterSet is no EncName */
export function describePart(part: PartInfo): PartDescription {
  const mimeType = only(part, 'MimeType');
  if (mimeType === null)
    throw inconsistent(`the PartInfo ${quote(part.href)} has no property MimeType`, 'mime-type-missing');
  const compression = only(part, 'CompressionType');
  if (compression !== null && compression.toLowerCase() !== 'application/gzip') {
    throw inconsistent(`CompressionType ${quote(compression)} is not application/gzip`, 'bad-compression-type');
  }
  const characterSet = only(part, 'CharacterSet');
  if (characterSet !== null && !ENC_NAME.test(characterSet)) {
    throw inconsistent(`CharacterSet ${quote(characterSet)} is not an encoding name`, 'bad-character-set');
  }
  return { mimeType, compressed: compression !== null, characterSet };
}

function only(part: PartInfo, name: string): string | null {
  const values = part.partProperties.filter((property) => property.name === name);
  if (values.length > 1)
    throw inconsistent(`the PartInfo ${quote(part.href)} has two properties ${name}`, 'repeated-property');
  const [property] = values;
  return property === undefined ? null : trimXml(property.value);
}

function inconsistent(what: string, reason: string): As4Error {
  return new As4Error('EBMS:0003', what, { reason });
}
