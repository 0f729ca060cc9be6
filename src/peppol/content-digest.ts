import { createHash } from 'node:crypto';
import type { Routing } from './routing.ts';

/** What makes two messages under one MessageId the same message (architecture §2 "Content"). */
export type Content =
  | { readonly ping: true }
  | {
      readonly ping: false;
      readonly routing: Routing;
      /** SHA-256 of the business document, `Sbd.document.sha256`. */
      readonly document: Buffer;
      /** SHA-256 of the further payloads, decompressed, in PartInfo order. */
      readonly further: readonly Buffer[];
    };

/**
 * SHA-256 over the content. Participants are compared case-insensitively, everything else exactly (PFUOI 4.4.0).
 * The encoding is a JSON array of strings, which no two different contents share. Stored digests depend on it: it never changes.
 */
export function contentDigest(content: Content): Buffer {
  const fields = content.ping ? ['ping'] : ['document', ...routingFields(content.routing), ...hashes(content)];
  return createHash('sha256').update(JSON.stringify(fields)).digest();
}

function routingFields({ sender, receiver, documentType, process }: Routing): string[] {
  return [
    sender.scheme,
    sender.value.toLowerCase(),
    receiver.scheme,
    receiver.value.toLowerCase(),
    documentType.scheme,
    documentType.value,
    process.scheme,
    process.value,
  ];
}

function hashes({ document, further }: { readonly document: Buffer; readonly further: readonly Buffer[] }): string[] {
  return [document, ...further].map((digest) => digest.toString('hex'));
}
