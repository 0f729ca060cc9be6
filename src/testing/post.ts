import { type Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { WireMessage } from '../send/build.ts';

export interface PostedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly retryAfter: string | undefined;
}

/** node:http and not fetch: nothing is added to the request, and the answer is not decoded. Rejects when the connection breaks. */
export function post(url: string, { contentType, body }: WireMessage, agent?: Agent): Promise<PostedAnswer> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': contentType, 'Content-Length': body.length };
    const sending = request(url, { method: 'POST', headers, ...(agent ? { agent } : {}) }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          contentType: response.headers['content-type'] ?? '',
          body: Buffer.concat(chunks),
          retryAfter: response.headers['retry-after'],
        }),
      );
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

/** Calls `work` for each item, so many at a time. */
export async function eachOf<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(width, items.length) }, async () => {
      while (next < items.length) await work(items[next++] as T);
    }),
  );
}

/** A request of which a part has been sent. */
export interface Upload {
  /** Sends so many bytes more (default: all that is left) without reading anything; resolves when the system has taken them. */
  write(bytes?: number): Promise<void>;
  /** Only now reads, to the end of the answer. */
  read(): Promise<PostedAnswer>;
  destroy(): void;
}

/**
 * A client of the kind that uploads first and reads afterwards: nothing is read from the socket before `read`, so that an answer that
 * is lost with a reset connection stays lost.
 */
export async function openUpload(url: string, { contentType, body }: WireMessage): Promise<Upload> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.pause();
  let failure: Error | null = null;
  socket.on('error', (error) => {
    failure = error;
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  const send = (bytes: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      if (failure !== null) reject(failure);
      else socket.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  await send(
    Buffer.from(
      `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n\r\n`,
    ),
  );
  let sent = 0;
  return {
    async write(bytes = body.length - sent) {
      const chunk = body.subarray(sent, sent + bytes);
      sent += chunk.length;
      await send(chunk);
    },
    read: () =>
      new Promise((resolve, reject) => {
        const chunks: Buffer[] = [];
        socket.on('data', (chunk: Buffer) => chunks.push(chunk));
        socket.on('end', () => {
          socket.end();
          resolve(parseAnswer(Buffer.concat(chunks)));
        });
        socket.on('error', reject);
        if (failure !== null) reject(failure);
        socket.resume();
      }),
    destroy: () => socket.destroy(),
  };
}

function parseAnswer(bytes: Buffer): PostedAnswer {
  const end = bytes.indexOf('\r\n\r\n');
  const [line = '', ...fields] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = new Map(
    fields.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const;
    }),
  );
  const body = bytes.subarray(end + 4);
  if (Number(headers.get('content-length') ?? 0) !== body.length) throw new Error('the answer is not complete');
  const contentType = headers.get('content-type') ?? '';
  return { status: Number(line.split(' ')[1]), contentType, body, retryAfter: headers.get('retry-after') };
}
