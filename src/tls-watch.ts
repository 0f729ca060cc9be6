import { X509Certificate } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import type { Concern } from './pki/concerns.ts';
import { expiryOf } from './pki/expiry.ts';
import { daysToExpiry } from './pki/identity.ts';

/** Web CAs renew by machine, some of them a month before the end: only what is left undone after that is worth a warning. */
export const TLS_WARNING_DAYS = 14;

/** When the certificate of HTTPS ends that is in use: a sender cannot even tell us that it has. */
export class TlsWatch {
  #notAfter: number | null = null;

  /** @param tls what `loadTls` gave; null: nothing is watched */
  constructor(tls: SecureContextOptions | null) {
    this.renewed(tls);
  }

  /** Another one is in use from now on. */
  renewed(tls: SecureContextOptions | null): void {
    this.#notAfter = tls === null ? null : Date.parse(new X509Certificate(tls.cert as string).validTo);
  }

  /** Whole days that are left at the time `at`, epoch milliseconds; null without HTTPS. */
  days(at: number): number | null {
    return this.#notAfter === null ? null : daysToExpiry({ notAfter: this.#notAfter }, at);
  }

  /** From two weeks before its end on. */
  concerns(at: number): Concern[] {
    if (this.#notAfter === null) return [];
    const expiry = expiryOf('the certificate of HTTPS', { notAfter: this.#notAfter }, at, TLS_WARNING_DAYS);
    return expiry === null ? [] : [{ what: expiry.text, since: expiry.since }];
  }
}
