import { As4Error, TransportRefusal } from '../as4-error.ts';
import type { RevocationWatch } from '../pki/revocation-watch.ts';
import type { TrustStore } from '../pki/trust.ts';
import type { VerifiedEnvelope } from '../wss/verify.ts';

/**
 * The last word about the signer, after the SignatureValue. A warning that remains goes with the message into the audit.
 * @throws As4Error EBMS:0101 when the certificate has been revoked; TransportRefusal 503 when that cannot be decided now
 */
export async function confirmSigner(
  envelope: VerifiedEnvelope,
  revocation: Pick<RevocationWatch, 'confirm'>,
  at: number,
): Promise<VerifiedEnvelope> {
  const { signer } = envelope;
  const confirmed = await revocation.confirm(signer, at);
  switch (confirmed.status) {
    case 'refused':
      throw new As4Error('EBMS:0101', confirmed.text, { reason: confirmed.reason });
    case 'unknown':
      throw new TransportRefusal(503, confirmed.text, { reason: confirmed.reason });
    case 'trusted':
      return { ...envelope, signer: { ...signer, warnings: confirmed.warnings.map(told) } };
  }
}

const UNDECIDED: ReadonlyMap<string, string> = new Map([
  ['revocation-unknown', 'it could not be decided whether the certificate of the signer has been revoked'],
  ['issuer-revocation-unknown', 'it could not be decided whether the CA of the signer has been revoked'],
]);

/** The slug stays in front, for whoever searches the audit. */
function told(warning: string): string {
  const sentence = UNDECIDED.get(warning);
  return sentence === undefined ? warning : `${warning}: ${sentence}`;
}

/** Whether the signer of a message that was accepted before would be accepted now. */
export async function isStillTrusted(
  der: Uint8Array,
  trust: Pick<TrustStore, 'judge'>,
  revocation: Pick<RevocationWatch, 'confirm'>,
  at: number,
): Promise<boolean> {
  const verdict = trust.judge(der, at);
  return verdict.status === 'trusted' && (await revocation.confirm(verdict, at)).status === 'trusted';
}
