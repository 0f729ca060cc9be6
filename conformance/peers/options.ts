import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface InteropOptions {
  /** Empty: those that need not be asked for. */
  readonly peers: readonly string[];
  readonly all: boolean;
  /** Ids of cases; empty: all. */
  readonly only: readonly string[];
  /** Where other products are built. */
  readonly cache: string;
  /** Where to write what they have sent. */
  readonly save: string | null;
  readonly markdown: string | null;
  /** A peer that is skipped is a failure. */
  readonly strict: boolean;
  /** Also the cases that take minutes. */
  readonly patient: boolean;
  readonly list: boolean;
}

export const INTEROP_USAGE = `npm run interop [-- OPTIONS]

Builds other AS4 products outside the tree, starts Quittance with the test PKI, lets them send, and looks at what they make of the answers.
phase4 is started as a receiver as well: quittance send sends to it, and its answers are verified twice.

  --peer NAME[,NAME…]   only these
  --all                 those too that must be asked for
  --only ID[,ID…]       only cases with these ids
  --cache DIR           where they are built (a folder under the system's temporary one); kept for the next run
  --save DIR            write every request as PEER-CASE-N.as4
  --markdown FILE       write the table as Markdown
  --patient             also the cases that take minutes
  --strict              fail when a peer had to be skipped
  --list                list peers and cases

Exit code: 0 when no case failed (a peer that cannot be had here is skipped), 1 a failure, 2 wrong usage.
`;

/** @throws Error with a sentence for the user */
export function readInteropOptions(args: readonly string[], known: readonly string[]): InteropOptions | 'help' {
  const many = { type: 'string', multiple: true } as const;
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: false,
    options: {
      peer: many,
      only: many,
      all: { type: 'boolean' },
      cache: { type: 'string' },
      save: { type: 'string' },
      markdown: { type: 'string' },
      strict: { type: 'boolean' },
      patient: { type: 'boolean' },
      list: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) return 'help';
  const peers = (values.peer ?? []).flatMap((names) => names.split(','));
  const stranger = peers.find((name) => !known.includes(name));
  if (stranger !== undefined) throw new Error(`There is no peer ${stranger}; there are ${known.join(', ')}.`);
  return {
    peers,
    all: values.all === true,
    only: (values.only ?? []).flatMap((ids) => ids.split(',')),
    cache: resolve(values.cache ?? join(tmpdir(), 'quittance-interop')),
    save: values.save === undefined ? null : resolve(values.save),
    markdown: values.markdown === undefined ? null : resolve(values.markdown),
    strict: values.strict === true,
    patient: values.patient === true,
    list: values.list === true,
  };
}
