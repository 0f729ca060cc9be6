import type { Db } from './database.ts';
import {
  decideInterchanges,
  type InterchangeVerdict,
  type JudgedKey,
  judgeKey,
  mayBeSame,
  type StoredContent,
} from './interchange-verdict.ts';
import type { BlobAt, WireKey, WireMessage } from './protocol.ts';

/** Contents compared under one key; a key with more is a reference that its partner never changes, and no date-time helps there. */
const contentsPerKey = 200;

interface ContentRow {
  message: number;
  content: Buffer;
  dateTime: string | null;
  base: number;
  expiresAt: number;
}
interface HandOverRow {
  number: number;
  message: number;
  state: 'received' | 'review';
}

/** A key as it is written into `message.second_keys`: enough to find its row again, and for people. */
export interface KeyOnRecord {
  readonly layer: string;
  readonly scope: string;
  readonly key: string;
  readonly label: string;
  readonly content: string;
  readonly dateTime: string | null;
  /** On the first of a message's keys: it also holds something that has none. */
  readonly partial?: true;
}

export interface InterchangeJudgement extends InterchangeVerdict {
  /** Hand-overs that this message takes the place of; only with `replacePending`. */
  readonly replaced: readonly (Readonly<HandOverRow> & { readonly messageId: string })[];
}

