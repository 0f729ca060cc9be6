import type { Contest, Kind, Measured } from './contest.ts';
import { median } from './median.ts';

const KINDS: Readonly<Record<Kind, string>> = { new: 'new', repeat: 'the same again' };

/** What each product answers a repeat with, by its name. */
export type RepeatAnswers = Readonly<Record<string, string>>;

/** The medians of all rounds as a Markdown table; rates with the lowest and the highest. */
export function contestTable({ measured }: Contest, repeats: RepeatAnswers): string {
  const rows = groups(measured).map((group) => {
    const [{ name, kind, connections }] = group;
    const of = (what: 'perSecond' | 'p50' | 'p95' | 'cpu') => group.map((each) => each[what]);
    const rates = of('perSecond').map(Math.round);
    return [
      KINDS[kind],
      String(connections),
      name,
      kind === 'new' ? 'receipt' : (repeats[name] ?? ''),
      `${Math.round(median(of('perSecond')))} (${Math.min(...rates)}–${Math.max(...rates)})`,
      `${median(of('p50')).toFixed(1)} / ${median(of('p95')).toFixed(1)}`,
      median(of('cpu')).toFixed(2),
      median(group.map(({ cpu, floor }) => cpu / floor)).toFixed(1),
    ];
  });
  const head = [
    'messages',
    'connections',
    'receiver',
    'answer',
    'per second (lowest–highest)',
    'p50 / p95 ms',
    'CPU ms each',
    'times the RSA floor',
  ];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Rounds of the same product under the same load; new messages first, few connections first. */
function groups(measured: readonly Measured[]): [Measured, ...Measured[]][] {
  const found = new Map<string, [Measured, ...Measured[]]>();
  const byLoad = measured.toSorted((a, b) => a.kind.localeCompare(b.kind) || a.connections - b.connections);
  for (const each of byLoad) {
    const key = [each.kind, each.connections, each.name].join('\n');
    const group = found.get(key);
    if (group === undefined) found.set(key, [each]);
    else group.push(each);
  }
  // In odd rounds the order of the products was another one.
  const names = [...new Set(measured.map(({ name }) => name))];
  return [...found.values()].toSorted(
    ([a], [b]) =>
      a.kind.localeCompare(b.kind) || a.connections - b.connections || names.indexOf(a.name) - names.indexOf(b.name),
  );
}
