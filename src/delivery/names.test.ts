import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { directoryName, fileSafe, isDirectoryName } from './names.ts';

const at = Date.UTC(2026, 10, 30, 10, 15, 0, 123);
/** Names that Windows gives to devices, whatever the extension. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

describe('the name of a hand-over directory', () => {
  it('is time, message id and number', () => {
    expect(directoryName(at, 'abc@example.com', 7)).toBe('20261130T101500.123Z_abc@example.com_7');
  });

  it.each([
    ['../../etc/passwd', '.._.._etc_passwd'],
    ['a\\b:c*d?e"f<g>h|i', 'a_b_c_d_e_f_g_h_i'],
    ['line\nfeed\u0000', 'line_feed_'],
    ['аdmin', '_dmin'],
    ['\u202egnp.exe', '_gnp.exe'],
    ['😀', '_'],
    ['', ''],
  ])('keeps of %j only what is safe', (id, safe) => {
    expect(fileSafe(id)).toBe(safe);
  });

  it('keeps 80 characters of the message id, also when 200 characters are one emoji each', () => {
    expect(fileSafe('x'.repeat(5000))).toHaveLength(80);
    expect(fileSafe('😀'.repeat(200))).toHaveLength(80);
  });

  it.each(['CON', 'NUL.txt', 'com1', 'trailing. ', 'dots...', '.hidden', '..'])(
    'is no device and not trimmed on Windows for %j',
    (id) => {
      const name = directoryName(at, id, 1);
      expect(name).not.toMatch(reserved);
      expect(name).toMatch(/^\d.*\d$/);
    },
  );

  it('is one path segment, recognised as ours, for any message id', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.nat(), (id, number) => {
        const name = directoryName(at, id, number);
        expect(name).toMatch(/^[A-Za-z0-9._@-]{1,120}$/);
        expect(isDirectoryName(name)).toBe(true);
      }),
    );
  });

  it.each(['lost+found', '.quittance-staging.json', 'x_1', '20261130T101500.123Z_a/b_1', '20261130T101500.123Z_a_'])(
    'does not take %j for one of ours',
    (name) => {
      expect(isDirectoryName(name)).toBe(false);
    },
  );
});
