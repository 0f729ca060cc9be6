import { isIP } from 'node:net';
import { sep } from 'node:path';
import type { z } from 'zod';
import type { configSchema } from './schema.ts';

type Values = Readonly<z.output<typeof configSchema>>;

/**
 * What no single key shows: values that contradict each other. Paths are absolute by now.
 * @param given dotted names of the keys that the operator has set
 * @returns sentences
 */
export function contradictions(c: Values, given: ReadonlySet<string>): string[] {
  const found: string[] = [];
  const { certificate, key, pkcs12 } = c.identity;
  if (pkcs12 !== '' && (certificate !== '' || key !== '')) {
    found.push('identity.pkcs12 replaces identity.certificate and identity.key; set either the one or the two.');
  } else if (pkcs12 === '' && certificate === '') {
    found.push('identity.certificate is empty; name our access point certificate, or set identity.pkcs12.');
  } else if (pkcs12 === '' && key === '') {
    found.push('identity.key is empty; name the private key of identity.certificate.');
  }
  if (c.environment === 'production') {
    if (!['certificate', 'pkcs12'].some((k) => given.has(`identity.${k}`))) {
      found.push(
        'environment is "production", so identity.certificate and identity.key (or identity.pkcs12) must be set: the default is a test certificate.',
      );
    }
    if (!given.has('trust.issuers')) {
      found.push('environment is "production", so trust.issuers must be set: the default is a test CA.');
    }
  }
  const { inbox, staging } = c.delivery;
  if (inbox === staging) {
    found.push(
      'delivery.inbox and delivery.staging are the same directory; the backend would see half-written messages.',
    );
  } else if (staging.startsWith(inbox + sep)) {
    found.push(
      'delivery.staging lies inside delivery.inbox; the backend would see half-written messages. Put it beside the inbox.',
    );
  } else if (inbox.startsWith(staging + sep)) {
    found.push('delivery.inbox lies inside delivery.staging, which is cleaned at every start. Put it beside.');
  }
  if (c.limits.envelope > c.http.maxBody)
    found.push('limits.envelope is larger than http.maxBody, which holds the envelope.');
  if (c.limits.buffer > c.limits.buffered)
    found.push('limits.buffer, for one request, is larger than limits.buffered, for all of them.');
  if (c.http.headersTimeout > c.http.requestTimeout)
    found.push('http.headersTimeout is longer than http.requestTimeout, which includes it.');
  if (c.retention.audit <= c.duplicates.window)
    found.push(
      'retention.audit must be longer than duplicates.window: a suppression must be explained as long as it happens.',
    );
  found.push(...transportContradictions(c));
  return found;
}

/** Peppol wants HTTPS; without it a message may cross a network only when the operator says that something in front does TLS. */
function transportContradictions({ http, tls }: Pick<Values, 'http' | 'tls'>): string[] {
  const found: string[] = [];
  if (tls.pkcs12 !== '' && (tls.certificate !== '' || tls.key !== '')) {
    found.push('tls.pkcs12 replaces tls.certificate and tls.key; set either the one or the two.');
  } else if ((tls.certificate === '') !== (tls.key === '')) {
    found.push('tls.certificate and tls.key belong together; set both or none.');
  }
  const plain = tls.certificate === '' && tls.pkcs12 === '';
  if (plain && !http.allowPlainHttp && !isLoopback(http.host)) {
    found.push(
      `http.host ${http.host} is reached from other machines, and without TLS: set tls.certificate and tls.key, or http.allowPlainHttp = true when a proxy in front does TLS.`,
    );
  }
  return found;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
