import type { z } from 'zod';
import type { ConfigKey } from './keys.ts';
import { nearest } from './nearest.ts';

interface Context {
  readonly keys: readonly ConfigKey[];
  /** What was checked: file and environment together. */
  readonly tree: Readonly<Record<string, unknown>>;
  /** Environment variables by dotted key. */
  readonly origins: ReadonlyMap<string, string>;
  readonly file: string | null;
}

/** An issue of the schema as sentences for the operator: the key, where its value came from, what it should be, what it is. */
export function describeIssue(issue: z.core.$ZodIssue, context: Context): string[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') return issue.keys.map((name) => unknownKey([...path, name], context));
  const key = context.keys.find((k) => k.dotted === path.slice(0, k.section === null ? 1 : 2).join('.'));
  if (!key) return [`${path[0]} must be a section: write [${path[0]}] on a line of its own, and its keys below.`];
  const variable = context.origins.get(key.dotted);
  const where = variable ? ` (from ${variable})` : '';
  const item = path.length > (key.section === null ? 1 : 2) ? `, item ${Number(path.at(-1)) + 1},` : '';
  const value = path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], context.tree);
  // The URL of a database may hold a password too.
  const shown = key.about.kind === 'secret' || key.about.kind === 'store' ? '' : `, not ${show(value)}`;
  const expects = item ? 'a path in quotes' : key.about.expects;
  return [`${key.dotted}${item}${where} must be ${expects}${shown}.`];
}

function unknownKey(path: readonly string[], context: Context): string {
  const sections = [...new Set(context.keys.flatMap((k) => k.section ?? []))];
  const known =
    path.length === 1 ? [...context.keys.map((k) => k.dotted), ...sections] : context.keys.map((k) => k.dotted);
  const dotted = path.join('.');
  const section = path.length === 1 ? null : path[0]!;
  const inSection = section === null ? [] : context.keys.filter((k) => k.section === section).map((k) => k.dotted);
  // A key in the wrong place is commoner than one that is misspelt.
  const sameName = context.keys.find((k) => k.name === path.at(-1))?.dotted;
  const near = nearest(dotted, inSection) ?? sameName ?? nearest(dotted, known);
  const hint = near ? `; did you mean ${near}?` : inSection.length > 0 ? `; [${section}] has ${list(inSection)}.` : '.';
  return `${dotted} is not a key of the configuration${hint}`;
}

function list(dotted: readonly string[]): string {
  return dotted.map((d) => d.slice(d.indexOf('.') + 1)).join(', ');
}

function show(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'nothing');
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
