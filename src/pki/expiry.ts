import type { Certificate } from './certificate.ts';
import { daysToExpiry } from './identity.ts';

/** From so many days before its end on, an operator should be busy with a certificate's successor: getting one takes days. */
export const EXPIRY_WARNING_DAYS = 30;

/** A certificate that ends soon, or has ended. */
export interface Expiry {
  /** `our certificate`, or a CA's name. */
  readonly name: string;
  readonly days: number;
  readonly text: string;
  /** Epoch milliseconds from which on this has been worth a warning. */
  readonly since: number;
}

/** null when the certificate has `warnDays` or more at the time `at`, epoch milliseconds. */
export function expiryOf(
  name: string,
  certificate: Pick<Certificate, 'notAfter'>,
  at: number,
  warnDays = EXPIRY_WARNING_DAYS,
): Expiry | null {
  const days = daysToExpiry(certificate, at);
  if (days >= warnDays) return null;
  const until = new Date(certificate.notAfter).toISOString().slice(0, 10);
  const text =
    at > certificate.notAfter
      ? `${name} expired on ${until}; replace it`
      : `${name} expires in ${days} ${days === 1 ? 'day' : 'days'}, on ${until}; get its successor now`;
  return { name, days, text, since: certificate.notAfter - warnDays * 86_400_000 };
}
