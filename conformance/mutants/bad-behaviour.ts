import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openEnvelope } from '../answer/envelope.ts';
import type { WireAnswer } from '../wire/post.ts';
import { forgeReceipt, forgeSignal } from './forge.ts';
import type { Mutant, MutantRequest } from './mutant.ts';

const isReceipt = ({ body }: WireAnswer) => body.includes('<eb:Receipt>');

const isError = ({ body }: WireAnswer) => body.includes('<eb:Error ');

function withBody(answer: WireAnswer, body: string): WireAnswer {
  return { ...answer, body: Buffer.from(body) };
}

/** Does something with the folder after a receipt. */
function careless(fault: string, caughtBy: string, harm: (request: MutantRequest) => Promise<void>): Mutant {
  return {
    fault,
    caughtBy,
    as: 'folder',
    async answer(request) {
      const answer = await request.forward();
      if (isReceipt(answer)) await harm(request);
      return answer;
    },
  };
}

const credulous = (fault: string, caughtBy: string): Mutant => ({
  fault,
  caughtBy,
  as: 'accepted',
  async answer({ text, signer, forward }) {
    const answer = await forward();
    if (isReceipt(answer)) return answer;
    const headers = { ...answer.headers, 'content-type': 'application/soap+xml; charset=UTF-8' };
    return { ...withBody(answer, forgeSignal(forgeReceipt(text), signer)), status: 200, headers };
  },
});

/** Receivers that do the wrong thing. */
export const BEHAVIOUR_MUTANTS: readonly Mutant[] = [
  credulous('a changed signature is accepted', 'NEG-AUTH-21'),
  credulous('an expired certificate is accepted', 'NEG-AUTH-01'),
  credulous('an unsigned message is accepted', 'NEG-POL-02'),
  credulous('an unencrypted payload is accepted', 'NEG-POL-09'),
  credulous('SHA-1 is accepted', 'NEG-POL-20'),
  credulous('an SBDH without COUNTRY_C1 is accepted', 'SBD-32'),
  credulous('a DOCTYPE is accepted', 'NEG-XML-03'),
  credulous('another document under a known MessageId is accepted', 'Q-DUP-11'),
  credulous('a message to somebody else is accepted', 'PM-13'),
  {
    fault: 'a duplicate gets an error, as phase4 does it',
    caughtBy: 'AS4_CP_TA10-D',
    as: 'refused',
    answer: async ({ memory, messageId, forward, signer }) => {
      const answer = await forward();
      if (!memory.has(messageId)) {
        memory.set(messageId, answer);
        return answer;
      }
      const messaging = openEnvelope(answer.body).unverified.replace(
        /<eb:Receipt>.*<\/eb:Receipt>/s,
        '<eb:Error errorCode="EBMS:0004" severity="failure"></eb:Error>',
      );
      return withBody(answer, forgeSignal(messaging, signer));
    },
  },
  {
    fault: 'a duplicate gets a new receipt, as Domibus does it',
    caughtBy: 'Q-DUP-01',
    as: 'changed',
    answer: async ({ text, forward, signer }) => {
      const answer = await forward();
      return isReceipt(answer) ? withBody(answer, forgeSignal(forgeReceipt(text), signer)) : answer;
    },
  },
  {
    fault: 'a duplicate gets another Content-Type',
    caughtBy: 'Q-DUP-01',
    as: 'changed',
    answer: async ({ memory, messageId, forward }) => {
      const answer = await forward();
      const again = memory.has(messageId);
      memory.set(messageId, answer);
      const headers = { ...answer.headers, 'content-type': 'application/soap+xml;charset=UTF-8' };
      return again ? { ...answer, headers } : answer;
    },
  },
  {
    fault: 'whoever knows a MessageId gets its receipt',
    caughtBy: 'Q-DUP-15',
    as: 'accepted',
    answer: async ({ memory, messageId, forward }) => {
      const answer = memory.get(messageId) ?? (await forward());
      memory.set(messageId, answer);
      return answer;
    },
  },
  {
    fault: 'a failed message burns its MessageId',
    caughtBy: 'Q-DUP-20',
    as: 'refused',
    answer: async ({ memory, messageId, forward }) => {
      const answer = memory.get(messageId) ?? (await forward());
      if (isError(answer)) memory.set(messageId, answer);
      return answer;
    },
  },
  {
    fault: 'it acknowledges and does not deliver',
    caughtBy: 'AS4_CP_TA32',
    as: 'folder',
    answer: async ({ text, signer }) => ({
      status: 200,
      headers: { 'content-type': 'application/soap+xml; charset=UTF-8' },
      body: Buffer.from(forgeSignal(forgeReceipt(text), signer)),
    }),
  },
  careless('it delivers everything twice', 'AS4_CP_TA32', async ({ inbox, messageId }) => {
    const entry = await delivered(inbox, messageId);
    cpSync(join(inbox, entry), join(inbox, `${entry}-again`), { recursive: true });
  }),
  careless('it changes what it delivers', 'AS4_CP_TA32', async ({ inbox, messageId }) => {
    const file = join(inbox, await delivered(inbox, messageId), 'payload.xml');
    writeFileSync(file, `${readFileSync(file, 'utf8')}\n`);
  }),
  careless('it delivers pings', 'AS4_CP_TA17', async ({ inbox, messageId }) => {
    mkdirSync(join(inbox, messageId));
    writeFileSync(join(inbox, messageId, 'metadata.json'), JSON.stringify({ messageId }));
  }),
];

/** The entry of a message, once it is there. */
async function delivered(inbox: string, messageId: string): Promise<string> {
  for (let tries = 0; tries < 100; tries++) {
    const entry = readdirSync(inbox).find((name) => name.includes(messageId));
    if (entry !== undefined) return entry;
    await sleep(50);
  }
  throw new Error(`${messageId} was not delivered`);
}
