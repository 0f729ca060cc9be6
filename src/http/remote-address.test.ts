import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { remoteAddressBehind } from './remote-address.ts';

function from(socket: string | undefined, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { socket: { remoteAddress: socket }, headers } as unknown as IncomingMessage;
}

describe('the address of a sender', () => {
  const behind = remoteAddressBehind(['10.0.0.1', '192.168.0.0/16', 'fd00::/8']);

  it.each([
    ['is the socket’s without a proxy', '203.0.113.9', undefined, '203.0.113.9'],
    ['is the socket’s when it writes X-Forwarded-For itself', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['is what our proxy says', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['is never what stands in front of it', '10.0.0.1', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['is found behind two proxies', '10.0.0.1', '198.51.100.1, 203.0.113.9, 192.168.3.4', '203.0.113.9'],
    ['may be IPv6, with brackets and port', 'fd00::1', '[2001:db8::9]:4711', '2001:db8::9'],
    ['may have a port', '10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
    ['is IPv4 on a socket that listens on both', '::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['is the proxy when it says nothing', '10.0.0.1', undefined, '10.0.0.1'],
    ['is the proxy when it says nonsense', '10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
    ['is the first of our own when all are', '10.0.0.1', '192.168.0.7', '192.168.0.7'],
    ['is empty once the connection is gone', undefined, '203.0.113.9', ''],
  ])('%s', (_, socket, forwarded, expected) => {
    expect(behind(from(socket, forwarded))).toBe(expected);
  });

  it('is never taken from a header when no proxy is configured', () => {
    expect(remoteAddressBehind([])(from('127.0.0.1', '203.0.113.9'))).toBe('127.0.0.1');
  });
});
