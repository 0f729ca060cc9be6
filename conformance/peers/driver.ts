import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** What a driver is told; which fields it heeds is its own affair. */
export type Order = Readonly<Record<string, string>>;

/** What the other product makes of our answer. */
export interface Judgement {
  /** The product takes the message as delivered. */
  readonly accepted: boolean;
  /** In the product's own words. */
  readonly verdict: string;
  /** What the driver has looked at beside, with the product's own means. */
  readonly checks: Readonly<Record<string, boolean>>;
  /** The ebMS error as the product read it; not each of them gives the code. */
  readonly error?: { readonly code?: string; readonly description?: string; readonly detail?: string };
  /** The id that the product gave the message, where it cannot be told one. */
  readonly messageId?: string;
}

export interface DriverCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly directory: string;
}

const PATIENCE = 180_000;

/** A process of another product: an order is a line of JSON, and so is its judgement. What it says on stderr is kept for failures. */
export class Driver {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  #waiting: { resolve: (line: string) => void; reject: (error: Error) => void } | null = null;
  #said = '';
  /** Why it can be told nothing any more. */
  #over: Error | null = null;

  constructor({ program, args, env, directory }: DriverCommand) {
    this.#child = spawn(program, args, {
      cwd: directory,
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stderr.on('data', (piece: Buffer) => this.#note(piece.toString()));
    this.#child.stdin.on('error', () => {});
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      if (line.startsWith('{') && this.#waiting !== null) this.#waiting.resolve(line);
      else this.#note(`${line}\n`);
    });
    const over = (error: Error) => {
      this.#over ??= error;
      this.#waiting?.reject(error);
    };
    this.#child.on('error', over);
    this.#child.on('exit', (code) => over(new Error(`the driver ended with ${code}\n${this.#said}`)));
  }

  /** It has ended, or was ended because it kept silent: the next case needs another one. */
  get over(): boolean {
    return this.#over !== null;
  }

  /** The last of what the product has said beside its judgements. */
  get said(): string {
    return this.#said;
  }

  /** @throws Error when the driver ends, or says nothing for three minutes */
  async send(order: Order): Promise<Judgement> {
    if (this.#over !== null) throw this.#over;
    this.#said = '';
    let timer: NodeJS.Timeout | undefined;
    try {
      const line = await new Promise<string>((resolve, reject) => {
        this.#waiting = { resolve, reject };
        timer = setTimeout(() => {
          // A judgement that came later would be taken for that of the next order.
          this.#over = new Error(`the driver was silent for ${PATIENCE / 1000} s\n${this.#said}`);
          this.#child.kill('SIGKILL');
          reject(this.#over);
        }, PATIENCE);
        this.#child.stdin.write(`${JSON.stringify(order)}\n`);
      });
      return JSON.parse(line) as Judgement;
    } finally {
      clearTimeout(timer);
      this.#waiting = null;
    }
  }

  /** Ends with its input; after five seconds it is killed. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()));
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
  }

  #note(text: string): void {
    this.#said = (this.#said + text).slice(-4000);
  }
}
