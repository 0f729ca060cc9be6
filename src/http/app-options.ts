import type { IncomingMessage } from 'node:http';
import type { Receive } from '../exchange.ts';
import type { Gate } from './gate.ts';
import type { Health } from './health.ts';
import type { Places } from './places.ts';
import type { RemoteAddress } from './remote-address.ts';
import type { RequestBody } from './request-body.ts';
import type { Sources } from './sources.ts';
import type { Strangers } from './strangers.ts';

/** What of a pino logger is used here. */
export interface HttpLog {
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** A request that did not reach the journey of a message. */
export interface DoorRefusal {
  readonly status: number;
  /** A slug of a closed set, for metrics. */
  readonly reason: string;
  readonly text: string;
  readonly remoteAddress: string;
}

export interface AppOptions {
  /** Path of the AS4 endpoint. */
  readonly path: string;
  /** Bytes of one request's body. */
  readonly maxBody: number;
  /** Milliseconds from the header of a message until its sender must be authenticated; a body that was read by then has no limit. */
  readonly envelopeTimeoutMs: number;
  /** Milliseconds from the first byte of a request to its last. */
  readonly requestTimeoutMs: number;
  /** Milliseconds the rest of a request may take when it is refused, and an upload after its answer. */
  readonly drainTimeoutMs: number;
  /** Seconds that a 503 tells the sender to wait, unless the refusal itself knows better. */
  readonly retryAfterSeconds: number;
  readonly receive: Receive;
  readonly remoteAddress: RemoteAddress;
  /** What each source address may do; whoever authenticates messages tells it of those that failed. */
  readonly sources: Sources;
  readonly onRefused?: (refusal: DoorRefusal) => void;
  readonly health: () => Promise<Health>;
  /** Text of `GET /metrics`; without it there is no such page. */
  readonly metrics?: () => Promise<string>;
  readonly log: HttpLog;
  /** Names an incident, so that a sender's question finds the log line. */
  readonly newId: () => string;
}

/** Express over our own state: what the server tells the app about a request, and the app about itself. */
export interface AppState {
  readonly gate: Gate;
  readonly strangers: Strangers;
  /** Bodies by request, for the server to expire. */
  readonly bodies: WeakMap<IncomingMessage, RequestBody>;
  /** Requests whose sender waits for `100 Continue` before it uploads. */
  readonly expecting: WeakSet<IncomingMessage>;
  /** Uploads that are read to their end although they were refused, or after their answer. */
  readonly draining: Places;
  /** Requests after which their connection ends. */
  readonly last: WeakSet<IncomingMessage>;
}
