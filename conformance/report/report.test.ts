import { XmlDocument } from 'libxml2-wasm';
import { expect, it } from 'vitest';
import type { MadeMessage } from '../message.ts';
import type { Result } from '../runner/run.ts';
import { html } from './html.ts';
import { junit } from './junit.ts';

const EVIL = `<script>alert('1')</script> & "quotes" \u0000\u0008 ]]>`;

const message: MadeMessage = {
  headers: { 'Content-Type': EVIL },
  body: Buffer.from(EVIL),
  messageId: EVIL,
  envelope: EVIL,
  references: [],
  payloads: [],
  wire: {},
};

const failed: Result = {
  case: { id: 'X-01', source: EVIL, asserts: EVIL, basis: 'norm', run: async () => {} },
  verdict: 'failed',
  detail: EVIL,
  kind: 'form',
  ms: 12,
  exchanges: [
    {
      url: new URL('http://127.0.0.1/as4'),
      message,
      wire: {},
      answer: { status: 200, headers: { server: EVIL }, body: Buffer.from(EVIL) },
    },
  ],
};

it('whatever a receiver answers is shown in the HTML report and never obeyed', () => {
  const page = html(EVIL, [{ title: EVIL, results: [failed] }], new Date(0));
  expect(page).not.toContain('<script');
  expect(page).toContain('&#60;script&#62;alert(&#39;1&#39;)');
  expect(page).not.toMatch(/[\u0000\u0008]/);
});

it('the JUnit report is well-formed, whatever a receiver answers', () => {
  const document = XmlDocument.fromString(junit(EVIL, [failed, { ...failed, verdict: 'skipped' }], 1.5));
  expect(document.root.attr('failures')?.value).toBe('1');
  expect(document.root.attr('skipped')?.value).toBe('1');
  expect(document.find('/testsuite/testcase/failure')).toHaveLength(1);
  document.dispose();
});
