import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RelaxNGValidator, XmlDocument } from 'libxml2-wasm';

/** Checks eb:Messaging of a signal against `signal.rng` with libxml2. */
export class SignalSchema {
  readonly #validator: RelaxNGValidator;

  constructor() {
    const grammar = XmlDocument.fromBuffer(readFileSync(join(import.meta.dirname, 'signal.rng')));
    this.#validator = RelaxNGValidator.fromDoc(grammar);
  }

  /** Null when it is valid, else what is wrong. */
  faultOf(messaging: string): string | null {
    const document = XmlDocument.fromString(messaging);
    try {
      this.#validator.validate(document);
      return null;
    } catch (error) {
      return (error as Error).message.trim().replace(/\s+/g, ' ');
    } finally {
      document.dispose();
    }
  }
}
