import { As4Error } from '../as4-error.ts';
import type { XmlElement } from '../xml/tree.ts';
import { attributesOf, Cursor, collapse, invalidHeader, nonEmptyOf, stringOf, tokenOf, trimXml } from './cursor.ts';
import { readMessageInfo } from './message-info.ts';
import { XML } from './namespaces.ts';
import { quote } from './quote.ts';
import type { PartInfo, Party, Property, TypedValue, UserMessage } from './user-message.ts';

/**
 * Reads an eb:UserMessage, strictly by the schema.
 * @throws {As4Error} EBMS:0009 for what the schema forbids and for a PartInfo that names no MIME part; 0011 for a payload outside of
 * the message; 0003 for two PartyIds, two PartInfos with one href, an untyped PartyId or Service that is no URI (Core §5.2.2)
 */
export function readUserMessage(element: XmlElement): UserMessage {
  const { mpc } = attributesOf(element, ['mpc']);
  const at = new Cursor(element);
  const messageInfo = readMessageInfo(at.one('MessageInfo'));
  const parties = readPartyInfo(at.one('PartyInfo'));
  const collaborationInfo = readCollaborationInfo(at.one('CollaborationInfo'));
  const properties = at.optional('MessageProperties');
  const messageProperties = properties === undefined ? [] : readProperties(properties);
  const payload = at.optional('PayloadInfo');
  const parts = payload === undefined ? [] : readPayloadInfo(payload);
  at.end();
  // Values are judged when the whole structure is known to be sound: a broken header is 0009 whatever its values say.
  const payloadInfo = parts.map(withHref);
  refuseRepeatedHref(payloadInfo);
  const partyInfo = { from: onePartyId(parties.from, 'From'), to: onePartyId(parties.to, 'To') };
  requireUriWhenUntyped(collaborationInfo.service, 'eb:Service');
  return {
    messageInfo,
    ...(mpc === undefined ? {} : { mpc: collapse(mpc) }),
    partyInfo,
    collaborationInfo,
    messageProperties,
    payloadInfo,
  };
}

interface Parties {
  readonly partyIds: readonly TypedValue[];
  readonly role: string;
}

function readPartyInfo(element: XmlElement): { from: Parties; to: Parties } {
  attributesOf(element, []);
  const at = new Cursor(element);
  const from = readParty(at.one('From'));
  const to = readParty(at.one('To'));
  at.end();
  return { from, to };
}

function readParty(element: XmlElement): Parties {
  attributesOf(element, []);
  const at = new Cursor(element);
  const partyIds = at.many('PartyId', 1).map(readTyped);
  const role = at.one('Role');
  attributesOf(role, []);
  at.end();
  return { partyIds, role: nonEmptyOf(role) };
}

function readTyped(element: XmlElement): TypedValue {
  const { type } = attributesOf(element, ['type']);
  const value = nonEmptyOf(element);
  return type === undefined ? { value } : { value, type };
}

function readCollaborationInfo(element: XmlElement): UserMessage['collaborationInfo'] {
  attributesOf(element, []);
  const at = new Cursor(element);
  const agreement = at.optional('AgreementRef');
  const agreementRef = agreement === undefined ? undefined : readAgreementRef(agreement);
  const service = readTyped(at.one('Service'));
  const action = readToken(at.one('Action'));
  const conversationId = readToken(at.one('ConversationId'));
  at.end();
  return { ...(agreementRef === undefined ? {} : { agreementRef }), service, action, conversationId };
}

function readAgreementRef(element: XmlElement): TypedValue & { pmode?: string } {
  const { type, pmode } = attributesOf(element, ['type', 'pmode']);
  return {
    // Core's own example has white space after the value.
    value: trimXml(nonEmptyOf(element)),
    ...(type === undefined ? {} : { type }),
    ...(pmode === undefined ? {} : { pmode }),
  };
}

function readToken(element: XmlElement): string {
  attributesOf(element, []);
  return tokenOf(element);
}

function readProperties(element: XmlElement): Property[] {
  attributesOf(element, []);
  const at = new Cursor(element);
  const properties = at.many('Property', 1).map(readProperty);
  at.end();
  return properties;
}

