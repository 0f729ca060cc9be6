import type { WireMessage, WirePayload } from './protocol.ts';
import type { NewMessage, NewPayload } from './types.ts';
import type { AddBlob } from './worker-queue.ts';

/** A message as it goes to the worker. `files`: the names of its content files, null where the data is in memory. */
export function wireMessage(m: NewMessage, files: readonly (string | null)[], now: number, add: AddBlob): WireMessage {
  const { sender, messageId, purpose, ebTimestamp, ebTimestampText, receivedAt, window, policyVersion } = m;
  const { remoteAddress, rebuilt, rule, conflict, outsideWindow, staleTimestamp, interchanges, signer, receipt } = m;
  return {
    ...{ sender, messageId, purpose, ebTimestamp, ebTimestampText, receivedAt, now, window, policyVersion },
    ...{ remoteAddress, rebuilt, rule, conflict, outsideWindow, staleTimestamp },
    ...(m.afterPowerLoss !== undefined && { afterPowerLoss: m.afterPowerLoss }),
    keys: interchanges.keys.map(({ layer, scope, key, contentDigest, dateTime, label }) => ({
      ...{ layer, scope, key, dateTime, label },
      contentDigest: add(contentDigest),
    })),
    unkeyed: interchanges.unkeyed ?? [],
    onConflict: interchanges.onConflict,
    replacePending: interchanges.replacePending,
    routing: JSON.stringify(m.routing),
    warnings: JSON.stringify(m.warnings),
    signerWarnings: m.signerWarnings ?? [],
    fingerprint: signer.fingerprint,
    chain: signer.chain.map(add),
    referenceSet: add(m.referenceSet),
    contentDigest: add(m.contentDigest),
    envelope: add(m.envelope),
    requestDigest: m.requestDigest === null ? null : add(m.requestDigest),
    status: receipt.status,
    contentType: receipt.contentType,
    body: add(receipt.body),
    payloads: m.payloads.map((p, i) => wirePayload(p, files[i] ?? null, add)),
  };
}

function wirePayload(p: NewPayload, file: string | null, add: AddBlob): WirePayload {
  const { href, mimeType, characterSet, compressed, bytes } = p;
  const data = p.data instanceof Uint8Array ? add(p.data) : null;
  const properties = JSON.stringify(p.properties);
  return { href, mimeType, characterSet, compressed, properties, sha256: add(p.sha256), bytes, data, file };
}
