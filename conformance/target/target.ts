import type { X509Certificate } from 'node:crypto';
import type { Signer } from '../../fixtures/sender/keys.ts';
import type { Inbox } from '../runner/inbox.ts';

/** The endpoint under test, and the keys and names that it accepts messages with. */
export interface Target {
  /** For the reports. */
  readonly name: string;
  readonly url: URL;
  /** PEM of the CAs that the TLS certificate of an https URL may be of; undefined: those that Node.js trusts. */
  readonly tlsCa?: string | undefined;
  /** ms that nothing moves until it counts as silent; the suite's own default when undefined. */
  readonly timeout?: number | undefined;
  /** Certificate that messages are encrypted for and answers are signed with. */
  readonly receiver: X509Certificate;
  readonly sender: Signer;
  /** Another access point that is trusted as well. */
  readonly sender2: Signer | null;
  /** A certificate that must be refused, by its name such as `expired`. */
  readonly bad: (name: string) => Signer | null;
  /** Values of the participants that messages are from and for. */
  readonly participants: { readonly sender: string; readonly receiver: string };
  /** A participant that is not serviced. */
  readonly notServiced: string | null;
  /** Rewrites the list of who is serviced: everything, or nothing of `notServiced`. */
  readonly setServiced: ((participants: 'usual' | 'all') => Promise<void>) | null;
  readonly inbox: Inbox | null;
  /** Stops the receiver the hard way and starts it again; resolves once it listens. */
  readonly restart: (() => Promise<void>) | null;
  /** A second endpoint that services only some; null: it is this one. */
  readonly serviced: (() => Promise<Target>) | null;
  readonly stop: () => Promise<void>;
}
