import { As4Error, TransportRefusal } from '../../as4-error.ts';
import type { Answer, IncomingRequest } from '../../exchange.ts';
import { remoteAddressBehind } from '../remote-address.ts';
import { type Server, type ServerOptions, startServer } from '../server.ts';
import { Sources } from '../sources.ts';

/** A server for tests, on a free port of 127.0.0.1, with generous limits. */
export function startTestServer(options: Partial<ServerOptions> = {}): Promise<Server> {
  return startServer({
    host: '127.0.0.1',
    port: 0,
    path: '/as4',
    maxBody: 20_000_000,
    inFlight: 8,
    strangers: 8,
    envelopeTimeoutMs: 20_000,
    requestTimeoutMs: 20_000,
    headersTimeoutMs: 20_000,
    drainTimeoutMs: 10_000,
    retryAfterSeconds: 30,
    remoteAddress: remoteAddressBehind([]),
    sources: knowing('127.0.0.1'),
    foldedHeaders: 'accept',
    draining: 64,
    maxConnections: 4096,
    receive: echoLength,
    health: async () => ({ ready: true, degraded: [] }),
    log: { warn: () => {}, error: () => {} },
    newId: () => 'incident-1',
    ...options,
  });
}

/** No limits, and this address got a receipt before. */
function knowing(address: string): Sources {
  const sources = new Sources({ inFlight: 1_000, failuresPerMinute: 0, now: Date.now });
  sources.proven(address);
  return sources;
}

/** Stands for the journey: reads everything, maps the two errors as `receive.ts` does. */
export async function echoLength(request: IncomingRequest): Promise<Answer> {
  try {
    let bytes = 0;
    for await (const chunk of request.body) bytes += chunk.length;
    return { status: 200, contentType: 'application/soap+xml; charset=UTF-8', body: Buffer.from(`<r>${bytes}</r>`) };
  } catch (error) {
    if (!(error instanceof As4Error) && !(error instanceof TransportRefusal)) throw error;
    return { status: error.status, contentType: 'text/plain', body: Buffer.from(error.reason) };
  }
}
