import { parseDuration } from '../config/duration.ts';
import { type RuleValues, VALUE_KEYS, VALUE_WORDS } from './policy.ts';

const DAY = 86_400_000;
/** In windows shorter than this a retransmission by hand would come too late to be recognised. */
export const SHORT_WINDOW = 30 * DAY;

/** Where the reader of a policy leaves what it has to say. */
export interface Remarks {
  /** What makes the file unusable. */
  problem(sentence: string): void;
  /** What has no effect. */
  note(sentence: string): void;
}

/** Whether a key is one of the values that a rule gives. */
export function isValueKey(key: string): key is keyof RuleValues {
  return (VALUE_KEYS as readonly string[]).includes(key);
}

/** The value as the program uses it; undefined, and a problem, when it cannot be. */
export function readValue<K extends keyof RuleValues>(key: K, value: unknown, r: Remarks): RuleValues[K] | undefined {
  if (key === 'window') return readWindow(value, r) as RuleValues[K] | undefined;
  if (key === 'replacePending') {
    if (typeof value === 'boolean') return value as RuleValues[K];
    r.problem(`replacePending must be true or false, not ${show(value)}.`);
    return undefined;
  }
  const words: readonly string[] = VALUE_WORDS[key as keyof typeof VALUE_WORDS];
  if (typeof value === 'string' && words.includes(value)) return value as RuleValues[K];
  const quoted = words.map((w) => JSON.stringify(w));
  r.problem(`${key} must be ${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}, not ${show(value)}.`);
  return undefined;
}

function readWindow(value: unknown, r: Remarks): number | undefined {
  if (typeof value === 'string' && value.includes('=')) return readParameters(value, r);
  const window = typeof value === 'string' ? parseDuration(value) : null;
  if (window !== null && window > 0) return window;
  r.problem(`window must be a duration such as "90d" or "checkwindow=90D", not ${show(value)}.`);
  return undefined;
}

/**
 * The parameters of duplicate detection in the spelling of AS4 (AS4 §3.2 and its P-Mode parameters): `checkwindow=7D`, `maxsize=10Mb`,
 * separated by `,` or `;`.
 */
function readParameters(text: string, r: Remarks): number | undefined {
  let window: number | undefined;
  let understood = true;
  for (const parameter of text.split(/[,;]/)) {
    const [name = '', value = ''] = parameter.split(/=(.*)/s).map((part) => part.trim());
    if (name === '' && value === '') continue;
    if (name.toLowerCase() === 'maxsize') {
      r.note(`maxsize=${value} is read and not applied: the log is bounded by time, not by size.`);
    } else if (name.toLowerCase() !== 'checkwindow') {
      r.problem(`window has the parameter ${JSON.stringify(name)}; AS4 knows checkwindow and maxsize.`);
      understood = false;
    } else if (window !== undefined) {
      r.problem('window has two parameters checkwindow.');
      understood = false;
    } else {
      // "M" could be months or minutes; no other unit has two meanings.
      const given = parseDuration(value.replace(/[DHS]$/, (unit) => unit.toLowerCase()));
      if (given !== null && given > 0) window = given;
      else {
        r.problem(`checkwindow must be a duration such as "7D" or "12H", not ${JSON.stringify(value)}.`);
        understood = false;
      }
    }
  }
  if (window === undefined && understood) r.problem(`window is ${JSON.stringify(text)}, which has no checkwindow.`);
  return understood ? window : undefined;
}

/** A value as an operator would write it. */
export function showValue(value: RuleValues[keyof RuleValues]): string {
  return typeof value === 'number' ? showDuration(value) : String(value);
}

function showDuration(ms: number): string {
  for (const [unit, length] of Object.entries({ d: DAY, h: 3_600_000, m: 60_000, s: 1000 })) {
    if (ms % length === 0) return `${ms / length}${unit}`;
  }
  return `${ms}ms`;
}

export function show(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'nothing');
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