/** The second layer inside the transaction: what the keys of a new message say, and what is recorded of them. */
export function prepareInterchanges(db: Db) {
  const columns = 'message, content_digest AS content, date_time AS dateTime, base, expires_at AS expiresAt';
  const under = `FROM interchange WHERE layer = ? AND scope = ? AND key = ? AND rejected = 0`;
  const contents = db.prepare(`SELECT ${columns} ${under} LIMIT ${contentsPerKey + 1}`);
  const sameContent = db.prepare(`SELECT ${columns} ${under} AND content_digest = ?`);
  const sameWhole = db.prepare(
    `SELECT i.message, i.content_digest AS content, i.date_time AS dateTime, i.base, i.expires_at AS expiresAt
     FROM interchange i JOIN message m ON m.id = i.message
     WHERE i.layer = ? AND i.scope = ? AND i.key = ? AND i.content_digest = ? AND i.rejected = 0 AND m.content_digest = ?`,
  );
  const messageId = db.prepare('SELECT message_id FROM message WHERE id = ?').pluck();
  const keysOf = db.prepare('SELECT second_keys FROM message WHERE id = ?').pluck();
  const pending = db.prepare(
    `SELECT number, message, state FROM outbox o WHERE message = ? AND (state = 'received' OR state = 'review') AND possible_duplicate = 0
     AND NOT EXISTS (SELECT 1 FROM outbox p WHERE p.message = o.message AND p.number <> o.number)`,
  );
  // Nothing of it was ever handed over: it gave its place to a later one.
  const replaced = db.prepare(`SELECT min(state = 'superseded') FROM outbox WHERE message = ?`).pluck();
  const insert = db.prepare(
    `INSERT INTO interchange (layer, scope, key, content_digest, message, date_time, base, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const reject = db.prepare(
    'UPDATE interchange SET rejected = 1 WHERE layer = ? AND scope = ? AND key = ? AND content_digest = ? AND message = ?',
  );

  // A twin has recorded nothing of its own; its keys live as long as its MessageId does.
  const restore = db.prepare(
    `INSERT INTO interchange (layer, scope, key, content_digest, message, date_time, base, expires_at)
     SELECT :layer, :scope, :key, :content, m.id, :dateTime, k.base, k.expires_at
     FROM message m JOIN message_key k ON k.sender = m.sender AND k.message_id = m.message_id AND k.message = m.id WHERE m.id = :id
     ON CONFLICT DO UPDATE SET rejected = 0`,
  );
  const accept = db.prepare(
    'UPDATE interchange SET rejected = 0 WHERE message = ? AND layer = ? AND scope = ? AND key = ?',
  );

  const idOf = (id: number) => ({ id, messageId: (messageId.get(id) as string | undefined) ?? `(purged, ${id})` });

  function storedUnder(k: WireKey, content: Buffer, m: WireMessage): StoredContent[] {
    let rows = contents.all(k.layer, k.scope, k.key) as ContentRow[];
    if (rows.length > contentsPerKey) {
      const same = sameContent.all(k.layer, k.scope, k.key, content) as ContentRow[];
      rows = [...same, ...rows.map((row) => ({ ...row, dateTime: null }))];
    }
    return rows.map((row) => storedContent(row, m));
  }

  function storedContent({ message, content, dateTime, base, expiresAt }: ContentRow, m: WireMessage): StoredContent {
    const end = Math.max(expiresAt, base + m.window);
    return {
      ...{ message: idOf(message), content, dateTime, end, live: end > m.now },
      replaced: replaced.get(message) === 1,
    };
  }

  function wholeOf(m: WireMessage, blob: BlobAt, { layer, key }: JudgedKey): StoredContent | null {
    const own = m.keys.find((k) => k.layer === layer && k.key === key);
    if (!own) return null;
    const values = [layer, own.scope, key, blob(own.contentDigest), blob(m.contentDigest)];
    const rows = sameWhole.all(...values) as ContentRow[];
    return rows.map((row) => storedContent(row, m)).find((stored) => stored.live) ?? null;
  }

  function judge(m: WireMessage, blob: BlobAt): JudgedKey[] {
    const earlier: { key: WireKey; content: Buffer }[] = [];
    return m.keys.map((key) => {
      const content = blob(key.contentDigest);
      const here = earlier
        .filter((e) => e.key.layer === key.layer && e.key.scope === key.scope && e.key.key === key.key)
        .map((e) => ({
          message: null,
          content: e.content,
          dateTime: e.key.dateTime,
          end: 0,
          live: true,
          replaced: false,
        }));
      const { verdict, existing } = judgeKey({ content, dateTime: key.dateTime }, [
        ...storedUnder(key, content, m),
        ...here,
      ]);
      earlier.push({ key, content });
      return { layer: key.layer, key: key.key, label: key.label, verdict, existing };
    });
  }

  /**
   * The waiting hand-overs that hold these keys; null unless *all* of their messages wait and hold nothing that this one lacks. What is
   * past its window, was replaced before or has another date-time is another matter: it is not replaced, and not in the way.
   */
  function replaceable(m: WireMessage, keys: readonly JudgedKey[]): HandOverRow[] | null {
    const found = new Map<number, HandOverRow>();
    const has = (k: KeyOnRecord) => m.keys.some((o) => sameKey(o, k) && mayBeSame(o, k));
    for (const judged of keys) {
      const own = m.keys.filter((k) => k.layer === judged.layer && k.key === judged.key);
      const [wire] = own;
      if (!wire) return null;
      const rows = contents.all(wire.layer, wire.scope, wire.key) as ContentRow[];
      if (rows.length > contentsPerKey) return null;
      for (const stored of rows) {
        const { message, base, expiresAt } = stored;
        if (found.has(message) || Math.max(expiresAt, base + m.window) <= m.now) continue;
        if (!own.some((k) => mayBeSame(k, stored))) continue;
        const row = pending.get(message) as HandOverRow | undefined;
        if (row === undefined && replaced.get(message) === 1) continue;
        const others = JSON.parse((keysOf.get(message) as string | undefined) ?? '[]') as KeyOnRecord[];
        const covered = others.every((k) => k.partial !== true) && others.every((k) => k.layer === 'sbdh' || has(k));
        if (row === undefined || !covered) return null;
        found.set(message, row);
      }
    }
    return [...found.values()].sort((a, b) => a.number - b.number);
  }

  return {
    /** @param mayReplace false when the message itself has to wait for an operator */
    judge(m: WireMessage, blob: BlobAt, mayReplace: boolean): InterchangeJudgement {
      if (m.keys.length === 0) return nothingKnown;
      const keys = judge(m, blob);
      let replaced: HandOverRow[] = [];
      const verdict = decideInterchanges(keys, {
        onConflict: m.onConflict,
        unkeyed: m.unkeyed,
        sameWhole: (repeat) => wholeOf(m, blob, repeat),
        replaceable:
          m.replacePending && mayReplace && !(m.outsideWindow === 'review' && keys.some((k) => k.verdict === 'expired'))
            ? (among) => {
                const rows = replaceable(m, among);
                replaced = rows ?? [];
                return rows !== null && rows.length > 0;
              }
            : null,
      });
      const named = replaced.map((row) => ({ ...row, messageId: idOf(row.message).messageId }));
      // `supersedes` names one message only.
      const all = named.map((row) => row.messageId).join(', ');
      const warnings =
        named.length > 1 ? [...verdict.warnings, `takes the place of messages ${all}`] : verdict.warnings;
      return { ...verdict, warnings, replaced: named };
    },

    record(m: WireMessage, blob: BlobAt, id: number, base: number): void {
      for (const k of m.keys) {
        insert.run(k.layer, k.scope, k.key, blob(k.contentDigest), id, k.dateTime, base, base + m.window);
      }
    },

    /** What an operator has delivered after all is known again, also to those who repeat it. */
    restore(id: number): void {
      for (const { layer, scope, key, content, dateTime } of JSON.parse(
        (keysOf.get(id) as string | undefined) ?? '[]',
      ) as KeyOnRecord[]) {
        restore.run({ layer, scope, key, dateTime, content: Buffer.from(content, 'hex'), id });
        // The copy that an approval made has keys, but no MessageId of its own.
        accept.run(id, layer, scope, key);
      }
    },

    /** What an operator rejected stands in nobody's way. */
    reject(id: number): void {
      for (const k of JSON.parse((keysOf.get(id) as string | undefined) ?? '[]') as KeyOnRecord[]) {
        reject.run(k.layer, k.scope, k.key, Buffer.from(k.content, 'hex'), id);
      }
    },
  };
}

function sameKey(a: Omit<WireKey, 'contentDigest'>, b: KeyOnRecord): boolean {
  return a.layer === b.layer && a.scope === b.scope && a.key === b.key;
}

const nothingKnown: InterchangeJudgement = {
  ...{ decision: 'allow', by: null, outsideWindow: false, warnings: [], replaced: [] },
};

export type InterchangeStore = ReturnType<typeof prepareInterchanges>;

/** As kept in `message.second_keys`. */
export function keysOnRecord(m: WireMessage, blob: BlobAt): string {
  if (m.keys.length === 0) return '[]';
  const keys: KeyOnRecord[] = m.keys.map(({ layer, scope, key, label, dateTime, contentDigest }, i) => ({
    ...{ layer, scope, key, label, dateTime },
    ...(i === 0 && m.unkeyed.length > 0 && { partial: true as const }),
    content: blob(contentDigest).toString('hex'),
  }));
  return JSON.stringify(keys);
}
