import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What does not answer in this time, as a database whose disk hangs, is left out. */
const READ_MS = 2_000;

export interface Metrics {
  /** A message was answered: `delivered`, `duplicate`, `ping`, `conflict`, … */
  message(decision: string): void;
  /** A message was refused: the EBMS code or HTTP status, and the reason's slug. */
  refusal(code: string, reason: string): void;
  step(name: string, milliseconds: number): void;
  /** A request or connection was turned away before the journey of a message; `status` 0: without an answer. */
  door(status: number, reason: string): void;
  /**
   * A number that is read whenever someone asks for the metrics; left out when it cannot be read. One that only rises is named `…_total`,
   * and is a counter then.
   */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  /** The same for several numbers, by label. */
  gauges(name: string, help: string, label: string, read: () => Promise<Readonly<Record<string, number>>>): void;
  /** Prometheus text format. */
  text(): Promise<string>;
}

/**
 * A registry of its own: two receivers in one process (tests) do not share counts. Labels take values of closed sets only — never a
 * sender's name or id, which would grow the series without bound.
 */
export function createMetrics(): Metrics {
  const registers = [new Registry()];
  const messages = new Counter({
    name: 'quittance_messages_total',
    help: 'Messages answered with a signal, by decision.',
    labelNames: ['decision'],
    registers,
  });
  const refusals = new Counter({
    name: 'quittance_refusals_total',
    help: 'Messages and requests refused.',
    labelNames: ['code', 'reason'],
    registers,
  });
  const steps = new Histogram({
    name: 'quittance_step_seconds',
    help: 'Time a message takes in a step of its journey.',
    labelNames: ['step'],
    buckets: [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers,
  });
  const door = new Counter({
    name: 'quittance_door_refusals_total',
    help: 'Requests and connections turned away at the door.',
    labelNames: ['status', 'reason'],
    registers,
  });
  function meter(
    name: string,
    help: string,
    labelNames: string[],
    read: (add: (labels: Record<string, string>, value: number) => void) => Promise<void>,
  ): void {
    const settings = { name, help, labelNames, registers };
    const metric: Counter | Gauge = name.endsWith('_total')
      ? new Counter({ ...settings, collect: () => refresh() })
      : new Gauge({ ...settings, collect: () => refresh() });
    async function refresh(): Promise<void> {
      const found: [Record<string, string>, number][] = [];
      // Who asks in a moment of trouble needs the other numbers most: one that cannot be read is left out, and none is waited for.
      const known = await within(
        READ_MS,
        read((labels, value) => void found.push([labels, value])),
      );
      metric.reset(); // a label that is gone must not keep its last value, nor a number its last one
      if (known) for (const [labels, value] of found) metric.inc(labels, value);
      else if (labelNames.length === 0) metric.remove(); // after a reset it would say 0
    }
  }

  return {
    door: (status, reason) => door.inc({ status: String(status), reason }),
    gauge: (name, help, read) => meter(name, help, [], async (add) => add({}, await read())),
    gauges: (name, help, label, read) =>
      meter(name, help, [label], async (add) => {
        for (const [value, n] of Object.entries(await read())) add({ [label]: value }, n);
      }),
    message: (decision) => messages.inc({ decision }),
    refusal: (code, reason) => refusals.inc({ code, reason }),
    step: (name, milliseconds) => steps.observe({ step: name }, milliseconds / 1000),
    text: () => registers[0]!.metrics(),
  };
}

/** Whether it was done in time; a failure counts as not done. */
async function within(milliseconds: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const done = work.then(
    () => true,
    () => false,
  );
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}
