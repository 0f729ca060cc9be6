import { isIP } from 'node:net';
import { z } from 'zod';
import { parseDuration } from './duration.ts';
import { parseSize } from './size.ts';

/** How a value is written in an environment variable, and whether it is a path that load.ts makes absolute. */
export type FieldKind = 'text' | 'secret' | 'integer' | 'flag' | 'list' | 'path' | 'paths' | 'store';

/** What is said about a key beside its type: `init` writes it, errors quote it. */
export interface FieldAbout {
  readonly kind: FieldKind;
  /** Completes "http.port must be …". */
  readonly expects: string;
  /** The default, as it is written in the file. */
  readonly default: string | number | boolean | readonly string[];
  readonly comment: string;
}

/** What is known about each key of the schema, by the schema of its value. */
export const about = z.registry<FieldAbout>();

const DURATION = 'a duration such as "90d", "12h", "5m", "30s" or "500ms"';
const SIZE = 'a size such as "110MB" (decimal) or "256KiB" (binary)';

/** A length of time; milliseconds in the result. */
export function duration(value: string, comment: string) {
  const schema = z.string().transform((text, c) => parseDuration(text) ?? refuse(c, DURATION));
  return schema.prefault(value).register(about, { kind: 'text', expects: DURATION, default: value, comment });
}

/** A number of bytes. */
export function size(value: string, comment: string) {
  const schema = z.string().transform((text, c) => parseSize(text) ?? refuse(c, SIZE));
  return schema.prefault(value).register(about, { kind: 'text', expects: SIZE, default: value, comment });
}

export function integer(value: number, range: { min: number; max: number }, comment: string) {
  const expects = `a whole number from ${range.min} to ${range.max}`;
  const schema = z.int().min(range.min).max(range.max);
  return schema.prefault(value).register(about, { kind: 'integer', expects, default: value, comment });
}

/** True or false, off by default. */
export function flag(comment: string) {
  return z
    .boolean()
    .prefault(false)
    .register(about, { kind: 'flag', expects: 'true or false', default: false, comment });
}

/** Source addresses: each an IP address or a network such as "10.0.0.0/8". */
export function addresses(comment: string) {
  const expects = 'a list of IP addresses and networks such as "10.0.0.1" and "fd00::/8"';
  const schema = z.array(z.string()).refine((items) => items.every(isAddressRange));
  return schema.prefault([]).register(about, { kind: 'list', expects, default: [], comment });
}

function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : -1;
  if (bits < 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}

/** One of a few words; the default is the first of them. */
export function choice<const T extends readonly [string, ...string[]]>(words: T, comment: string) {
  const quoted = words.map((w) => `"${w}"`);
  const expects = quoted.length === 1 ? quoted[0]! : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  const schema = z.enum(words).prefault(words[0] as T[number]);
  return schema.register(about, { kind: 'text', expects, default: words[0], comment });
}

export function text(value: string, expects: string, comment: string, pattern = /^/) {
  return z.string().regex(pattern).prefault(value).register(about, { kind: 'text', expects, default: value, comment });
}

/** Text that no message may repeat. */
export function secret(comment: string) {
  return z.string().prefault('').register(about, { kind: 'secret', expects: 'text in quotes', default: '', comment });
}

/** A path; relative ones are made absolute by load.ts. */
export function path(value: string, comment: string, o: { required: boolean }) {
  const expects = o.required ? 'a path' : 'a path, or "" for none';
  const schema = z.string().min(o.required ? 1 : 0);
  return schema.prefault(value).register(about, { kind: 'path', expects, default: value, comment });
}

/** A list of paths, comma-separated in an environment variable. */
export function paths(value: readonly string[], comment: string) {
  const schema = z.array(z.string().min(1)).prefault([...value]);
  return schema.register(about, { kind: 'paths', expects: 'a list of paths', default: value, comment });
}

/** A list of texts of one form, comma-separated in an environment variable. */
export function texts(value: readonly string[], expects: string, comment: string, pattern: RegExp) {
  const schema = z.array(z.string().regex(pattern)).prefault([...value]);
  return schema.register(about, { kind: 'list', expects, default: value, comment });
}

/** The address of a store. */
export function storeUrl(value: string, comment: string) {
  const expects = `"sqlite:" followed by a path, such as "${value}" (the only kind of store there is so far)`;
  const schema = z.string().regex(/^sqlite:(?!:memory:)./);
  return schema.prefault(value).register(about, { kind: 'store', expects, default: value, comment });
}

/** Permissions as chmod takes them; a number in the result. */
export function fileMode(value: string, comment: string) {
  const expects = 'permissions in octal such as "0770", of which the owner has all';
  const schema = z
    .string()
    .regex(/^0?7[0-7]{2}$/)
    .transform((octal) => Number.parseInt(octal, 8));
  return schema.prefault(value).register(about, { kind: 'text', expects, default: value, comment });
}

function refuse(context: z.RefinementCtx<string>, expects: string): never {
  context.addIssue({ code: 'custom', message: expects });
  return z.NEVER;
}
