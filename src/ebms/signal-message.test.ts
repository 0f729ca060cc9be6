import { describe, expect, it } from 'vitest';
import { parseXml } from '../xml/parse.ts';
import { EB, S12 } from './namespaces.ts';
import { isPostedSignal } from './signal-message.ts';
import { readMessaging } from './user-message.ts';

const NS = `xmlns:eb="${EB}" xmlns:S12="${S12}"`;
const INFO =
  '<eb:MessageInfo><eb:Timestamp>2026-01-01T00:00:00Z</eb:Timestamp><eb:MessageId>s@a</eb:MessageId><eb:RefToMessageId>m@a</eb:RefToMessageId></eb:MessageInfo>';
const parse = (xml: string) => parseXml(Buffer.from(xml)).root;
const read = (signal: string) =>
  readMessaging(parse(`<eb:Messaging ${NS}><eb:SignalMessage>${signal}</eb:SignalMessage></eb:Messaging>`));

describe('a signal posted to us', () => {
  it('is read as a signal when it is a Receipt', () => {
    expect(read(`${INFO}<eb:Receipt><r xmlns="urn:x"/></eb:Receipt>`)).toEqual({
      kind: 'signal',
      signal: { messageId: 's@a', refToMessageId: 'm@a', receipt: true, errors: [] },
    });
  });

  it('is read as a signal when it is an Error, however broken: an error is never answered with an error', () => {
    const error = '<eb:Error errorCode="EBMS:0004" severity="failure"><eb:ErrorDetail>why</eb:ErrorDetail></eb:Error>';
    expect(read(INFO + error)).toMatchObject({
      kind: 'signal',
      signal: { errors: [{ errorCode: 'EBMS:0004', errorDetail: 'why' }] },
    });
    expect(read('text<eb:Error/><eb:Unknown/>')).toMatchObject({ kind: 'signal', signal: { messageId: null } });
  });

  it('is answered with EBMS:0008 when it is a PullRequest or of an unknown kind', () => {
    for (const signal of ['<eb:PullRequest/>', '<x xmlns="urn:x"/>']) {
      expect(() => read(INFO + signal)).toThrowError(expect.objectContaining({ code: 'EBMS:0008' }));
    }
  });

  it('is answered with EBMS:0009 when it signals nothing', () => {
    expect(() => read(INFO)).toThrowError(expect.objectContaining({ code: 'EBMS:0009' }));
  });

  it('is recognised in an envelope that nobody has verified', () => {
    const envelope = (content: string) =>
      parse(`<S12:Envelope ${NS}><S12:Header><eb:Messaging>${content}</eb:Messaging></S12:Header></S12:Envelope>`);
    expect(isPostedSignal(envelope('<eb:SignalMessage><eb:Error/></eb:SignalMessage>'))).toBe(true);
    expect(isPostedSignal(envelope('<eb:SignalMessage><eb:Receipt/></eb:SignalMessage>'))).toBe(true);
    expect(isPostedSignal(envelope('<eb:SignalMessage><eb:PullRequest/></eb:SignalMessage>'))).toBe(false);
    expect(isPostedSignal(envelope('<eb:SignalMessage><eb:Error/></eb:SignalMessage><eb:UserMessage/>'))).toBe(false);
    expect(isPostedSignal(parse('<a/>'))).toBe(false);
  });
});
