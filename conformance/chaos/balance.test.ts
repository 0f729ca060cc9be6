import { expect, it } from 'vitest';
import { balance, type Delivery, type SentMessage } from './balance.ts';

const form = (n: number, receipts: readonly string[]) => ({
  references: `references ${n}`,
  payloads: [`sbd ${n}`, `slip ${n}`],
  receipts: new Set(receipts),
});
const message = (n: number, receipts: readonly string[], pending = false): SentMessage => ({
  messageId: `message ${n}`,
  forms: [form(n, receipts)],
  pending,
});
const delivery = (n: number, name = `directory ${n}`): Delivery => ({
  name,
  files: new Set([`sbd ${n}`, `slip ${n}`, `metadata of ${name}`]),
});

it('finds nothing when every message with a receipt is there once', () => {
  expect(balance([message(1, ['a']), message(2, ['b'])], [delivery(1), delivery(2)])).toEqual([]);
});

it('lets a message that its sender waits for be there or not', () => {
  expect(balance([message(1, [], true), message(2, [], true)], [delivery(1)])).toEqual([]);
});

it('finds a message that is in the folder twice, with a receipt or without', () => {
  const twice = [delivery(1, 'one'), delivery(1, 'other')];
  expect(balance([message(1, ['a'])], twice)).toEqual(['message 1 is 2 times in the folder: one, other']);
  expect(balance([message(1, [], true)], twice)).toEqual(['message 1 is 2 times in the folder: one, other']);
});

it('finds a message that is in the folder once in each of two forms', () => {
  const rebuilt = { messageId: 'message 1', forms: [form(1, ['a']), form(2, ['b'])], pending: false };
  expect(balance([rebuilt], [delivery(2)])).toEqual([]);
  expect(balance([rebuilt], [delivery(1), delivery(2)])).toEqual([
    'message 1 is 2 times in the folder: directory 1, directory 2',
  ]);
});

it('finds a message with a receipt that is missing, in whole or in part', () => {
  const missing = 'message 1 has a receipt and is not in the folder';
  expect(balance([message(1, ['a'])], [])).toEqual([missing]);
  expect(balance([message(1, ['a'])], [{ name: 'half', files: new Set(['sbd 1']) }])).toContain(missing);
});

it('finds two receipts for one reference set, whoever got them', () => {
  const wrong = ['message 1 got 2 different receipts for one reference set'];
  expect(balance([message(1, ['a', 'b'])], [delivery(1)])).toEqual(wrong);
  const again = { ...form(1, ['b']), payloads: ['sbd 1'] };
  const reencrypted = { messageId: 'message 1', forms: [form(1, ['a']), again], pending: false };
  expect(balance([reencrypted], [delivery(1)])).toEqual(wrong);
});

it('finds what is in the folder and was refused, or never sent', () => {
  expect(balance([message(1, [])], [delivery(1), delivery(2)])).toEqual([
    'message 1 is in the folder without a receipt',
    'directory 2 in the folder is nothing that was sent',
  ]);
});
