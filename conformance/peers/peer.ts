import type { Bench } from './bench.ts';
import type { DriverCommand } from './driver.ts';
import type { ReceiverBench } from './receiver-bench.ts';

/** One thing that another product does with us. */
export interface PeerCase {
  readonly id: string;
  /** What must hold, as a sentence. */
  readonly asserts: string;
  /** How long it takes, for those that are run only with `--patient`. */
  readonly minutes?: number;
  readonly run: (bench: Bench) => Promise<void>;
}

/** One thing that we do with another product as the receiver. */
export interface ReceiverCase {
  readonly id: string;
  /** What must hold, as a sentence. */
  readonly asserts: string;
  readonly run: (bench: ReceiverBench) => Promise<void>;
}

/** Another AS4 product as a sender, and as a receiver if it can be one. */
export interface Peer {
  readonly name: string;
  /** Name and version as the registry has them. */
  readonly product: string;
  readonly licence: string;
  /** Why it is not run unless it is asked for. */
  readonly onlyWhenAsked?: string;
  /** Programs that must be there, each with the argument that makes it tell its version. */
  readonly tools: readonly (readonly [program: string, argument: string])[];
  /** Fetches what is not yet in the folder. @throws Error with what the tool said: the peer is skipped */
  readonly fetch: (folder: string) => Promise<void>;
  /** Builds the driver and makes its keys out of `certs/`. @throws Error with what the tool said: a failure, the driver is ours */
  readonly build?: (folder: string) => Promise<void>;
  readonly driver: (folder: string) => DriverCommand;
  readonly cases: readonly PeerCase[];
  /** It listens at `/as4` with the key of `certs/receiver.crt`, and hands payloads over as files of `inbox`. */
  readonly receiver?: {
    readonly command: (folder: string, inbox: string) => DriverCommand;
    readonly cases: readonly ReceiverCase[];
  };
}
