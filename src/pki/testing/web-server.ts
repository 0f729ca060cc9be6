import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server on loopback that does what the test says, also when it should behave badly. */
export interface WebServer {
  readonly origin: string;
  /** As an entry of `trust.crlHosts`. */
  readonly host: string;
  /** Paths that were asked for, in order. */
  readonly asked: string[];
  answer: RequestListener;
  stop(): Promise<void>;
}

export async function startWebServer(answer: RequestListener): Promise<WebServer> {
  const server = createServer((request, response) => {
    web.asked.push(request.url ?? '');
    web.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const web: WebServer = {
    origin: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    asked: [],
    answer,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return web;
}

/** Answers with these bytes, whatever is asked. */
export function serve(bytes: string | Buffer, headers: Readonly<Record<string, string>> = {}): RequestListener {
  return (_, response) => {
    response.writeHead(200, headers);
    response.end(bytes);
  };
}

/** Takes the request and never says anything. */
export const hang: RequestListener = () => {};
