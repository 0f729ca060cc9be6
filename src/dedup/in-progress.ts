import { TransportRefusal } from '../as4-error.ts';

/**
 * The copies of messages that this process is working on (architecture §2.6). A copy is in here only once its body has been read
 * completely: a half-dead upload holds nothing. Between processes the unique key of the store decides instead.
 */
export class InProgress {
  readonly #copies = new Map<string, { readonly ended: Promise<void>; readonly end: () => void }>();
  readonly #maxWaiting: number;
  #waiting = 0;

  /** @param maxWaiting how many requests may wait at once, over all messages */
  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** Makes this copy the one in progress; null when another one is. The function that is returned ends it, however it ended. */
  claim(key: string): (() => void) | null {
    if (this.#copies.has(key)) return null;
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const copy = { ended, end };
    this.#copies.set(key, copy);
    return () => {
      if (this.#copies.get(key) !== copy) return;
      this.#copies.delete(key);
      end();
    };
  }

  /**
   * Waits until the copy in progress has ended, well or badly; the caller then looks up again what is stored.
   * @param ms at most this long
   * @param onWait called when it does wait
   * @throws TransportRefusal 503 when it takes longer, or when too many wait already
   */
  async wait(key: string, ms: number, onWait?: () => void): Promise<void> {
    const copy = this.#copies.get(key);
    if (!copy) return;
    if (this.#waiting >= this.#maxWaiting) {
      throw new TransportRefusal(
        503,
        'Another copy of this message is being received, and too many requests wait. Try again later.',
        {
          reason: 'too-many-waiting',
        },
      );
    }
    this.#waiting++;
    onWait?.();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, ms, 'late');
    });
    try {
      if ((await Promise.race([copy.ended, late])) === 'late') {
        throw new TransportRefusal(503, 'Another copy of this message is still being received. Try again later.', {
          reason: 'copy-in-progress',
        });
      }
    } finally {
      clearTimeout(timer);
      this.#waiting--;
    }
  }
}
