import { quote } from '../ebms/quote.ts';
import type { UserMessage } from '../ebms/user-message.ts';
import { type Identifier, routingOf } from './routing.ts';
import { sbdFault } from './sbd-fault.ts';
import type { Sbdh } from './sbdh.ts';

/**
 * The business envelope must say what the ebMS header says (eD §1.5.2, Peppol AS4 Profile §4.6, §4.9): participants compared
 * case-insensitively in their value, everything else exactly.
 * @returns warnings, for what the header left out and the mode `report` let pass
 * @throws {As4Error} EBMS:0004 for a contradiction, in every mode
 */
export function checkConsistency(message: UserMessage, header: Sbdh): string[] {
  const routing = routingOf(message);
  const pairs: readonly [string, Identifier, string, Identifier | null, boolean][] = [
    ['originalSender', routing.sender, 'Sender', header.sender, true],
    ['finalRecipient', routing.receiver, 'Receiver', header.receiver, true],
    ['eb:Action', routing.documentType, 'DOCUMENTID', header.documentType, false],
    ['eb:Service', routing.process, 'PROCESSID', header.process, false],
  ];
  const warnings: string[] = [];
  for (const [ebmsName, inMessage, sbdhName, inHeader, foldCase] of pairs) {
    if (inHeader === null) {
      warnings.push(`SBDH: ${sbdhName} is missing and could not be compared with ${ebmsName}`);
    } else if (inHeader.scheme !== inMessage.scheme || !sameValue(inHeader.value, inMessage.value, foldCase)) {
      throw sbdFault(`${ebmsName} ${written(inMessage)} is not ${sbdhName} ${written(inHeader)}`, 'sbd-contradiction');
    }
  }
  return warnings;
}

function sameValue(a: string, b: string, foldCase: boolean): boolean {
  return foldCase ? a.toLowerCase() === b.toLowerCase() : a === b;
}

function written({ scheme, value }: Identifier): string {
  return quote(`${scheme}::${value}`);
}
