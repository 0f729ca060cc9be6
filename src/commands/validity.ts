import type { Certificate } from '../pki/certificate.ts';
import { EXPIRY_WARNING_DAYS } from '../pki/expiry.ts';
import { daysToExpiry } from '../pki/identity.ts';
import { error, type Finding, ok, warning } from './finding.ts';

/** Whether a certificate is valid, and for how long; `warnDays` before its end it is time to act. */
export function validity(
  what: string,
  name: string,
  certificate: Pick<Certificate, 'notBefore' | 'notAfter'>,
  now: number,
  warnDays = EXPIRY_WARNING_DAYS,
): Finding {
  const until = new Date(certificate.notAfter).toISOString().slice(0, 10);
  const days = daysToExpiry(certificate, now);
  if (now < certificate.notBefore) {
    const from = new Date(certificate.notBefore).toISOString();
    return error(what, `${name} is not valid before ${from}; is the clock of this machine right?`);
  }
  if (now > certificate.notAfter) return error(what, `${name} expired on ${until}; replace it.`);
  if (days < warnDays)
    return warning(
      what,
      `${name} expires in ${days} ${days === 1 ? 'day' : 'days'}, on ${until}; get its successor now.`,
    );
  return ok(what, `${name} expires in ${days} days, on ${until}`);
}
