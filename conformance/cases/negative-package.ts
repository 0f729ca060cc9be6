import type { Case } from '../case.ts';
import { freshSlip } from '../message.ts';
import { refuse } from './rows.ts';

const HOUSE = { basis: 'reading' } as const;
const MIME = 'RFC 2046, RFC 2387';
/** Without an envelope there is nothing to echo, and HTTP says that the request was bad. */
const UNREAD = { statuses: [400, 200], echo: 'none', basis: 'reading' } as const;

/** What is refused for its MIME package. */
export const PACKAGE_CASES: readonly Case[] = [
  refuse(
    'NEG-MIME-01',
    MIME,
    'A multipart without a part is refused.',
    '0007 0009',
    {
      mime: { packaging: 'multipart', boundary: 'b' },
      document: null,
      editMime: () => Buffer.from('--b--\r\n'),
    },
    UNREAD,
  ),
  refuse(
    'NEG-MIME-02',
    MIME,
    'Another boundary than the header says is refused.',
    '0007 0009',
    {
      mime: { boundary: 'bbbb' },
      editMime: (body) => Buffer.from(body.toString('latin1').replaceAll('--bbbb', '--cccc'), 'latin1'),
    },
    UNREAD,
  ),
  refuse(
    'NEG-MIME-03',
    MIME,
    'A package that ends within the envelope is refused.',
    '0007 0009',
    {
      editMime: (body) => body.subarray(0, 2_000),
    },
    UNREAD,
  ),
  refuse(
    'NEG-MIME-04',
    'RFC 2046 §4.1.1',
    'Lines that end with LF alone are refused, as documented.',
    '0007 0009',
    {
      mime: { lineEnd: '\n' },
    },
    UNREAD,
  ),
  refuse(
    'NEG-MIME-05',
    'AS4 §2.1',
    'A root part that is no SOAP is refused.',
    '0007 0009',
    {
      mime: { rootContentType: 'text/xml' },
    },
    UNREAD,
  ),
  refuse(
    'NEG-MIME-06',
    'RFC 2387 §3.2',
    'start that names another part than the first is refused.',
    '0007 0009',
    {
      mime: { start: '<payload@sender.example>' },
      payload: { contentId: 'payload@sender.example' },
    },
    UNREAD,
  ),
  refuse('NEG-MIME-07', MIME, 'A package that ends within the payload is refused.', '0007', {
    editMime: (body) => body.subarray(0, body.length - 200),
  }),
  refuse('NEG-MIME-08', MIME, 'A package without final boundary is refused.', '0007', {
    mime: { finalBoundary: false },
  }),
  refuse('NEG-MIME-09', 'RFC 2392', 'Two parts with one Content-ID are refused.', '0007', () => ({
    payload: { contentId: 'twin@sender.example' },
    more: [{ ...freshSlip(), contentId: 'twin@sender.example', named: false, signed: false, encrypted: false }],
  })),
  refuse('NEG-MIME-10', 'Core §6.7.1', 'A missing part is refused.', '0007', {
    payload: { attached: false },
    mime: { packaging: 'multipart' },
  }),
  refuse('NEG-MIME-11', 'Core §6.7.1', 'A missing part is refused, as plain SOAP too.', '0007', {
    payload: { attached: false },
  }),
  refuse('NEG-MIME-12', 'Core §6.7.1', 'Parts are matched by name: another Content-ID is refused.', '0007', {
    payload: {
      contentId: 'here@sender.example',
      headers: ['Content-Type: application/octet-stream', 'Content-ID: <there@sender.example>'],
    },
  }),
  refuse('NEG-MIME-13', 'RFC 2045 §6.8', 'A part whose base64 is damaged is refused.', '0007', {
    payload: {
      contentId: 'b@sender.example',
      headers: ['Content-Transfer-Encoding: base64', 'Content-ID: <b@sender.example>'],
      transferEncoding: null,
    },
  }),
  refuse(
    'NEG-MIME-14',
    'RFC 2045 §6.7',
    'quoted-printable, which would change the octets, is refused.',
    '0007',
    {
      payload: { transferEncoding: 'quoted-printable' },
    },
    HOUSE,
  ),
  refuse(
    'NEG-MIME-15',
    'RFC 2045 §5',
    'A part with two Content-Types is refused.',
    '0007',
    {
      payload: {
        contentId: 'd@sender.example',
        headers: [
          'Content-Type: application/octet-stream',
          'Content-Type: text/plain',
          'Content-ID: <d@sender.example>',
        ],
      },
    },
    HOUSE,
  ),
  refuse(
    'NEG-MIME-16',
    'architecture §2.1',
    'Two hundred parts are refused.',
    '0007',
    {
      more: Array.from({ length: 200 }, () => ({
        content: Buffer.from('x'),
        named: false,
        signed: false,
        encrypted: false,
      })),
    },
    HOUSE,
  ),
];
