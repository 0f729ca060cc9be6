import { readFile, writeFile } from 'node:fs/promises';
import type { WireMessage } from './build.ts';

/**
 * A message kept as it went over the wire: request line, headers, a blank line, the body. The form in which captures are exchanged,
 * so that a message of any product can be sent again.
 */
export async function saveWire(file: string, message: WireMessage): Promise<void> {
  const head = `POST /as4 HTTP/1.1\r\nContent-Type: ${message.contentType}\r\nContent-Length: ${message.body.length}\r\n\r\n`;
  await writeFile(file, Buffer.concat([Buffer.from(head, 'latin1'), message.body]));
}

/** @throws Error with a sentence when the file is not such a capture */
export async function loadWire(file: string): Promise<WireMessage> {
  return parseWire(await readFile(file), file);
}

export function parseWire(octets: Buffer, name: string): WireMessage {
  // Some captures have LF in the head; the body is never touched.
  const crlf = octets.indexOf('\r\n\r\n');
  const lf = octets.indexOf('\n\n');
  const end = crlf !== -1 && (lf === -1 || crlf < lf) ? { at: crlf, width: 4 } : { at: lf, width: 2 };
  const contentType = /^content-type:[ \t]*(.*(?:\r?\n[ \t].*)*)/im.exec(
    octets.subarray(0, Math.max(end.at, 0)).toString('latin1'),
  );
  if (end.at === -1 || !contentType?.[1]) {
    throw new SendError(
      `${name} is not a saved message: it must begin with HTTP headers, among them Content-Type, and a blank line.`,
    );
  }
  return { contentType: contentType[1].replace(/\r?\n[ \t]+/g, ' ').trim(), body: octets.subarray(end.at + end.width) };
}

/** What a user of `send` can mend. */
export class SendError extends Error {
  override readonly name = 'SendError';
}
