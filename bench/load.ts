import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { WireMessage } from '../src/send/build.ts';

export interface LoadResult {
  readonly seconds: number;
  readonly perSecond: number;
  /** Milliseconds from sending to the last byte of the answer. */
  readonly p50: number;
  readonly p95: number;
}

/** Whether an answer is what it has to be, by its status and its text. */
export type Expected = (status: number, text: string) => boolean;

/** A receipt. */
export const isReceipt: Expected = (status, text) => status === 200 && text.includes(':Receipt>');

/** What has not answered by then will not, ms. */
const PATIENCE = 60_000;

/**
 * Posts every message once over so many keep-alive connections.
 * @throws Error when an answer is not as expected, or does not come within a minute
 */
export async function load(
  url: string,
  messages: readonly WireMessage[],
  connections: number,
  expected: Expected = isReceipt,
): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  let next = 0;
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (let message = messages[next++]; message !== undefined; message = messages[next++]) {
        const since = performance.now();
        await post(url, message, agent, expected);
        times.push(performance.now() - since);
      }
    }),
  );
  const seconds = (performance.now() - begin) / 1000;
  agent.destroy();
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { seconds, perSecond: messages.length / seconds, p50: at(0.5), p95: at(0.95) };
}

function post(url: string, { contentType, body }: WireMessage, agent: Agent, expected: Expected): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': contentType, 'Content-Length': body.length };
    const sending = request(url, { method: 'POST', headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        if (expected(response.statusCode ?? 0, text)) resolve();
        else reject(new Error(`HTTP ${response.statusCode}: ${text.slice(0, 2000)}`));
      });
    });
    sending.on('error', reject);
    sending.setTimeout(PATIENCE, () => sending.destroy(new Error(`no answer within ${PATIENCE / 1000} s`)));
    sending.end(body);
  });
}
