import { As4Error } from '../as4-error.ts';
import { DEFAULT_MPC, EB, TEST_ACTION, TEST_SERVICE } from '../ebms/namespaces.ts';
import { quote } from '../ebms/quote.ts';
import type { Party, UserMessage } from '../ebms/user-message.ts';
import { describePart } from './part-properties.ts';
import { routingOf } from './routing.ts';

const AGREEMENT = 'urn:fdc:peppol.eu:2017:agreements:tia:ap_provider';
const PARTY_TYPE = 'urn:fdc:peppol.eu:2017:identifiers:ap';

/** What the profile says about a message that it allows. */
export interface ProfileVerdict {
  /** Answered like any message and never delivered (Core §5.2.2.8). */
  readonly ping: boolean;
  readonly warnings: readonly string[];
}

/**
 * The Peppol P-Mode (Peppol AS4 Profile 2.0.3) against a message.
 *
 * @param signerCommonName subject CN of the certificate that signed the message
 * @param ownCommonName subject CN of our own certificate
 * @throws {As4Error} with the codes of architecture §5
 */
export function checkProfile(message: UserMessage, signerCommonName: string, ownCommonName: string): ProfileVerdict {
  const { from, to } = message.partyInfo;
  checkParty(from, 'From', 'initiator');
  checkParty(to, 'To', 'responder');
  if (from.partyId.value !== signerCommonName) {
    throw new As4Error(
      'EBMS:0101',
      `eb:From/eb:PartyId ${quote(from.partyId.value)} is not the subject CN of the certificate that signed the message`,
      { reason: 'from-is-not-signer' },
    );
  }
  if (to.partyId.value !== ownCommonName) {
    throw mismatch(
      `eb:To/eb:PartyId ${quote(to.partyId.value)} is not this access point (${ownCommonName})`,
      'to-is-not-us',
    );
  }
  if (message.messageInfo.refToMessageId !== undefined) {
    throw mismatch('eb:RefToMessageId is there, but Peppol uses One-Way/Push only', 'bad-mep');
  }
  if (message.mpc !== undefined && message.mpc !== DEFAULT_MPC) {
    throw mismatch(`eb:UserMessage/@mpc ${quote(message.mpc)} is not the default MPC`, 'bad-mpc');
  }
  checkAgreement(message);
  const ping = isPing(message);
  for (const part of message.payloadInfo) describePart(part);
  if (!ping) checkBusiness(message);
  return { ping, warnings: warningsFor(message) };
}

function checkParty({ partyId, role }: Party, side: 'From' | 'To', expectedRole: 'initiator' | 'responder'): void {
  if (partyId.type !== PARTY_TYPE) {
    throw mismatch(`eb:${side}/eb:PartyId/@type is not ${PARTY_TYPE}`, 'bad-party-type');
  }
  if (role !== EB + expectedRole)
    throw mismatch(`eb:${side}/eb:Role ${quote(role)} is not ${EB}${expectedRole}`, 'bad-role');
}

/** An absent AgreementRef is a value that is not recognised, too: Peppol's P-Mode fixes it (PAS4 §4). */
function checkAgreement({ collaborationInfo: { agreementRef } }: UserMessage): void {
  if (agreementRef?.value !== AGREEMENT) {
    const found = agreementRef === undefined ? 'is missing; it must be' : `${quote(agreementRef.value)} is not`;
    throw new As4Error('EBMS:0001', `eb:AgreementRef ${found} ${AGREEMENT}`, { reason: 'bad-agreement' });
  }
  for (const name of ['type', 'pmode'] as const) {
    if (agreementRef[name] !== undefined)
      throw mismatch(`eb:AgreementRef/@${name} must not be used in Peppol`, 'bad-agreement');
  }
}

function isPing({ collaborationInfo: { service, action } }: UserMessage): boolean {
  if (service.value === TEST_SERVICE) return true;
  if (action === TEST_ACTION) {
    throw new As4Error('EBMS:0003', `the test action needs eb:Service ${TEST_SERVICE}`, { reason: 'test-action' });
  }
  return false;
}

function checkBusiness(message: UserMessage): void {
  if (message.collaborationInfo.service.type === undefined) {
    throw mismatch('eb:Service has no @type; Peppol wants the process identifier scheme there', 'service-untyped');
  }
  routingOf(message);
  if (message.payloadInfo.length === 0) {
    const what = 'the message has no payload; a StandardBusinessDocument is required';
    throw new As4Error('EBMS:0004', what, { detail: what, reason: 'no-payload' });
  }
}

function warningsFor(message: UserMessage): string[] {
  const tracked = message.messageProperties.some(({ name }) => name === 'trackingIdentifier');
  return tracked ? ['message property trackingIdentifier must not be used in Peppol (PAS4 §4); accepted'] : [];
}

function mismatch(what: string, reason: string): As4Error {
  return new As4Error('EBMS:0010', what, { reason });
}
