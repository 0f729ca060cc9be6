import type { Socket } from 'node:net';
import { Failure } from '../failure.ts';
import { open } from './connection.ts';
import { type ParsedAnswer, parseAnswer } from './head.ts';
import { requestOctets, type Sendable, type WireOptions } from './request.ts';

/** A whole HTTP answer. */
export interface WireAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Where the connection breaks while the answer comes. `unread`: not a single octet is taken. */
export type Cut = 'unread' | 'status-line' | 'headers' | 'mid-body' | 'last-octet';

const TIMEOUT = 60_000;
/** No signal comes near; whoever goes on talking must not fill the memory. */
const MOST_OCTETS = 4_000_000;

/**
 * Sends a message over a connection of its own and reads the answer. Ends in any case: when nothing moves for `o.timeout`, and when it takes
 * twice as long in all.
 * @throws {Failure} `unanswered`
 */
export function post(url: URL, message: Sendable, o: WireOptions = {}): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    let settled = false;
    const { socket } = open(url, o.ca, () => upload(socket, url, message, o));
    const late = setTimeout(() => fail('it took too long'), 2 * (o.timeout ?? TIMEOUT));
    const fail = (why: string) => {
      if (settled) return;
      settled = true;
      clearTimeout(late);
      socket.destroy();
      const said = received.length === 0 ? '' : `; it said ${JSON.stringify(received.toString('latin1', 0, 200))}`;
      reject(new Failure('unanswered', `no whole answer: ${why}${said}`));
    };
    const look = (closed: boolean) => {
      const answer = settled ? null : parseAnswer(received, closed);
      if (answer === null || answer.length === null) return;
      settled = true;
      clearTimeout(late);
      socket.destroy();
      resolve({ status: answer.status, headers: answer.headers, body: answer.body });
    };
    socket.setTimeout(o.timeout ?? TIMEOUT, () => fail('it took too long'));
    socket.on('data', (piece: Buffer) => {
      received = Buffer.concat([received, piece]);
      if (received.length > MOST_OCTETS) fail(`it goes on after ${MOST_OCTETS} octets`);
      else look(false);
    });
    socket.on('error', (error) => fail(error.message));
    socket.on('close', () => {
      look(true);
      fail('the connection was closed');
    });
  });
}

/**
 * Sends a message and loses the answer: the connection is reset at `cut`.
 * @param committed for `unread`, resolves once the receiver must have answered
 * @returns the octets of the answer up to the cut
 */
export function postAndLose(
  url: URL,
  message: Sendable,
  cut: Cut,
  committed: () => Promise<void>,
  o: WireOptions = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    let settled = false;
    const lose = (octets: Buffer) => {
      settled = true;
      reset();
      resolve(octets);
    };
    const { socket, reset } = open(url, o.ca, () => {
      upload(socket, url, message, o);
      if (cut === 'unread') void committed().then(() => lose(Buffer.alloc(0)), reject);
    });
    const stop = () => void socket.destroy(new Error('it took too long'));
    const late = setTimeout(stop, 2 * (o.timeout ?? TIMEOUT));
    socket.setTimeout(o.timeout ?? TIMEOUT, stop);
    if (cut === 'unread') socket.pause();
    else {
      socket.on('data', (piece: Buffer) => {
        received = Buffer.concat([received, piece]);
        const length = settled ? null : cutAt(cut, received);
        if (length !== null) lose(received.subarray(0, length));
        else if (received.length > MOST_OCTETS) socket.destroy(new Error(`it goes on after ${MOST_OCTETS} octets`));
      });
    }
    socket.on('error', (error) => {
      if (!settled) reject(new Failure('unanswered', `no answer to lose: ${error.message}`));
    });
    socket.on('close', () => {
      clearTimeout(late);
      if (!settled) reject(new Failure('unanswered', 'no answer to lose: the connection was closed'));
    });
  });
}

/** How much of the answer is seen before the cut; null while too little has come to say. */
function cutAt(cut: Exclude<Cut, 'unread'>, received: Buffer): number | null {
  if (cut === 'status-line') {
    const end = received.indexOf('\r\n');
    return end < 0 ? null : end + 2;
  }
  const answer: ParsedAnswer | null = parseAnswer(received, false);
  if (answer === null) return null;
  if (cut === 'headers') return answer.headLength;
  if (answer.length === null) return null;
  return cut === 'last-octet' ? answer.length - 1 : answer.headLength + ((answer.length - answer.headLength) >> 1);
}

function upload(socket: Socket, url: URL, message: Sendable, o: WireOptions): void {
  const [head, body] = requestOctets(url, message, o);
  socket.write(head);
  if (o.cutUpload === undefined) socket.write(body);
  else socket.end(body);
}
