import { trimXml } from '../ebms/cursor.ts';
import { parseDateTime } from '../ebms/date-time.ts';
import { quote } from '../ebms/quote.ts';
import { attribute, childrenNamed, text, type XmlElement } from '../xml/tree.ts';
import type { Identifier } from './routing.ts';
import { sbdFault } from './sbd-fault.ts';

/** Namespace of StandardBusinessDocument and its header. */
export const SBDH = 'http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader';
const PARTICIPANT_SCHEME = 'iso6523-actorid-upis';
const DOCUMENT_SCHEME = 'busdox-docid-qns';
const PROCESS_SCHEME = 'cenbii-procid-ubl';

/** One BusinessScope/Scope. */
export interface Scope {
  readonly type: string;
  readonly instanceIdentifier: string;
  readonly identifier: string | null;
}

/** StandardBusinessDocumentHeader (SBDH 2.0.2). What is null was missing, which only the mode `report` lets pass. */
export interface Sbdh {
  readonly headerVersion: string | null;
  readonly sender: Identifier | null;
  readonly receiver: Identifier | null;
  readonly standard: string | null;
  readonly typeVersion: string | null;
  /** Names the envelope, not the document and not the AS4 message. */
  readonly instanceIdentifier: string | null;
  readonly type: string | null;
  readonly creationDateAndTime: string | null;
  readonly documentType: Identifier | null;
  readonly process: Identifier | null;
  /** ISO 3166-1 alpha-2 code of the country of C1. */
  readonly countryC1: string | null;
  /** All scopes in document order, known ones included. */
  readonly scopes: readonly Scope[];
}

/**
 * Reads and judges a header by facts §4.5.
 * @param report receives each format fault in words; in strict mode it throws
 */
export function readSbdh(header: XmlElement, report: (fault: string) => void): Sbdh {
  const only = (parent: XmlElement | null, local: string): XmlElement | null => {
    if (parent === null) return null;
    const found = childrenNamed(parent, SBDH, local);
    if (found.length !== 1) report(`${parent.local} must have exactly one ${local}, found ${found.length}`);
    return found[0] ?? null;
  };
  const value = (parent: XmlElement | null, local: string): string | null => {
    const element = only(parent, local);
    const content = element === null ? null : trimXml(text(element) ?? '');
    if (content === '') report(`${local} is empty`);
    return content === '' ? null : content;
  };

  const headerVersion = value(header, 'HeaderVersion');
  if (headerVersion !== null && headerVersion !== '1.0') report(`HeaderVersion ${quote(headerVersion)} is not '1.0'`);
  const participant = (side: 'Sender' | 'Receiver'): Identifier | null => {
    const party = only(header, side);
    const id = value(party, 'Identifier');
    if (party === null || id === null) return null;
    const scheme = attribute(childrenNamed(party, SBDH, 'Identifier')[0]!, 'Authority');
    if (scheme === undefined) report(`${side}/Identifier has no @Authority`);
    else if (scheme !== PARTICIPANT_SCHEME)
      report(`${side}/Identifier/@Authority ${quote(scheme)} is not ${PARTICIPANT_SCHEME}`);
    if (!/^\d{4}:[^\s\u0000-\u001f]{1,130}$/.test(id))
      report(`${side}/Identifier ${quote(id)} is not of the form XXXX:value`);
    return { scheme: scheme ?? PARTICIPANT_SCHEME, value: id };
  };
  const sender = participant('Sender');
  const receiver = participant('Receiver');

  const identification = only(header, 'DocumentIdentification');
  const standard = value(identification, 'Standard');
  const typeVersion = value(identification, 'TypeVersion');
  const instanceIdentifier = value(identification, 'InstanceIdentifier');
  const type = value(identification, 'Type');
  const creationDateAndTime = value(identification, 'CreationDateAndTime');
  if (creationDateAndTime !== null && parseDateTime(creationDateAndTime)?.hasZone !== true) {
    report(`CreationDateAndTime ${quote(creationDateAndTime)} is not an xsd:dateTime with time zone`);
  }

  const scopes = readScopes(only(header, 'BusinessScope'), report);
  const scope = (key: string): Scope | null => {
    const found = scopes.find((s) => s.type === key && s.instanceIdentifier !== '');
    if (found === undefined) report(`the Scope ${key} is missing or empty`);
    return found ?? null;
  };
  const documentScope = scope('DOCUMENTID');
  const processScope = scope('PROCESSID');
  const country = scope('COUNTRY_C1')?.instanceIdentifier ?? null;
  if (country !== null && !/^[A-Z0-9]{2}$/.test(country))
    report(`COUNTRY_C1 ${quote(country)} is not a two-letter country code`);
  return {
    headerVersion,
    sender,
    receiver,
    standard,
    typeVersion,
    instanceIdentifier,
    type,
    creationDateAndTime,
    documentType: documentScope && identifierOf(documentScope, DOCUMENT_SCHEME),
    process: processScope && identifierOf(processScope, PROCESS_SCHEME),
    countryC1: country,
    scopes,
  };
}

function readScopes(parent: XmlElement | null, report: (fault: string) => void): Scope[] {
  const scopes: Scope[] = [];
  for (const element of parent === null ? [] : childrenNamed(parent, SBDH, 'Scope')) {
    const part = (local: string, least: 0 | 1): string | null => {
      const found = childrenNamed(element, SBDH, local);
      if (found.length > 1 || found.length < least) report(`a Scope has ${found.length} ${local}`);
      const [first] = found;
      return first === undefined ? null : trimXml(text(first) ?? '');
    };
    const type = part('Type', 1) ?? '';
    if (type === '') report('a Scope has no Type');
    const instanceIdentifier = part('InstanceIdentifier', 1) ?? '';
    const identifier = part('Identifier', 0);
    const same = scopes.find((scope) => scope.type === type);
    if (same !== undefined) {
      const what = `there are two Scopes ${quote(type)}`;
      // Two readers would route by two values: not a matter of form.
      const routes = type === 'DOCUMENTID' || type === 'PROCESSID';
      if (routes && (same.instanceIdentifier !== instanceIdentifier || same.identifier !== identifier)) {
        throw sbdFault(what, 'sbd-contradiction');
      }
      report(what);
    }
    scopes.push({ type, instanceIdentifier, identifier });
  }
  return scopes;
}

function identifierOf({ identifier, instanceIdentifier }: Scope, absent: string): Identifier {
  return { scheme: identifier === null || identifier === '' ? absent : identifier, value: instanceIdentifier };
}
