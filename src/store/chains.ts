import { createHash } from 'node:crypto';
import type { Db } from './database.ts';

/** Certificate chains, each certificate stored once. A chain is written in other rows as the JSON list of its ids. */
export interface Chains {
  idsOf(fingerprint: string, chain: readonly Uint8Array[]): string;
  load(ids: string): { fingerprint: string; chain: Buffer[] };
  /** After a rollback: what was remembered may never have been stored. */
  forget(): void;
}

const remembered = 2000;

export function prepareChains(db: Db): Chains {
  const insert = db.prepare('INSERT INTO certificate (fingerprint, der) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const idOf = db.prepare('SELECT id FROM certificate WHERE fingerprint = ?').pluck();
  const byId = db.prepare('SELECT fingerprint, der FROM certificate WHERE id = ?');
  const known = new Map<string, { chain: Buffer[]; ids: string }>();
  const loaded = new Map<string, { fingerprint: string; chain: Buffer[] }>();

  const remember = <T>(map: Map<string, T>, key: string, value: T): T => {
    if (map.size >= remembered) map.clear();
    map.set(key, value);
    return value;
  };

  return {
    idsOf(fingerprint, chain) {
      const hit = known.get(fingerprint);
      if (hit && hit.chain.length === chain.length && hit.chain.every((der, i) => der.equals(chain[i]!)))
        return hit.ids;
      const ids = chain.map((der) => {
        const sha256 = createHash('sha256').update(der).digest('hex');
        insert.run(sha256, der);
        return idOf.get(sha256) as number;
      });
      // Copies: the caller's bytes are views of a whole batch.
      return remember(known, fingerprint, { chain: chain.map((der) => Buffer.from(der)), ids: JSON.stringify(ids) })
        .ids;
    },
    load(ids) {
      const hit = loaded.get(ids);
      if (hit) return hit;
      const rows = (JSON.parse(ids) as number[]).map((id) => byId.get(id) as { fingerprint: string; der: Buffer });
      return remember(loaded, ids, { fingerprint: rows[0]?.fingerprint ?? '', chain: rows.map((r) => r.der) });
    },
    forget() {
      known.clear();
      loaded.clear();
    },
  };
}
