import type { Signer } from '../../fixtures/sender/keys.ts';
import type { FailureKind } from '../failure.ts';
import type { WireAnswer } from '../wire/post.ts';

/** What a mutant has to do with. */
export interface MutantRequest {
  readonly body: Buffer;
  /** The same as text, octet by octet. */
  readonly text: string;
  readonly messageId: string;
  /** Lets the real receiver answer. */
  readonly forward: () => Promise<WireAnswer>;
  /** The receiver's own key. */
  readonly signer: Signer;
  /** Whatever `certs/` has the key of. */
  readonly signerNamed: (name: string) => Signer;
  /** The folder that the receiver delivers to. */
  readonly inbox: string;
  /** Whatever the mutant wants to remember, such as the answers given to each MessageId. */
  readonly memory: Map<string, WireAnswer>;
}

/** A receiver with one fault, and a case that finds it. */
export interface Mutant {
  readonly fault: string;
  readonly caughtBy: string;
  /** What that case must say: a mutant that is caught for another reason shows nothing. */
  readonly as: FailureKind;
  readonly answer: (request: MutantRequest) => Promise<WireAnswer>;
}
