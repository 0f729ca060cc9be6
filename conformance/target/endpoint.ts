import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { PARTICIPANTS } from '../../fixtures/sender/messaging.ts';
import type { Options } from '../options.ts';
import { Inbox } from '../runner/inbox.ts';
import { listens } from '../wire/post.ts';
import { readCertificate, readSigner, signersIn } from './keys.ts';
import type { Target } from './target.ts';

/** Any endpoint by its URL, with the keys that the command line names. */
export function endpoint(url: URL, o: Options): Target {
  return {
    name: o.name ?? url.href,
    url,
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
    restart: o.restartCommand === null ? null : () => restart(o.restartCommand ?? '', url),
    serviced: null,
    stop: async () => {},
  };
}

async function restart(command: string, url: URL): Promise<void> {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the restart command ended with ${code}`);
  for (const end = Date.now() + 60_000; !(await listens(url)); ) {
    if (Date.now() > end) throw new Error('nothing listens a minute after the restart command');
    await sleep(100);
  }
}
