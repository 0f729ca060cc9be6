import type { Case } from '../case.ts';
import { refuse, turnAway } from './rows.ts';

const HOUSE = { basis: 'reading' } as const;

/** What is refused for its HTTP request. */
export const HTTP_CASES: readonly Case[] = [
  turnAway(
    'NEG-HTTP-01',
    'AS4 §2.1',
    'text/xml is turned away: SOAP 1.1 is not AS4.',
    [400, 415],
    {
      document: null,
      mime: { type: 'text/xml; charset=UTF-8' },
    },
    HOUSE,
  ),
  turnAway(
    'NEG-HTTP-02',
    'AS4 §2.1',
    'application/json is turned away.',
    [400, 415],
    {
      document: null,
      headers: { 'Content-Type': 'application/json' },
      editMime: () => Buffer.from('{}'),
    },
    HOUSE,
  ),
  turnAway(
    'NEG-HTTP-03',
    'Core §5.1.1',
    'multipart/mixed is turned away.',
    [400, 415],
    {
      mime: { type: 'multipart/mixed' },
    },
    HOUSE,
  ),
  turnAway(
    'NEG-HTTP-04',
    'RFC 9110',
    'A Content-Type that is none is turned away.',
    [400, 415],
    {
      document: null,
      headers: { 'Content-Type': 'soap' },
    },
    HOUSE,
  ),
  turnAway(
    'NEG-HTTP-05',
    'RFC 2046 §5.1.1',
    'multipart/related without boundary is turned away.',
    [400, 415],
    {
      mime: { parameters: ['type', 'start'] },
    },
    HOUSE,
  ),
  turnAway(
    'NEG-HTTP-06',
    'AS4 §3.1',
    'A Content-Encoding is turned away.',
    [400, 415],
    {
      document: null,
      headers: { 'Content-Encoding': 'gzip' },
    },
    HOUSE,
  ),
  turnAway(
    'NEG-HTTP-07',
    'RFC 9112 §6.3',
    'Content-Length beside Transfer-Encoding is turned away.',
    [400],
    {
      document: null,
      wire: { extraHeaders: ['Transfer-Encoding: chunked'] },
    },
    HOUSE,
  ),
  turnAway(
    'NEG-HTTP-08',
    'RFC 9110 §9',
    'PUT is turned away.',
    [405, 400, 404],
    {
      document: null,
      wire: { method: 'PUT' },
    },
    HOUSE,
  ),
  turnAway(
    'NEG-HTTP-09',
    'architecture §5',
    'A request of 20 GB is turned away by its length.',
    [413, 400],
    {
      document: null,
      wire: { contentLength: 20_000_000_000 },
    },
    HOUSE,
  ),
  refuse(
    'NEG-HTTP-10',
    'architecture §2.2',
    'An envelope of 1 MB is refused: it would be held in memory.',
    '0004 0009',
    {
      document: null,
      headerOrder: [
        { raw: `<t:padding xmlns:t="urn:example:padding">${' '.repeat(1_000_000)}</t:padding>` },
        'messaging',
        'security',
      ],
    },
    { statuses: [413, 200], echo: 'any', basis: 'reading' },
  ),
];
