import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { crashAt, noCheckpoint } from './checkpoint.ts';
import type { Config } from './config/schema.ts';
import { InProgress } from './dedup/in-progress.ts';
import { policyDefaults } from './dedup/policy.ts';
import { PolicyFile } from './dedup/policy-file.ts';
import { type Delivery, folderDelivery } from './delivery/delivery.ts';
import type { Degradation, Health } from './http/health.ts';
import { createMetrics } from './http/metrics.ts';
import { proxyList, remoteAddressBehind } from './http/remote-address.ts';
import { type Server, startServer } from './http/server.ts';
import { Sources } from './http/sources.ts';
import { loadTls } from './http/tls.ts';
import { registerMeters } from './meters.ts';
import { BufferBudget } from './mime/buffer.ts';
import { openServiced, type ServicedGate } from './open-serviced.ts';
import { loadIdentity } from './pki/identity.ts';
import { refuseTestIdentity } from './pki/issuers.ts';
import { RevocationWatch } from './pki/revocation-watch.ts';
import { TrustStore } from './pki/trust.ts';
import { registerPkiMeters } from './pki-meters.ts';
import { createReceive } from './receive.ts';
import { reviewConcerns, waitingReviews } from './review-watch.ts';
import { openSpool } from './spool.ts';
import { openSqliteStore } from './store/sqlite.ts';
import { systemClock } from './store/system-clock.ts';
import type { Store } from './store/types.ts';
import { TlsWatch } from './tls-watch.ts';
import { type SpaceWatch, watchSpace } from './watch-space.ts';

export interface QuittanceOptions {
  readonly config: Config;
  readonly log: Logger;
  /** The operator says that this database is a restored copy. */
  readonly restored?: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Epoch ms; a test sets it to the day of a capture. */
  readonly now?: () => number;
}

export interface Quittance {
  /** Starts to receive and to deliver; resolves with the URL of the endpoint. */
  listen(): Promise<string>;
  /**
   * Finishes what is in flight, then closes delivery and store.
   * @returns stuck: a file call on a hung inbox still keeps its thread, and would keep the process (see Delivery.stuck)
   */
  close(): Promise<{ readonly stuck: boolean }>;
  /** Resolves when the store can no longer be trusted: the process must end. */
  readonly onFatal: Promise<Error>;
  /** Reads the TLS files and the trust files again; what is broken stays as it was, and the log says so. Never rejects. */
  reload(): Promise<void>;
  /** Resolves when nothing is left to deliver. */
  idle(): Promise<void>;
  readonly store: Store;
}

/** Trust files are read again this often: CRLs are renewed by whoever puts them there. */
const TRUST_RELOAD = 60_000;
/** Payloads up to this stay in memory and go into the row (architecture §3). */
const IN_MEMORY = 256 * 1024;
/** Messages whose senders are known again after a start. */
const KNOWN_MESSAGES = 100_000;