function readProperty(element: XmlElement): Property {
  const { name, type } = attributesOf(element, ['name', 'type']);
  if (name === undefined) throw invalidHeader('eb:Property has no @name');
  const value = nonEmptyOf(element);
  return type === undefined ? { name, value } : { name, type, value };
}

type ReadPartInfo = Omit<PartInfo, 'href'> & { readonly href: string | undefined };

function readPayloadInfo(element: XmlElement): ReadPartInfo[] {
  attributesOf(element, []);
  const at = new Cursor(element);
  const parts = at.many('PartInfo', 1).map(readPartInfo);
  at.end();
  return parts;
}

function readPartInfo(element: XmlElement): ReadPartInfo {
  // Core §5.2.2.13 allows foreign attributes here although the schema forgot them.
  const { href } = attributesOf(element, ['href'], 'tolerated');
  const at = new Cursor(element);
  const schema = at.optional('Schema');
  const description = at.optional('Description');
  const properties = at.optional('PartProperties');
  at.end();
  return {
    href: href === undefined ? undefined : collapse(href),
    ...(schema === undefined ? {} : { schema: readSchema(schema) }),
    ...(description === undefined ? {} : { description: readDescription(description) }),
    partProperties: properties === undefined ? [] : readProperties(properties),
  };
}

function readSchema(element: XmlElement): NonNullable<PartInfo['schema']> {
  const { location, version, namespace } = attributesOf(element, ['location', 'version', 'namespace']);
  if (location === undefined) throw invalidHeader('eb:Schema has no @location');
  new Cursor(element).end();
  return {
    location,
    ...(version === undefined ? {} : { version }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** eb:Description of a PartInfo or an eb:Error: `xml:lang` is required. */
function readDescription(element: XmlElement): { lang: string; value: string } {
  const lang = element.attributes.find((a) => a.uri === XML && a.local === 'lang')?.value;
  if (lang === undefined) throw invalidHeader('eb:Description has no @xml:lang');
  return { lang, value: stringOf(element) };
}

function withHref(part: ReadPartInfo): PartInfo {
  const { href } = part;
  if (href === undefined) {
    throw invalidHeader('eb:PartInfo without @href names the SOAP Body, which must be empty', 'payload-in-body');
  }
  if (href.startsWith('#')) {
    throw invalidHeader(
      `eb:PartInfo/@href ${quote(href)} names a part of the envelope, not a MIME part`,
      'payload-in-body',
    );
  }
  if (!href.startsWith('cid:')) {
    throw new As4Error(
      'EBMS:0011',
      `eb:PartInfo/@href ${quote(href)} is not a cid: of this message; payloads are never fetched`,
      {
        reason: 'external-payload',
      },
    );
  }
  if (href === 'cid:') throw invalidHeader('eb:PartInfo/@href names no Content-ID');
  return { ...part, href };
}

function refuseRepeatedHref(parts: readonly PartInfo[]): void {
  const seen = new Set<string>();
  for (const { href } of parts) {
    const name = decoded(href);
    if (seen.has(name)) {
      throw new As4Error('EBMS:0003', `two eb:PartInfo elements name ${quote(href)}`, { reason: 'repeated-href' });
    }
    seen.add(name);
  }
}

/** Spellings that RFC 2392 makes the same Content-ID are one name. */
function decoded(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href; // a stray % stands for itself
  }
}

function onePartyId(party: Parties, side: 'From' | 'To'): Party {
  const [partyId, second] = party.partyIds;
  if (partyId === undefined || second !== undefined) {
    throw new As4Error('EBMS:0003', `eb:${side} has more than one eb:PartyId`, { reason: 'several-party-ids' });
  }
  requireUriWhenUntyped(partyId, `eb:${side}/eb:PartyId`);
  return { partyId, role: party.role };
}

function requireUriWhenUntyped({ value, type }: TypedValue, what: string): void {
  if (type === undefined && !/^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(value)) {
    throw new As4Error('EBMS:0003', `${what} ${quote(value)} has no @type and is not a URI`, {
      reason: 'untyped-value',
    });
  }
}
