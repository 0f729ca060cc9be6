import type { SignedReference } from '../../fixtures/sender/options.ts';
import type { AnswerSignal, Signal } from '../answer/read-answer.ts';
import { Failure } from '../failure.ts';
import type { MadeMessage } from '../message.ts';
import type { WireAnswer } from '../wire/post.ts';

/** An answer with the signal in it, read once. */
export interface Reply extends WireAnswer {
  readonly read: AnswerSignal;
}

/** What an error signal must be like. */
export interface ErrorDemand {
  /** Any of these, without `EBMS:`. Empty: any code. */
  readonly codes: readonly string[];
  /** Default 200. */
  readonly statuses?: readonly number[];
  /** ErrorDetail: this very text, or (true) some. */
  readonly detail?: string | true;
  /** RefToMessageId: that of the message (default), none, or whichever of the two. */
  readonly echo?: 'message' | 'none' | 'any';
}

/** Whether the answer is the signed receipt for this message (AS4 §5.1.8). @throws {Failure} */
export function judgeReceipt(answer: Reply, message: MadeMessage): Signal {
  const { read } = answer;
  if ('none' in read) throw new Failure('no-signal', `HTTP ${answer.status} without a signal: ${read.none}`);
  const { signal } = read;
  if (signal.receipt === null) throw new Failure('refused', `no receipt but ${errorsOf(signal)}`);
  if (answer.status < 200 || answer.status > 299) {
    throw new Failure('other-status', `a receipt with HTTP status ${answer.status}`);
  }
  if (signal.fault !== null) throw new Failure('unsigned', `the receipt proves nothing: ${signal.fault}`);
  if (signal.errors.length > 0) throw new Failure('form', 'an error beside the receipt');
  if (signal.refToMessageId !== message.messageId) {
    throw new Failure('receipt', `RefToMessageId is ${signal.refToMessageId}, not ${message.messageId}`);
  }
  const wrong = compareReferences(message.references, signal.receipt.references);
  if (wrong !== null) throw new Failure('receipt', wrong);
  return signal;
}

/** Null when the receipt repeats every signed reference, in whatever order, and no other. */
function compareReferences(sent: readonly SignedReference[], told: readonly SignedReference[]): string | null {
  if (sent.length !== told.length) return `${sent.length} parts are signed and ${told.length} are receipted`;
  const left = [...told];
  for (const reference of sent) {
    const at = left.findIndex((each) => each.uri === reference.uri);
    const found = left[at];
    if (found === undefined) return `no ds:Reference in the receipt has the URI ${reference.uri}`;
    left.splice(at, 1);
    for (const key of ['digestMethod', 'digestValue'] as const) {
      if (found[key] !== reference[key]) return `${key} of ${reference.uri} is ${found[key]}, not ${reference[key]}`;
    }
    const [theirs, ours] = [found, reference].map((each) => JSON.stringify(each.transforms));
    if (theirs !== ours) return `ds:Transforms of ${reference.uri} are ${theirs}, not ${ours}`;
  }
  return null;
}

/** Whether the answer is a signed error signal that says what it must. @throws {Failure} */
export function judgeError(answer: Reply, message: MadeMessage, demand: ErrorDemand): Signal {
  const { read } = answer;
  if ('none' in read) throw new Failure('no-signal', `HTTP ${answer.status} without a signal: ${read.none}`);
  const { signal } = read;
  if (signal.receipt !== null) throw new Failure('accepted', 'a receipt, where the message must be refused');
  const [error] = signal.errors;
  if (error === undefined) throw new Failure('form', 'a signal with neither a receipt nor an error');
  const codes = demand.codes.map((code) => `EBMS:${code}`);
  const said = signal.errors.map(({ code }) => code ?? 'none');
  if (codes.length > 0 && !said.some((code) => codes.includes(code))) {
    throw new Failure('other-code', `${errorsOf(signal)}, not ${codes.join(' or ')}`);
  }
  if (signal.errors.some(({ severity }) => severity !== 'failure')) {
    throw new Failure('form', `severity is ${signal.errors.map(({ severity }) => severity).join()}, not failure`);
  }
  if (demand.detail === true ? !error.detail : demand.detail !== undefined && error.detail !== demand.detail) {
    throw new Failure('form', `ErrorDetail is ${JSON.stringify(error.detail)}`);
  }
  checkEcho(signal, message, demand.echo ?? 'message');
  if (signal.fault !== null) throw new Failure('unsigned', `${errorsOf(signal)}, but ${signal.fault}`);
  const statuses = demand.statuses ?? [200];
  if (!statuses.includes(answer.status)) {
    throw new Failure('other-status', `HTTP status ${answer.status}, not ${statuses.join(' or ')}`);
  }
  return signal;
}

function checkEcho(signal: Signal, { messageId }: MadeMessage, echo: 'message' | 'none' | 'any'): void {
  const { refToMessageId } = signal;
  const [expected, also] = echo === 'none' ? [null, null] : [messageId, echo === 'any' ? null : messageId];
  if (refToMessageId !== expected && refToMessageId !== also) {
    throw new Failure('form', `RefToMessageId is ${refToMessageId}, not ${expected ?? 'absent'}`);
  }
  for (const { refToMessageInError } of signal.errors) {
    if (refToMessageInError !== null && refToMessageInError !== refToMessageId) {
      throw new Failure('form', `refToMessageInError is ${refToMessageInError} and RefToMessageId ${refToMessageId}`);
    }
  }
}

/** Whether the answer has one of these statuses and no signal. @throws {Failure} */
export function judgeNoSignal(answer: Reply, statuses: readonly number[]): void {
  const { read } = answer;
  if ('signal' in read) {
    const { receipt } = read.signal;
    throw receipt === null
      ? new Failure('other-code', `HTTP ${answer.status} with ${errorsOf(read.signal)}`)
      : new Failure('accepted', 'a receipt, where the message must be refused');
  }
  if (!statuses.includes(answer.status)) {
    throw new Failure('other-status', `HTTP status ${answer.status}, not ${statuses.join(' or ')}`);
  }
}

/** Whether the two answers are the same to the octet, Content-Type included. @throws {Failure} */
export function judgeSame(first: Reply, second: Reply): void {
  if (first.status !== second.status) {
    throw new Failure('changed', `status ${second.status}, the first time ${first.status}`);
  }
  const [before, after] = [first, second].map(({ headers }) => headers['content-type']);
  if (before !== after) throw new Failure('changed', `Content-Type ${after}, the first time ${before}`);
  if (!first.body.equals(second.body)) throw new Failure('changed', 'the body is not the one of the first time');
}

function errorsOf({ errors }: Signal): string {
  return errors
    .map(({ code, description, detail }) => `${code} (${(detail ?? description ?? '').trim().slice(0, 200)})`)
    .join(', ');
}
