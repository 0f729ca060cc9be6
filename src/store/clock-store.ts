import type { Audit } from './audit.ts';
import type { ClockDoubt } from './clock-guard.ts';
import type { Db } from './database.ts';
import type { OperationTable } from './protocol.ts';

/** Heartbeats kept; only the newest counts. */
const kept = 100;

/** Signs of life, and a doubt about the clock that all processes on this database share. */
export function prepareClock(
  db: Db,
  audit: Audit,
): Pick<OperationTable, 'clockState' | 'heartbeat' | 'doubtClock' | 'trustClock'> {
  const newest = db.prepare('SELECT max(at) FROM heartbeat').pluck();
  const beat = db.prepare('INSERT INTO heartbeat (at) VALUES (?) ON CONFLICT DO NOTHING');
  const trim = db.prepare(
    `DELETE FROM heartbeat WHERE at <= (SELECT at FROM heartbeat ORDER BY at DESC LIMIT 1 OFFSET ${kept})`,
  );
  const later = db.prepare('DELETE FROM heartbeat WHERE at > ?');
  const read = db.prepare(`SELECT value FROM setting WHERE name = 'clock.doubt'`).pluck();
  const write = db.prepare(`INSERT INTO setting (name, value) VALUES ('clock.doubt', ?) ON CONFLICT DO NOTHING`);
  const clear = db.prepare(`DELETE FROM setting WHERE name = 'clock.doubt'`);
  const none = { message: null, id: null };

  return {
    clockState: {
      writes: false,
      run() {
        const doubt = read.get() as string | undefined;
        return {
          newestHeartbeat: newest.get() as number | null,
          doubt: doubt === undefined ? null : (JSON.parse(doubt) as ClockDoubt),
        };
      },
    },
    heartbeat: {
      writes: true,
      housekeeping: true,
      run({ at }) {
        // While some process doubts the clock, none of them may testify for it.
        if (read.get() !== undefined) return null;
        beat.run(at);
        trim.run();
        return null;
      },
    },
    doubtClock: {
      writes: true,
      housekeeping: true,
      run(doubt) {
        const { since, trusted, why } = doubt;
        const isNew = write.run(JSON.stringify({ since, trusted, why })).changes === 1;
        if (isNew) audit.decide({ at: since, decision: 'clockDoubted', ...none, reason: why, detail: { trusted } });
        return null;
      },
    },
    trustClock: {
      writes: true,
      housekeeping: true,
      run({ at, actor }) {
        const doubt = read.get() as string | undefined;
        if (doubt === undefined && actor === null) return null;
        clear.run();
        // The newest heartbeat is the clock's alibi; one from a future that never was would hide the next jump.
        later.run(at);
        beat.run(at);
        const decision = actor === null ? 'clockAgrees' : 'clockIsRight';
        audit.decide({
          at,
          decision,
          ...none,
          actor,
          detail: doubt === undefined ? null : (JSON.parse(doubt) as ClockDoubt),
        });
        return null;
      },
    },
  };
}
