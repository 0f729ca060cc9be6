import { describe, expect, it } from 'vitest';
import { contentDigest } from './content-digest.ts';
import type { Routing } from './routing.ts';

const routing: Routing = {
  sender: { scheme: 's', value: '0088:Abc' },
  receiver: { scheme: 's', value: '0088:B' },
  documentType: { scheme: 'd', value: 'Urn:D' },
  process: { scheme: 'p', value: 'Urn:P' },
};
const document = Buffer.alloc(32, 1);
const digest = (r: Routing = routing, d = document, further: Buffer[] = []) =>
  contentDigest({ ping: false, routing: r, document: d, further }).toString('hex');

describe('contentDigest', () => {
  it('is the same for participants that differ in case only', () => {
    expect(digest({ ...routing, sender: { scheme: 's', value: '0088:aBC' } })).toBe(digest());
  });

  it('differs with everything else', () => {
    const others = [
      digest({ ...routing, sender: { scheme: 'S', value: '0088:Abc' } }),
      digest({ ...routing, sender: routing.receiver, receiver: routing.sender }),
      digest({ ...routing, documentType: { scheme: 'd', value: 'urn:d' } }),
      digest({ ...routing, documentType: { scheme: 'dU', value: 'rn:D' } }),
      digest({ ...routing, process: { scheme: 'p', value: 'urn:P' } }),
      digest(routing, Buffer.alloc(32, 2)),
      digest(routing, document, [document]),
      digest(routing, document, [document, Buffer.alloc(32, 3)]),
      digest(routing, document, [Buffer.alloc(32, 3), document]),
      contentDigest({ ping: true }).toString('hex'),
    ];
    expect(new Set([...others, digest()]).size).toBe(others.length + 1);
  });

  it('never changes: stored digests depend on it', () => {
    expect(digest()).toBe('9e573d44042e98330f37bf0808cb8cb72999895b00f880fc1a982ff4c256c6e4');
    expect(contentDigest({ ping: true }).toString('hex')).toBe(
      'ea0519bd724ca779357fda9358d265644d07b942cf90c5bc14948fe95c406ff5',
    );
  });
});
