/** A sleep that a call ends early. A call while nobody sleeps ends the next sleep at once, so none is lost. */
export class Alarm {
  #rung = false;
  #end: (() => void) | null = null;

  ring(): void {
    this.#rung = true;
    this.#end?.();
  }

  /** @param ms at most this long */
  async sleep(ms: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#end = null;
    this.#rung = false;
  }
}
