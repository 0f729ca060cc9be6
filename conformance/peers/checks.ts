import type { X509Certificate } from 'node:crypto';
import { signedReferences } from '../../fixtures/read.ts';
import { readAnswer, type Signal } from '../answer/read-answer.ts';
import type { Passed } from './tap.ts';

/** One thing that was looked at. */
export interface Check {
  readonly what: string;
  readonly ok: boolean;
  /** What was there instead. */
  readonly instead?: string;
}

/** What we look at ourselves in a case, because the verdict of the other product is not enough. */
export class Checks {
  readonly all: Check[] = [];

  that(what: string, ok: boolean, instead?: string): void {
    this.all.push({ what, ok, ...(instead === undefined ? {} : { instead }) });
  }

  /** Each answer is a receipt of ours for this message: its signature holds, and it repeats what the request signed. */
  receipts(passed: readonly Passed[], messageId: string, receiver: X509Certificate): void {
    this.that('something was sent', passed.length > 0);
    for (const each of passed) {
      const signal = this.#signed(each, receiver);
      if (signal === null) continue;
      this.that('RefToMessageId', signal.refToMessageId === messageId, signal.refToMessageId ?? 'none');
      const { receipt } = signal;
      this.that('receipt', receipt !== null, signal.errors[0]?.code ?? 'no error either');
      const ours = JSON.stringify(receipt?.references ?? []);
      this.that('references', ours === JSON.stringify(signedReferences(each.request)), ours);
    }
  }

  /** Each answer is one signed error with one of these codes. */
  errorSignal(passed: readonly Passed[], receiver: X509Certificate, codes: readonly string[]): void {
    this.that('something was sent', passed.length > 0);
    for (const each of passed) {
      const signal = this.#signed(each, receiver);
      const error = signal?.errors[0];
      this.that('one error', signal?.errors.length === 1 && codes.includes(error?.code ?? ''), error?.code ?? 'none');
      this.that('says why', (error?.description ?? '') !== '');
    }
  }

  /** Requests are the same octets behind their headers, and so are the answers. */
  sameOctets(passed: readonly Passed[]): void {
    const [first, ...more] = passed;
    if (first === undefined) return;
    for (const { request } of more) {
      this.that('request repeated to the octet', bodyOf(request).equals(bodyOf(first.request)));
    }
    this.sameAnswer(passed);
  }

  /** The answers are the same octets, whatever the requests were. */
  sameAnswer(passed: readonly Passed[]): void {
    const [first, ...more] = passed;
    this.that('more than one answer', more.length > 0);
    if (first === undefined) return;
    for (const { answer } of more) {
      this.that('same answer to the octet', answer.body.equals(first.answer.body));
      this.that('same Content-Type', answer.headers['content-type'] === first.answer.headers['content-type']);
    }
  }

  #signed({ answer }: Passed, receiver: X509Certificate): Signal | null {
    const read = readAnswer(answer, receiver);
    const fault = 'none' in read ? read.none : read.signal.fault;
    this.that('HTTP 200', answer.status === 200, `${answer.status}`);
    this.that('signature', fault === null, fault ?? '');
    return 'none' in read ? null : read.signal;
  }
}

function bodyOf(request: Buffer): Buffer {
  return request.subarray(request.indexOf('\r\n\r\n') + 4);
}
