import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Messages of other products; they are not part of the project, so tests that need them are skipped where they are absent. */
const SAMPLES = join(import.meta.dirname, '../../../../shared/samples');
export const SAMPLES_PRESENT = existsSync(join(SAMPLES, 'peers'));
if (!SAMPLES_PRESENT) console.warn(`skipped: messages of other products, because ${SAMPLES} is absent`);

/** A captured message, taken apart without any tolerance for strange MIME. */
export interface Sample {
  readonly envelope: Buffer;
  /** Decoded bodies of the other parts by `cid:` URI. */
  readonly parts: ReadonlyMap<string, Buffer>;
}

export function sampleNames(folder: 'peers' | 'real'): string[] {
  return SAMPLES_PRESENT ? readdirSync(join(SAMPLES, folder)).filter((name) => /\.as4(in|out)?$/.test(name)) : [];
}

/** Path of a file of the PKI that the peers' messages were made with. */
export function samplePki(name: string): string {
  return join(SAMPLES, 'peers/pki', name);
}

export function sampleSha256(name: string): string {
  return readFileSync(join(SAMPLES, 'peers', `${name}.sha256`), 'utf8').slice(0, 64);
}

export function readSample(folder: 'peers' | 'real', name: string): Sample {
  const [head, body] = splitHead(readFileSync(join(SAMPLES, folder, name)));
  const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(head)!;
  const text = body.toString('latin1');
  const sections = text.split(`--${quoted ?? plain}`).slice(1, -1);
  const [root, ...others] = sections.map((section) =>
    splitHead(Buffer.from(section.replace(/^[ \t]*\r?\n/, ''), 'latin1')),
  );
  const parts = others.map(([headers, content]): [string, Buffer] => {
    const octets = content.subarray(0, content.length - (content.at(-2) === 0x0d ? 2 : 1));
    const id = /^content-id:\s*<([^>]+)>/im.exec(headers)![1]!;
    const base64 = /^content-transfer-encoding:\s*base64/im.test(headers);
    return [`cid:${id}`, base64 ? Buffer.from(octets.toString('latin1'), 'base64') : octets];
  });
  return { envelope: Buffer.from(root![1].toString('latin1').trim(), 'latin1'), parts: new Map(parts) };
}

function splitHead(bytes: Buffer): [string, Buffer] {
  const crlf = bytes.indexOf('\r\n\r\n');
  const lf = bytes.indexOf('\n\n');
  const at = crlf >= 0 && (lf < 0 || crlf < lf) ? crlf : lf;
  return [bytes.subarray(0, at).toString('latin1'), bytes.subarray(at + (at === crlf ? 4 : 2))];
}
