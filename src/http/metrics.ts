import { Counter, Histogram, Registry } from 'prom-client';

export interface Metrics {
  /** A message was answered: `delivered`, `duplicate`, `ping`, `conflict`, … */
  message(decision: string): void;
  /** A message was refused: the EBMS code or HTTP status, and the reason's slug. */
  refusal(code: string, reason: string): void;
  /** How a repeat was recognised: `request` (byte-identical), `references`, `content`. */
  duplicate(recognisedBy: string): void;
  step(name: string, milliseconds: number): void;
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
  const duplicates = new Counter({
    name: 'quittance_duplicates_total',
    help: 'Repeats, by what recognised them.',
    labelNames: ['recognised_by'],
    registers,
  });
  const steps = new Histogram({
    name: 'quittance_step_seconds',
    help: 'Time a message takes in a step of its journey.',
    labelNames: ['step'],
    buckets: [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers,
  });
  return {
    message: (decision) => messages.inc({ decision }),
    refusal: (code, reason) => refusals.inc({ code, reason }),
    duplicate: (recognisedBy) => duplicates.inc({ recognised_by: recognisedBy }),
    step: (name, milliseconds) => steps.observe({ step: name }, milliseconds / 1000),
    text: () => registers[0]!.metrics(),
  };
}
