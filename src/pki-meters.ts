import type { Metrics } from './http/metrics.ts';
import type { PkiFigures, RevocationWatch } from './pki/revocation-watch.ts';

/** What an operator watches so that neither a certificate nor a revocation list ends unnoticed. */
export function registerPkiMeters(
  metrics: Pick<Metrics, 'gauge' | 'gauges'>,
  watch: Pick<RevocationWatch, 'figures'>,
  /** Days that the certificate of HTTPS has left; null without HTTPS. */
  tlsDays: () => number | null,
): void {
  const several = (
    name: string,
    help: string,
    label: string,
    of: (figures: PkiFigures) => Readonly<Record<string, number>>,
  ) => metrics.gauges(name, help, label, async () => of(watch.figures()));
  several(
    'quittance_crl_age_seconds',
    'Time since a CA issued its list that is in use.',
    'ca',
    (f) => f.listAgeSeconds,
  );
  several('quittance_crl_left_seconds', 'Time until that list ends.', 'ca', (f) => f.listLeftSeconds);
  several('quittance_certificate_days_to_expiry', 'Whole days that a certificate is valid.', 'certificate', (f) => {
    const tls = tlsDays();
    return tls === null ? f.daysToExpiry : { ...f.daysToExpiry, tls };
  });
  several('quittance_crl_fetches_total', 'Fetches of revocation lists.', 'outcome', (f) => f.crlFetches);
  several('quittance_ocsp_answers_total', 'Questions to OCSP responders.', 'outcome', (f) => f.ocspAnswers);
  metrics.gauge(
    'quittance_revocation_unknown_total',
    'Messages accepted although nothing says whether the certificate has been revoked.',
    () => watch.figures().acceptedUnknown,
  );
}