/** Puts the receiver together. Throws ConfigError, PkiError, StoreError or DeliveryError, each with a sentence that says what to do. */
export async function createQuittance(o: QuittanceOptions): Promise<Quittance> {
  const { config, log } = o;
  const now = o.now ?? Date.now;
  const crashSetting = config.environment === 'test' ? o.env.QUITTANCE_CRASH_AT : undefined;
  let fail: (error: Error) => void = () => {};
  const fatal = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  const identity = await loadIdentity(config.identity);
  refuseTestIdentity(identity.certificate, config.environment);
  const trust = await TrustStore.load({ ...config.trust, environment: config.environment, now });
  const revocation = new RevocationWatch({ trust, identity, settings: config.trust, now, log });
  const loadOwnTls = () => loadTls(config.tls, identity.certificate.publicKey);
  const tls = await loadOwnTls();
  const tlsWatch = new TlsWatch(tls);
  const databaseFile = config.store.url.replace(/^sqlite:/, '');
  await mkdir(dirname(databaseFile), { recursive: true });
  const serviced = config.serviced.file === '' ? null : await openServiced(config.serviced.file);
  const policy = await PolicyFile.load(config.duplicates.policy, policyDefaults(config), {
    now,
    onChange: ({ version }) => log.info({ version }, 'policy changed'),
  });
  const store = await openSqliteStore({
    url: config.store.url,
    window: config.duplicates.window,
    crashAt: crashSetting,
    onFatal: fail,
    clock: { ...systemClock, now },
    onAuditHash: ({ upTo, hash, since }) => log.info({ upTo, hash, since }, 'audit hash'),
  });
  const space = await watchSpace(dirname(databaseFile), config.store.minFree, now);
  const spool = openSpool(join(dirname(databaseFile), 'spool'), IN_MEMORY, randomUUID);
  const metrics = createMetrics();
  const budget = new BufferBudget(config.limits.buffered);
  const sources = new Sources({
    inFlight: config.http.inFlightPerSource,
    failuresPerMinute: config.http.failuresPerMinute,
    now,
  });
  // The latest last, which is the order in which they are forgotten.
  for (const address of [...(await store.recentAddresses(KNOWN_MESSAGES))].reverse()) sources.proven(address);
  const delivery = folderDelivery({
    outbox: store.outbox,
    lockFile: `${databaseFile}.delivery-lock`,
    inbox: config.delivery.inbox,
    staging: config.delivery.staging,
    mode: config.delivery.mode,
    group: config.delivery.group,
    afterPowerLoss: config.delivery.afterPowerLoss,
    restored: o.restored ?? false,
    crashAt: crashSetting,
    newId: randomUUID,
    now,
    log,
  });
  const receive = createReceive({
    identity,
    trust,
    revocation,
    store,
    unproven(remoteAddress) {
      if (!sources.failed(remoteAddress)) return;
      log.warn({ remoteAddress }, 'too many requests without an authentic message: this address gets 503 for a while');
    },
    serviced,
    spool,
    budget,
    copies: new InProgress(config.http.waiting),
    limits: config.limits,
    policy: () => policy.policy,
    rebuilt: config.duplicates.rebuilt,
    sbdh: config.peppol.sbdh,
    waitForCopy: config.http.waitForCopy,
    hasRoom: space.hasRoom,
    wakeDelivery: () => delivery.wake(),
    onFatal: fail,
    observe(seen) {
      metrics.message(seen.decision);
      if (seen.code !== null || seen.reason !== null) metrics.refusal(seen.code ?? seen.decision, seen.reason ?? '');
      for (const [name, ms] of Object.entries(seen.steps)) metrics.step(name, ms);
    },
    checkpoint: crashSetting === undefined ? noCheckpoint : crashAt(crashSetting),
    now,
    newId: randomUUID,
    log,
  });
  const reloadTrust = async () => {
    await trust.reload().catch((err: unknown) => log.error({ err }, 'the trust files could not be read again'));
    revocation.trustReloaded();
  };
  const reloadTls = async () => {
    try {
      const renewed = await loadOwnTls();
      if (renewed === null) return;
      server?.setTls(renewed);
      tlsWatch.renewed(renewed);
    } catch (err) {
      log.error({ err }, 'the TLS files could not be read again; those from before stay in use');
    }
  };
  const reloading = setInterval(reloadTrust, TRUST_RELOAD);
  reloading.unref();
  let server: Server | null = null;
  registerPkiMeters(metrics, revocation, () => tlsWatch.days(now()));
  const [inFlight, strangers] = [() => server?.inFlight() ?? 0, () => server?.strangers() ?? 0];
  registerMeters(metrics, { store, budget, inFlight, strangers, now });

  return {
    onFatal: fatal,
    store,
    idle: () => delivery.idle(),
    async reload() {
      await Promise.all([reloadTls(), reloadTrust()]);
      log.info('read TLS and trust files again');
    },
    async listen() {
      await delivery.start();
      revocation.start();
      for (const { what } of tlsWatch.concerns(now())) log.warn({}, what);
      server = await startServer({
        host: config.http.host,
        port: config.http.port,
        path: config.http.path,
        maxBody: config.http.maxBody,
        inFlight: config.http.inFlight,
        strangers: config.http.strangers,
        headersTimeoutMs: config.http.headersTimeout,
        envelopeTimeoutMs: config.http.envelopeTimeout,
        requestTimeoutMs: config.http.requestTimeout,
        keepAliveTimeoutMs: config.http.keepAliveTimeout,
        drainTimeoutMs: config.http.requestTimeout,
        retryAfterSeconds: Math.ceil(config.http.retryAfter / 1000),
        receive,
        remoteAddress: remoteAddressBehind(config.http.trustProxy),
        isProxy: proxyList(config.http.trustProxy),
        sources,
        tls,
        foldedHeaders: config.http.foldedHeaders,
        draining: config.http.draining,
        maxConnections: config.http.maxConnections,
        onRefused({ status, reason, text, remoteAddress }) {
          metrics.door(status, reason);
          // Whom it concerns will ask: "your receiver answers 415". Refusals of the parser and "try again" are for the metrics only.
          if (status !== 413 && status !== 415) return;
          const nobody = { sender: null, messageId: null, claimedMessageId: null, fingerprint: null };
          store.refuse({ at: now(), code: String(status), reason, text, remoteAddress, ...nobody });
        },
        health: () =>
          health({ store, serviced, space, delivery, revocation, tlsWatch, policy, review: config.review, now }),
        metrics: metrics.text,
        log,
        newId: randomUUID,
      });
      return server.url + config.http.path;
    },
    async close() {
      clearInterval(reloading);
      await server?.stop(config.http.shutdownTimeout);
      await revocation.stop();
      await delivery.stop();
      serviced?.close();
      policy.close();
      space.stop();
      spool.close();
      await store.close();
      return { stuck: delivery.stuck };
    },
  };
}

