import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { noCheckpoint } from '../checkpoint.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { InProgress } from '../dedup/in-progress.ts';
import { policyDefaults } from '../dedup/policy.ts';
import { PolicyFile } from '../dedup/policy-file.ts';
import { folderDelivery } from '../delivery/delivery.ts';
import { inboxMarker } from '../delivery/markers.ts';
import type { Receive } from '../exchange.ts';
import { BufferBudget } from '../mime/buffer.ts';
import { type Identity, loadIdentity } from '../pki/identity.ts';
import { RevocationWatch } from '../pki/revocation-watch.ts';
import { TrustStore } from '../pki/trust.ts';
import { createReceive } from '../receive.ts';
import { openSpool } from '../spool.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { AcceptOutcome, NewMessage } from '../store/types.ts';
import { environmentOf } from '../testing/receiver.ts';

/** What all receivers of a run share; a certificate is the same for every database. */
export interface Shared {
  readonly config: Config;
  readonly identity: Identity;
  readonly trust: TrustStore;
  readonly revocation: RevocationWatch;
  readonly policy: PolicyFile;
  readonly now: () => number;
}

const log = pino({ level: 'silent' });

export async function loadShared(now: () => number): Promise<Shared> {
  const { config } = await loadConfig({ file: null, env: environmentOf(tmpdir(), {}), cwd: tmpdir() });
  const identity = await loadIdentity(config.identity);
  const trust = await TrustStore.load({ ...config.trust, environment: config.environment, now });
  const revocation = new RevocationWatch({ trust, identity, settings: config.trust, now, log });
  const policy = await PolicyFile.load('', policyDefaults(config), { now, onChange: () => {} });
  return { config, identity, trust, revocation, policy, now };
}

/** What is there when nothing is left to do. */
export interface Remains {
  readonly messages: number;
  readonly held: number;
  readonly spooled: number;
  /** MessageIds of the entries in the inbox. */
  readonly delivered: readonly string[];
}

export interface Taken {
  readonly message: NewMessage;
  readonly outcome: AcceptOutcome;
}

/** A receiver with a database, a spool and an inbox of its own, and real in everything but HTTP. */
export interface World {
  /** Takes bodies into memory, as most are. */
  readonly buffered: Receive;
  /** Reads every body as a stream. */
  readonly streamed: Receive;
  /** What was handed to the store since it was last asked, and what became of it. */
  taken(): Taken[];
  /** MessageIds that were given a receipt here: whatever comes under one of them again may be answered from the store. */
  readonly receipted: Set<string>;
  /** Ends it, and tells what it leaves. */
  end(): Promise<Remains>;
}

export async function openWorld(s: Shared): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'quittance-fuzz-'));
  const database = join(directory, 'quittance.db');
  const { now } = s;
  const fail = (error: Error) => {
    throw error;
  };
  const store = await openSqliteStore({ url: `sqlite:${database}`, onFatal: fail, heartbeat: false });
  const spool = openSpool(join(directory, 'spool'), 4096, randomUUID);
  const delivery = folderDelivery({
    outbox: store.outbox,
    lockFile: join(directory, 'lock'),
    inbox: join(directory, 'inbox'),
    staging: join(directory, 'staging'),
    mode: s.config.delivery.mode,
    group: s.config.delivery.group,
    afterPowerLoss: s.config.delivery.afterPowerLoss,
    restored: false,
    crashAt: undefined,
    newId: randomUUID,
    now,
    log,
  });
  await delivery.start();
  let taken: Taken[] = [];
  const receiveWith = (buffer: number): Receive =>
    createReceive({
      identity: s.identity,
      trust: s.trust,
      revocation: s.revocation,
      store: {
        ...store,
        async accept(message) {
          const outcome = await store.accept(message);
          taken.push({ message, outcome });
          return outcome;
        },
      },
      serviced: null,
      spool,
      budget: new BufferBudget(s.config.limits.buffered),
      copies: new InProgress(8),
      limits: { ...s.config.limits, buffer },
      policy: () => s.policy.policy,
      rebuilt: s.config.duplicates.rebuilt,
      sbdh: s.config.peppol.sbdh,
      waitForCopy: 1_000,
      hasRoom: () => true,
      wakeDelivery: () => delivery.wake(),
      onFatal: fail,
      observe: () => {},
      unproven: () => {},
      checkpoint: noCheckpoint,
      now,
      newId: randomUUID,
      log,
    });
  return {
    buffered: receiveWith(s.config.limits.buffer),
    streamed: receiveWith(0),
    receipted: new Set(),
    taken() {
      const all = taken;
      taken = [];
      return all;
    },
    async end() {
      await delivery.idle();
      await delivery.stop();
      const spooled = readdirSync(join(directory, 'spool'), { recursive: true, withFileTypes: true });
      spool.close();
      await store.close();
      const db = new Database(database, { readonly: true });
      const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
      const remains = { messages: count('message'), held: count('held') };
      db.close();
      const inbox = join(directory, 'inbox');
      const delivered = readdirSync(inbox)
        .filter((name) => name !== inboxMarker)
        .map((name) => (JSON.parse(readFileSync(join(inbox, name, 'metadata.json'), 'utf8')) as Named).messageId);
      rmSync(directory, { recursive: true, force: true });
      const isSpooled = (entry: (typeof spooled)[number]) => entry.isFile() && !entry.name.startsWith('lock');
      return { ...remains, spooled: spooled.filter(isSpooled).length, delivered };
    },
  };
}

interface Named {
  readonly messageId: string;
}
