import { quote } from '../ebms/quote.ts';
import type { Identifier } from '../peppol/routing.ts';
import type { Sbdh } from '../peppol/sbdh.ts';
import type { InterchangeFinding } from './open-interchange.ts';
import type { RuleValues } from './policy.ts';

/** A key of the second layer, with the content that came under it. */
export interface InterchangeKey {
  readonly layer: 'sbdh' | 'edifact' | 'x12';
  /** Who signed and who is named as sender: no partner can block another's references. */
  readonly scope: string;
  readonly key: string;
  /** SHA-256 of the interchange; for `sbdh` of the whole message: routing, document and further payloads. */
  readonly contentDigest: Buffer;
  /** S004 or ISA09/10 as written; null when there is none, and for `sbdh`: then another content is always a conflict. */
  readonly dateTime: string | null;
  /** How people call it. */
  readonly label: string;
}

export interface KeyFacts {
  /** Subject CN of the signer. */
  readonly senderAp: string;
  /** Of the ebMS header; used where the SBDH names no sender, which only the mode `report` lets pass. */
  readonly originalSender: Identifier;
  /** Of the whole message: the same document to somebody else, or beside another payload, is another content. */
  readonly contentDigest: Buffer;
}

/**
 * The keys of a message's second layer: InstanceIdentifier, then its interchanges in order. The same interchange twice in one payload
 * is one key; two contents under one key stay two entries. An interchange without a reference has no key. Keys are stored: their form
 * never changes.
 */
export function interchangeKeys(
  facts: KeyFacts,
  findings: readonly InterchangeFinding[],
  sbdh: Pick<Sbdh, 'sender' | 'instanceIdentifier'>,
  rule: Pick<RuleValues, 'interchangeKey'>,
): InterchangeKey[] {
  const { scheme, value } = sbdh.sender ?? facts.originalSender;
  const scope = JSON.stringify([facts.senderAp, scheme, value.toLowerCase()]);
  const keys = new Map<string, InterchangeKey>();
  const add = (key: InterchangeKey) => {
    const id = `${key.layer} ${key.key} ${key.contentDigest.toString('hex')}`;
    if (!keys.has(id)) keys.set(id, key);
  };
  if (sbdh.instanceIdentifier) {
    add({
      layer: 'sbdh',
      scope,
      key: sbdh.instanceIdentifier,
      contentDigest: facts.contentDigest,
      dateTime: null,
      label: `InstanceIdentifier ${quote(sbdh.instanceIdentifier)}`,
    });
  }
  for (const finding of findings) {
    if (finding.reference === '') continue;
    const key = keyOf(finding, rule.interchangeKey);
    add({
      layer: finding.kind,
      scope,
      key,
      contentDigest: finding.sha256,
      dateTime: finding.dateTime,
      label: label(finding),
    });
  }
  return [...keys.values()];
}

/** A JSON array: no two different lists of values share a key. */
function keyOf(f: InterchangeFinding, by: RuleValues['interchangeKey']): string {
  if (by === 'reference') return JSON.stringify([f.reference]);
  const named = [f.senderQualifier, f.sender, f.recipientQualifier, f.recipient, f.reference, f.usage];
  return JSON.stringify(by === 'reference+sender' ? named : [...named, f.sha256.toString('hex')]);
}

function label(f: InterchangeFinding): string {
  const name = f.kind === 'x12' ? 'X12' : 'EDIFACT';
  const at = f.dateTime === null ? '' : ` of ${quote(f.dateTime)}`;
  return `${name} ${f.test ? 'test ' : ''}interchange ${quote(f.reference)} from ${quote(f.sender)} to ${quote(f.recipient)}${at}`;
}

/** What was found in one payload. */
export interface FoundInterchanges {
  readonly interchanges: readonly InterchangeFinding[];
  /** How many more there were than are recorded. */
  readonly unrecordedInterchanges: number;
  /** Whether something that is no interchange stands behind one. */
  readonly besideInterchanges: boolean;
}

/**
 * What of a message has no key of its own, as people call it: that its interchanges are known does not say that this is.
 * @param payloads the leading one first, each with its name
 */
export function withoutKey(payloads: readonly (FoundInterchanges & { readonly name: string })[]): string[] {
  // Without any interchange the InstanceIdentifier stands for all of it.
  const named = payloads.some((p) => p.interchanges.some((f) => f.reference !== ''));
  return payloads.flatMap(({ name, interchanges, unrecordedInterchanges, besideInterchanges }) => {
    const without: string[] = [];
    const unread = interchanges.filter((f) => f.reference === '').length;
    if (unread > 0)
      without.push(`${unread} ${unread === 1 ? 'interchange' : 'interchanges'} without a reference in ${name}`);
    if (unrecordedInterchanges > 0) {
      without.push(`${unrecordedInterchanges} interchanges beyond the first ${interchanges.length} in ${name}`);
    }
    if (besideInterchanges) without.push(`what follows an interchange in ${name}`);
    if (named && interchanges.length + unrecordedInterchanges === 0) without.push(name);
    return without;
  });
}

/** What the operator and the backend should know of a payload's interchanges: a sentence for each that is damaged, at most ten. */
export function interchangeWarnings(findings: readonly InterchangeFinding[], unrecorded: number): string[] {
  const damaged = findings.filter((f) => f.damaged !== undefined);
  const warnings = damaged.slice(0, 10).map((f) => {
    const which = f.reference === '' ? `an ${f.kind === 'x12' ? 'X12' : 'EDIFACT'} interchange` : label(f);
    return `${which} is damaged: ${f.damaged}`;
  });
  if (damaged.length > 10) warnings.push(`${damaged.length - 10} more interchanges are damaged`);
  if (unrecorded > 0) warnings.push(`${unrecorded} interchanges beyond the first ${findings.length} were not compared`);
  return warnings;
}
