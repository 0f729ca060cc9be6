import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  /** A message was answered: `delivered`, `duplicate`, `ping`, `conflict`, … */
  message(decision: string): void;
  /** A message was refused: the EBMS code or HTTP status, and the reason's slug. */
  refusal(code: string, reason: string): void;
  step(name: string, milliseconds: number): void;
  /** A request or connection was turned away before the journey of a message; `status` 0: without an answer. */
  door(status: number, reason: string): void;
  /** A number that is read whenever someone asks for the metrics. One that only rises is named `…_total`, and is a counter then. */
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
      metric.reset(); // a label that is gone must not keep its last value
      await read((labels, value) => metric.inc(labels, value));
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
