import { randomUUID } from 'node:crypto';
import type { Case } from '../case.ts';
import type { MessageSpec } from '../message.ts';
import { refuse, turnAway } from './rows.ts';

const EBBP = 'http://docs.oasis-open.org/ebxml-bp/ebbp-signals-2.0';

function signal(content: string, ref = true): (xml: string) => string {
  const reference = ref ? '<eb:RefToMessageId>something@receiver.example</eb:RefToMessageId>' : '';
  const info =
    `<eb:MessageInfo><eb:Timestamp>${new Date().toISOString()}</eb:Timestamp>` +
    `<eb:MessageId>${randomUUID()}@sender.example</eb:MessageId>${reference}</eb:MessageInfo>`;
  return (xml) =>
    xml.replace(/<eb:UserMessage>.*<\/eb:UserMessage>/s, `<eb:SignalMessage>${info}${content}</eb:SignalMessage>`);
}

/** A Receipt for a message that the receiver never sent. */
export function postedReceipt(): MessageSpec {
  return {
    document: null,
    editMessaging: signal(
      `<eb:Receipt><ebbp:NonRepudiationInformation xmlns:ebbp="${EBBP}"><ebbp:MessagePartNRInformation>` +
        '<ebbp:MessagePartIdentifier>a</ebbp:MessagePartIdentifier></ebbp:MessagePartNRInformation>' +
        '</ebbp:NonRepudiationInformation></eb:Receipt>',
    ),
  };
}

const ERROR =
  '<eb:Error errorCode="EBMS:0004" severity="failure"><eb:Description xml:lang="en">no</eb:Description></eb:Error>';
const PULL =
  '<eb:PullRequest mpc="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/defaultMPC"></eb:PullRequest>';

/** What is no UserMessage. */
export const SIGNAL_CASES: readonly Case[] = [
  turnAway('NEG-SIG-01', 'eD §1.4.3.2', 'A posted Receipt is taken without a signal.', [200, 202, 204], postedReceipt, {
    basis: 'reading',
  }),
  turnAway('NEG-SIG-02', 'Core §6', 'A posted Error is never answered with an error.', [200, 202, 204], () => ({
    document: null,
    editMessaging: signal(ERROR),
  })),
  turnAway(
    'NEG-SIG-03',
    'Core §6',
    'A posted Error without a signature is never answered with an error either.',
    [200, 202, 204],
    () => ({ document: null, editMessaging: signal(ERROR), headerOrder: ['messaging'] }),
  ),
  refuse(
    'NEG-SIG-04',
    'PAS4 §4.1',
    'A PullRequest is refused: One-Way/Push is the only pattern.',
    '0008 0010 0006',
    () => ({ document: null, editMessaging: signal(PULL, false) }),
    { basis: 'reading', echo: 'any' },
  ),
  refuse(
    'NEG-SIG-05',
    'eD §1.4.2.2',
    'A Receipt beside a UserMessage is refused.',
    '0009',
    {
      document: null,
      editMessaging: (xml) =>
        xml.replace(
          '<eb:UserMessage>',
          `<eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-11-30T09:59:58Z</eb:Timestamp>` +
            '<eb:MessageId>bundled@sender.example</eb:MessageId><eb:RefToMessageId>x@receiver.example</eb:RefToMessageId>' +
            '</eb:MessageInfo><eb:Receipt><x xmlns="urn:x"></x></eb:Receipt></eb:SignalMessage><eb:UserMessage>',
        ),
    },
    { basis: 'reading', echo: 'any' },
  ),
];
