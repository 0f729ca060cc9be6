import { statfs } from 'node:fs/promises';

/** What a watch over free space says; asked for each message, so it only remembers. */
export interface SpaceWatch {
  hasRoom(): boolean;
  /** Epoch ms since when there is too little; null while there is enough. */
  since(): number | null;
  stop(): void;
}

/**
 * Watches the free space of the store's file system (architecture §3, store.minFree). A file system that does not say is taken to
 * have room: the database will say when it has not.
 */
export async function watchSpace(directory: string, minFree: number, now: () => number): Promise<SpaceWatch> {
  let since: number | null = null;
  const look = async () => {
    const free = await statfs(directory).then(
      (s) => s.bavail * s.bsize,
      () => Number.POSITIVE_INFINITY,
    );
    if (free >= minFree) since = null;
    else since ??= now();
  };
  await look();
  const timer = setInterval(() => void look(), 2_000);
  timer.unref();
  return { hasRoom: () => since === null, since: () => since, stop: () => clearInterval(timer) };
}
