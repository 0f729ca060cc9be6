import { type Inbox, sha256Of } from './inbox.ts';
import { type DeliveryDemand, type SeenSignal, Trial } from './trial.ts';

/**
 * Compares the folders with what must be in them, once nothing more is on its way: a last message is sent, and when that is there,
 * what was acknowledged before it should be, too; whatever is missing then gets a little more time.
 * @param patience ms to wait for the last message; for the others a tenth more
 * @returns what is wrong, by demand
 */
export async function settleDeliveries(
  demands: readonly DeliveryDemand[],
  seen: SeenSignal[],
  patience: number,
): Promise<ReadonlyMap<DeliveryDemand, string>> {
  const faults = new Map<DeliveryDemand, string>();
  for (const each of new Set(demands.map((demand) => demand.target))) {
    const { inbox } = each;
    const here = demands.filter((demand) => demand.target === each);
    if (inbox === null) continue;
    const trial = new Trial(each, seen);
    const last = trial.make();
    const sent = await trial.send(last).catch(() => null);
    if (sent !== null) await inbox.waitFor(sha256Of(last.payloads[0] ?? Buffer.alloc(0)), patience);
    const end = Date.now() + patience / 10;
    for (;;) {
      inbox.scan();
      const wrong = here.flatMap((demand) => {
        const fault = faultOf(demand, inbox);
        return fault === null ? [] : ([[demand, fault]] as const);
      });
      if (wrong.length === 0) break;
      if (Date.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        continue;
      }
      for (const [demand, fault] of wrong) faults.set(demand, fault);
      break;
    }
  }
  return faults;
}

function faultOf({ message, copies, warning, unmentioned }: DeliveryDemand, inbox: Inbox): string | null {
  for (const [index, payload] of message.payloads.entries()) {
    const paths = inbox.copiesOf(sha256Of(payload));
    if (paths.length !== copies) {
      return `payload ${index + 1} of ${message.messageId} is ${paths.length} times in the folder, not ${copies}`;
    }
    const warnings = warning && paths[0] !== undefined ? inbox.warningsBeside(paths[0]) : null;
    if (warnings !== null && warnings.length === 0) return `${message.messageId} was delivered without a warning`;
  }
  if (unmentioned && inbox.mentions(message.messageId)) return `${message.messageId} is mentioned in the folder`;
  return null;
}
