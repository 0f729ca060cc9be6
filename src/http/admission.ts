import type { IncomingHttpHeaders } from 'node:http';
import { TransportRefusal } from '../as4-error.ts';
import { parseContentType } from '../mime/content-type.ts';

/**
 * What can be judged by the header alone (architecture §2.1).
 * @returns why the request is refused, or null
 */
export function admissionRefusal(headers: IncomingHttpHeaders, maxBody: number): TransportRefusal | null {
  // Node refuses a Content-Length that is no number, and one beside Transfer-Encoding. It takes other codings before `chunked`, and an
  // empty field; a proxy may read those differently (RFC 9112 §6.1).
  const transfer = headers['transfer-encoding'];
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked') {
    return new TransportRefusal(400, 'Transfer-Encoding may only be chunked.', { reason: 'transfer-encoding' });
  }
  if (Number(headers['content-length'] ?? 0) > maxBody) {
    return new TransportRefusal(413, `The message is larger than ${maxBody} bytes.`, { reason: 'too-large' });
  }
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') {
    return new TransportRefusal(415, 'Content-Encoding is not supported; send the message without it.', {
      reason: 'content-encoding',
    });
  }
  const type = parseContentType(headers['content-type'])?.type;
  if (type === 'multipart/related' || type === 'application/soap+xml') return null;
  const text =
    type === 'text/xml'
      ? 'text/xml is SOAP 1.1; AS4 is SOAP 1.2 in multipart/related or application/soap+xml.'
      : 'Content-Type must be multipart/related or application/soap+xml.';
  return new TransportRefusal(415, text, { reason: 'media-type' });
}
