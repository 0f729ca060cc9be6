import { existsSync } from 'node:fs';
import type { Config } from '../config/schema.ts';
import { policyDefaults } from '../dedup/policy.ts';
import { PolicyFile } from '../dedup/policy-file.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/types.ts';
import { CommandError } from './io.ts';

/**
 * The longest window that a rule in force gives. What is kept must not be forgotten before it, whatever rule it came under: a rule
 * that is lengthened holds for what was accepted before, too.
 * @throws PolicyError when the rules cannot be read: then nobody can say what may go
 */
export async function longestWindow(config: Config): Promise<number> {
  const file = await PolicyFile.load(config.duplicates.policy, policyDefaults(config));
  file.close();
  return Math.max(config.duplicates.window, ...file.policy.rules.map((rule) => rule.values.window));
}

/**
 * Opens the database that a receiver wrote, beside it when it is running, and closes it afterwards.
 * @param window what keys live at least, ms; it matters to purge only
 * @throws CommandError when there is none: to look for messages must not create a database
 */
export async function withStore<T>(
  config: Config,
  use: (store: Store) => Promise<T>,
  window = config.duplicates.window,
): Promise<T> {
  const path = config.store.url.slice('sqlite:'.length);
  if (!existsSync(path)) {
    throw new CommandError(`There is no database ${path}: nothing was received yet, or --config names another one.`);
  }
  const store = await openSqliteStore({
    url: config.store.url,
    window,
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