interface HealthSources {
  readonly store: Store;
  readonly serviced: ServicedGate | null;
  readonly space: SpaceWatch;
  readonly delivery: Delivery;
  readonly revocation: RevocationWatch;
  readonly tlsWatch: TlsWatch;
  readonly policy: PolicyFile;
  readonly review: Config['review'];
  readonly now: () => number;
}

/** 503 only when a new message would get 503 (architecture §4); everything else is said and does not take us out of service. */
async function health(s: HealthSources): Promise<Health> {
  const iso = (at: number) => new Date(at).toISOString();
  const degraded: Degradation[] = s.delivery.degraded().map(({ what, since }) => ({ what, since: iso(since) }));
  const low = s.space.since();
  if (low !== null) degraded.push({ what: 'free space is below store.minFree: new messages get 503', since: iso(low) });
  const unserviced = s.serviced?.degraded() ?? null;
  if (unserviced !== null) degraded.push({ what: unserviced, since: iso(s.now()) });
  const ending = s.tlsWatch.concerns(s.now());
  for (const { what, since } of [...s.revocation.degraded(), ...ending]) degraded.push({ what, since: iso(since) });
  for (const { what, since } of s.store.degraded()) degraded.push({ what, since: iso(since) });
  const rules = s.policy.degraded();
  if (rules !== null) degraded.push({ what: rules, since: iso(s.now()) });
  const stored = await storedConcerns(s);
  degraded.push(...stored.degraded);
  const ready = stored.answers && low === null && s.serviced?.ready() !== false && s.revocation.decides(s.now());
  return { ready, degraded };
}

/** What the store knows of; one that cannot be asked takes no message either. */
async function storedConcerns(s: HealthSources): Promise<{ answers: boolean; degraded: Degradation[] }> {
  const since = new Date(s.now()).toISOString();
  try {
    const [counts, reviews] = await Promise.all([s.store.counts(), waitingReviews(s.store)]);
    const stuck = (['unknown', 'undeliverable'] as const).filter((state) => counts[state] > 0);
    const degraded = [
      ...reviewConcerns(reviews, s.review, s.now()),
      ...stuck.map((state) => ({ what: `${counts[state]} hand-overs in state ${state}`, since })),
    ];
    return { answers: true, degraded };
  } catch (error) {
    // A reader of the database, not a sender: the reason helps it, and holds nothing of a message.
    const reason = error instanceof Error ? error.message : String(error);
    return { answers: false, degraded: [{ what: `the store does not answer: ${reason}`, since }] };
  }
}
