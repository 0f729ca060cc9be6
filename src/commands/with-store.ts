import { existsSync } from 'node:fs';
import type { Config } from '../config/schema.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/types.ts';
import { CommandError } from './io.ts';

/**
 * Opens the database that a receiver wrote, beside it when it is running, and closes it afterwards.
 * @throws CommandError when there is none: to look for messages must not create a database
 */
export async function withStore<T>(config: Config, use: (store: Store) => Promise<T>): Promise<T> {
  const path = config.store.url.slice('sqlite:'.length);
  if (!existsSync(path)) {
    throw new CommandError(`There is no database ${path}: nothing was received yet, or --config names another one.`);
  }
  const store = await openSqliteStore({
    url: config.store.url,
    window: config.duplicates.window,
    exceptionsPerHour: config.review.exceptionsPerHour,
    // A command that happens to run says nothing about whether the receiver was alive.
    heartbeat: false,
  });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
