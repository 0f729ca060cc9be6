/** What `check` found out about one thing. `ok` needs nothing, `warning` will some day, `error` makes it exit 1. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'error';
  /** What was looked at, in a word: `identity`, `trust`, `database` … */
  readonly what: string;
  /** A sentence that says how it is and, unless all is well, what to do. */
  readonly text: string;
}

export const ok = (what: string, text: string): Finding => ({ level: 'ok', what, text });
export const warning = (what: string, text: string): Finding => ({ level: 'warning', what, text });
export const error = (what: string, text: string): Finding => ({ level: 'error', what, text });
