import type { EbmsCode } from '../as4-error.ts';
import { escapeAttribute, escapeText } from '../xml/escape.ts';
import { EBMS_CODES } from './codes.ts';
import { DS, EB, EBBP, EC, S12, WSU } from './namespaces.ts';

/** One ds:Reference as a receipt repeats it: what was verified, without Ids and foreign nodes (AS4 §5.1.8). */
export interface ReferenceCopy {
  readonly uri: string;
  readonly transforms: readonly {
    readonly algorithm: string;
    /** `ec:InclusiveNamespaces/@PrefixList` as written; null when there is no InclusiveNamespaces. */
    readonly prefixList: string | null;
  }[];
  readonly digestMethod: string;
  /** Base64 without white space. */
  readonly digestValue: string;
}

/** What every signal's Messaging and MessageInfo need. */
export interface SignalHead {
  /** `wsu:Id` of the eb:Messaging; the signature refers to it, and Domibus looks for nothing else. */
  readonly id: string;
  /** Our own new MessageId. */
  readonly messageId: string;
  readonly timestamp: Date;
}

/**
 * The eb:Messaging of a non-repudiation receipt.
 *
 * The text equals its own exclusive C14N (empty PrefixList), so that a signer may hash it as it is: namespaces are declared where
 * they are first visibly used, attributes are sorted, no element is empty-tagged.
 */
export function receiptMessaging(
  o: SignalHead & { readonly refToMessageId: string; readonly references: readonly ReferenceCopy[] },
): string {
  let parts = '';
  for (const reference of o.references) {
    parts += `<ebbp:MessagePartNRInformation>${referenceText(reference)}</ebbp:MessagePartNRInformation>`;
  }
  return messaging(
    o,
    o.refToMessageId,
    `<eb:Receipt><ebbp:NonRepudiationInformation xmlns:ebbp="${EBBP}">${parts}</ebbp:NonRepudiationInformation></eb:Receipt>`,
  );
}

/**
 * The eb:Messaging of an error signal, canonical like {@link receiptMessaging}.
 * Without `refToMessageId` neither RefToMessageId nor `@refToMessageInError` is written (Core §6.3).
 */
export function errorMessaging(
  o: SignalHead & {
    readonly refToMessageId?: string | undefined;
    readonly code: EbmsCode;
    readonly description: string;
    readonly detail?: string | undefined;
  },
): string {
  const { category, origin, severity, shortDescription } = EBMS_CODES[o.code];
  const inError =
    o.refToMessageId === undefined ? '' : ` refToMessageInError="${escapeAttribute(legal(o.refToMessageId))}"`;
  const detail = o.detail === undefined ? '' : `<eb:ErrorDetail>${token(o.detail)}</eb:ErrorDetail>`;
  return messaging(
    o,
    o.refToMessageId,
    `<eb:Error category="${category}" errorCode="${o.code}" origin="${origin}"${inError} severity="${severity}"` +
      ` shortDescription="${shortDescription}"><eb:Description xml:lang="en">${token(o.description)}</eb:Description>${detail}</eb:Error>`,
  );
}

function messaging(head: SignalHead, refToMessageId: string | undefined, signal: string): string {
  const ref =
    refToMessageId === undefined ? '' : `<eb:RefToMessageId>${escapeText(legal(refToMessageId))}</eb:RefToMessageId>`;
  // Attributes are sorted by namespace URI: http://docs… (wsu) comes before http://www… (S12).
  return (
    `<eb:Messaging xmlns:S12="${S12}" xmlns:eb="${EB}" xmlns:wsu="${WSU}" wsu:Id="${escapeAttribute(head.id)}" S12:mustUnderstand="true">` +
    `<eb:SignalMessage><eb:MessageInfo><eb:Timestamp>${head.timestamp.toISOString()}</eb:Timestamp>` +
    `<eb:MessageId>${escapeText(head.messageId)}</eb:MessageId>${ref}</eb:MessageInfo>${signal}</eb:SignalMessage></eb:Messaging>`
  );
}

function referenceText(reference: ReferenceCopy): string {
  let transforms = '';
  for (const { algorithm, prefixList } of reference.transforms) {
    const inclusive =
      prefixList === null
        ? ''
        : `<ec:InclusiveNamespaces xmlns:ec="${EC}" PrefixList="${escapeAttribute(prefixList)}"></ec:InclusiveNamespaces>`;
    transforms += `<ds:Transform Algorithm="${escapeAttribute(algorithm)}">${inclusive}</ds:Transform>`;
  }
  // ds:Transforms must not be empty (xmldsig schema): a reference without transforms has none.
  if (transforms !== '') transforms = `<ds:Transforms>${transforms}</ds:Transforms>`;
  return (
    `<ds:Reference xmlns:ds="${DS}" URI="${escapeAttribute(reference.uri)}">${transforms}` +
    `<ds:DigestMethod Algorithm="${escapeAttribute(reference.digestMethod)}"></ds:DigestMethod>` +
    `<ds:DigestValue>${escapeText(reference.digestValue)}</ds:DigestValue></ds:Reference>`
  );
}

/** Descriptions may quote the sender; what XML 1.0 §2.2 cannot carry must not make our own answer malformed. */
function legal(value: string): string {
  return value.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu, '\ufffd');
}

/** xsd:token: runs of white space are one blank. */
function token(value: string): string {
  return escapeText(
    legal(value)
      .replace(/[ \t\r\n]+/g, ' ')
      .trim(),
  );
}
