import { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface Connection {
  /** What is said and heard, in plain text. */
  readonly socket: Socket;
  /** Breaks it off with a TCP reset. */
  readonly reset: () => void;
}

/** ms until a host that does not say anything counts as not there. */
const PATIENCE = 10_000;

/**
 * Opens a TCP or TLS connection, by the scheme of the URL. Errors come as events of its socket.
 * @param ca PEM of the CAs that a TLS certificate may be of; undefined: those that Node.js trusts
 */
export function open(url: URL, ca: string | undefined, connected: () => void): Connection {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const https = url.protocol === 'https:';
  // Paused before it connects, a socket reads nothing at all; `connect()` of node:net would begin at once.
  const tcp = new Socket();
  const reset = () => void tcp.resetAndDestroy();
  tcp.connect(Number(url.port || (https ? 443 : 80)), host, https ? () => {} : connected);
  if (!https) return { socket: tcp, reset };
  const trust = ca === undefined ? {} : { ca };
  // `host` is whom the certificate must name; an address has no place in SNI (RFC 6066 §3).
  const name = isAddress(url.hostname) ? {} : { servername: host };
  return { socket: connectTls({ socket: tcp, host, ...name, ...trust }, connected), reset };
}

function isAddress(hostname: string): boolean {
  return hostname.startsWith('[') || /^[0-9.]+$/.test(hostname);
}

/** Why no connection to it comes about; null when one does, TLS included. */
export function whyUnreachable(url: URL, ca: string | undefined): Promise<string | null> {
  return new Promise((resolve) => {
    const { socket } = open(url, ca, () => {
      socket.destroy();
      resolve(null);
    });
    socket.setTimeout(PATIENCE, () => socket.destroy(new Error(`nothing within ${PATIENCE / 1000} s`)));
    socket.on('error', (error) => resolve(error.message || (error as NodeJS.ErrnoException).code || 'no connection'));
    socket.on('close', () => resolve('the connection was closed'));
  });
}
