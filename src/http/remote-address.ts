import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Who sends a request: an IP address, or '' when its connection is gone already. */
export type RemoteAddress = (request: IncomingMessage) => string;

/** @param proxies addresses and networks such as `10.0.0.0/8`; checked by the configuration */
export function proxyList(proxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = '', prefix] = proxy.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(prefix), family);
  }
  return (address) => {
    const bare = plain(address);
    return bare !== '' && trusted.check(bare, isIP(bare) === 6 ? 'ipv6' : 'ipv4');
  };
}

/**
 * The socket's own word, unless that is a proxy of ours: then the last entry of X-Forwarded-For that is none of them. Entries in front
 * of it were written by strangers. An entry that is no address ends the search at the proxy that sent it.
 * @param proxies addresses and networks such as `10.0.0.0/8`; checked by the configuration
 */
export function remoteAddressBehind(proxies: readonly string[]): RemoteAddress {
  const isProxy = proxyList(proxies);

  return (request) => {
    let address = plain(request.socket.remoteAddress ?? '');
    if (proxies.length === 0 || address === '' || !isProxy(address)) return address;
    const forwarded = request.headers['x-forwarded-for'];
    const entries = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',');
    while (entries.length > 0) {
      const entry = plain((entries.pop() as string).trim());
      if (isIP(entry) === 0) return address;
      address = entry;
      if (!isProxy(address)) return address;
    }
    return address;
  };
}

/** Without the brackets and ports that some proxies add, and an IPv4 address as such. */
function plain(text: string): string {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1] ?? bare;
}
