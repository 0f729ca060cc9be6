import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { PARTICIPANTS } from '../../fixtures/sender/messaging.ts';
import type { Options } from '../options.ts';
import { Inbox } from '../runner/inbox.ts';
import { whyUnreachable } from '../wire/connection.ts';
import { readCertificate, readPem, readSigner, signersIn } from './keys.ts';
import type { Target } from './target.ts';

/** ms that a restart command may take. */
const RESTART = 120_000;

/**
 * Any endpoint by its URL, with the keys that the command line names.
 * @throws Error with a sentence for the user
 */
export function endpoint(url: URL, o: Options): Target {
  const tlsCa = o.tlsCa === null ? undefined : readPem(o.tlsCa);
  if (o.inbox !== null && !statSync(o.inbox, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`--inbox ${o.inbox} is not a directory.`);
  }
  return {
    name: o.name ?? url.href,
    url,
    tlsCa,
    timeout: o.timeout,
    receiver: readCertificate(o.receiverCert),
    sender: readSigner(o.senderCert, o.senderKey),
    sender2: o.sender2Cert === null || o.sender2Key === null ? null : readSigner(o.sender2Cert, o.sender2Key),
    bad: signersIn(o.badCerts),
    participants: {
      sender: o.originalSender ?? PARTICIPANTS.sender,
      receiver: o.finalRecipient ?? PARTICIPANTS.receiver,
    },
    notServiced: o.notServiced,
    setServiced: null,
    inbox: o.inbox === null ? null : new Inbox(o.inbox),
    restart: o.restartCommand === null ? null : () => restart(o.restartCommand ?? '', url, tlsCa),
    serviced: null,
    stop: async () => {},
  };
}

async function restart(command: string, url: URL, ca: string | undefined): Promise<void> {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'ignore', 'inherit'], timeout: RESTART });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`the restart command ended with ${code ?? signal}`);
  for (const end = Date.now() + 60_000; ; ) {
    const why = await whyUnreachable(url, ca);
    if (why === null) return;
    if (Date.now() > end) throw new Error(`a minute after the restart command there is nothing: ${why}`);
    await sleep(100);
  }
}
