import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAnswer } from '../wire/head.ts';
import { Checks } from './checks.ts';
import type { Passed } from './tap.ts';
import { CERTS } from './tools.ts';

const receiver = new X509Certificate(readFileSync(join(CERTS, 'receiver.crt')));

function passed(request: string, answer: string): Passed {
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/soap+xml\r\nContent-Length: ${answer.length}\r\n\r\n`;
  const octets = Buffer.from(head + answer);
  const parsed = parseAnswer(octets, true);
  if (parsed === null) throw new Error('the answer of the test is none');
  return { request: Buffer.from(`POST /as4 HTTP/1.1\r\n\r\n${request}`), answer: parsed, octets };
}

const failed = (checks: Checks) => checks.all.filter(({ ok }) => !ok).map(({ what }) => what);

it('an answer that is no signal is no receipt', () => {
  const checks = new Checks();
  checks.receipts([passed('', '<not/>')], 'id@test', receiver);
  expect(failed(checks)).toEqual(['signature']);
});

it('no answer at all is no receipt', () => {
  const checks = new Checks();
  checks.receipts([], 'id@test', receiver);
  expect(failed(checks)).toEqual(['something was sent']);
});

it('a second answer that differs is noticed, and so is a request that does', () => {
  const checks = new Checks();
  checks.sameOctets([passed('one', 'a'), passed('two', 'b')]);
  expect(failed(checks)).toEqual(['request repeated to the octet', 'same answer to the octet']);
});

it('one answer is no proof of a repeated one', () => {
  const checks = new Checks();
  checks.sameOctets([passed('one', 'a')]);
  expect(failed(checks)).toEqual(['more than one answer']);
});
