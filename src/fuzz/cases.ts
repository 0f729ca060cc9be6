import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { FIXTURES } from '../../fixtures/catalogue/all.ts';
import { type Fixture, type FixtureSpec, makeFixture } from '../../fixtures/catalogue/fixture.ts';
import { fixtureOctets } from '../../fixtures/read.ts';
import type { SignedReference } from '../../fixtures/sender/options.ts';
import { mutate, type Random } from './mutations.ts';

/** A request before it is changed. */
export interface Seed {
  readonly id: string;
  readonly contentType: string;
  readonly body: Buffer;
}

/** A changed message, and what its sender has signed when it was signed anew. */
export interface Case {
  /** How it was made, for a report. */
  readonly name: string;
  /** The seed whose signature it still carries; null when it was signed anew. */
  readonly seed: Seed | null;
  readonly contentType: string;
  readonly body: Buffer;
  readonly signed: Signed | null;
}

/** What must come of a message that was signed anew, should it get a receipt. */
export interface Signed {
  /** Null when SignedInfo itself was changed. */
  readonly references: readonly SignedReference[] | null;
  /** SHA-256 of the leading payload as it went into the encryption, in hex; null for a ping. */
  readonly payload: string | null;
  /** The leading payload was changed after it had been signed, from this. */
  readonly before: { readonly octets: Buffer; readonly after: Buffer; readonly isXml: boolean } | null;
}

/** Every good message of the catalogue that needs nothing but a receiver as it is. */
export function readSeeds(): Seed[] {
  return good().map(({ id }) => ({ id, ...requestOf(fixtureOctets(id)) }));
}

function good(): Fixture[] {
  return FIXTURES.filter((f) => f.expect.receipt && f.after === undefined && f.settings === undefined);
}

/** Content-Type and body of an HTTP request on the wire, chunked or not. */
export function requestOf(octets: Buffer): { contentType: string; body: Buffer } {
  const end = octets.indexOf('\r\n\r\n');
  const head = octets.toString('latin1', 0, end);
  const contentType = /^content-type: *((?:.|\r\n[ \t])*)/im.exec(head)?.[1]?.replace(/\r\n[ \t]+/g, ' ') ?? '';
  let rest = octets.subarray(end + 4);
  if (!/^transfer-encoding: *chunked/im.test(head)) return { contentType, body: rest };
  const pieces: Buffer[] = [];
  for (;;) {
    const line = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.toString('latin1', 0, line), 16);
    if (!(size > 0)) return { contentType, body: Buffer.concat(pieces) };
    pieces.push(rest.subarray(line + 2, line + 2 + size));
    rest = rest.subarray(line + 4 + size);
  }
}

/** A seed with random changes on the way: nobody signed it anew. */
export function changedOnTheWay(seeds: readonly Seed[], random: Random): Case {
  const seed = pick(seeds, random);
  const inHeader = random() < 0.04;
  const contentType = inHeader ? mutate(Buffer.from(seed.contentType), random).toString('latin1') : seed.contentType;
  const body = inHeader ? seed.body : mutate(seed.body, random);
  return { name: `${seed.id}, changed on the way`, seed, contentType, body, signed: null };
}

const SIGNED_ANEW: readonly (readonly [
  what: string,
  ids: readonly string[],
  change: (spec: FixtureSpec, random: Random) => FixtureSpec,
])[] = [
  [
    'eb:Messaging',
    ['ping-soap', 'order', 'several-payloads'],
    (spec, random) => ({ ...spec, editMessaging: text(random) }),
  ],
  [
    'ds:SignedInfo',
    ['ping-soap', 'order', 'prefix-list-full'],
    (spec, random) => ({ ...spec, editSignedInfo: text(random) }),
  ],
  [
    'the document',
    ['order', 'x12-binary', 'uncompressed-xml', 'sbd-utf16'],
    (spec, random) => ({ ...spec, octetsOf: (sbd) => mutate((spec.octetsOf ?? Buffer.from)(sbd), random) }),
  ],
  [
    'the compressed document',
    ['order', 'pdf-binary'],
    (spec, random) => ({
      ...spec,
      octetsOf: (sbd) => mutate(gzipSync(sbd), random),
      payload: { compress: false, compressionType: 'application/gzip', encryptedMimeType: 'application/gzip' },
    }),
  ],
  ['the payload behind the signature', ['order', 'uncompressed-xml', 'uncompressed-text'], (spec) => spec],
];

/**
 * A message that a participant signed itself, with random changes before that; or that a carrier encrypted anew.
 * @returns null when the sender's own tools cannot make it: its parser wants XML that is well-formed
 */
export function signedAnew(unique: string, random: Random): Case | null {
  const [what, ids, change] = pick(SIGNED_ANEW, random);
  const id = pick(ids, random);
  const fixture = FIXTURES.find((each) => each.id === id);
  if (fixture === undefined) throw new Error(`there is no fixture ${id}`);
  let before: Signed['before'] = null;
  let payload: Buffer | null = null;
  const editPlain = (octets: Buffer, index: number): Buffer => {
    if (index !== 0) return octets;
    const after = what === 'the payload behind the signature' ? changedPlain(octets, random) : octets;
    if (after !== octets) before = { octets, after, isXml: id === 'uncompressed-xml' };
    payload = after;
    return after;
  };
  try {
    const { message } = makeFixture({ id: unique, spec: { ...change(fixture.spec, random), editPlain } });
    return {
      name: `${id}, signed anew after a change of ${what}`,
      seed: null,
      contentType: message.headers['Content-Type'] ?? '',
      body: message.body,
      signed: {
        references: what === 'ds:SignedInfo' ? null : message.references,
        payload: payload === null ? null : createHash('sha256').update(payload).digest('hex'),
        before,
      },
    };
  } catch (error) {
    // Of ours is only a crash of this very file; the sender's parser and its demand that edits change something are no findings.
    if (error instanceof RangeError) throw error;
    return null;
  }
}

/** What is compressed is mostly changed inside: else it is a damaged gzip, which proves little. */
function changedPlain(octets: Buffer, random: Random): Buffer {
  const compressed = octets[0] === 0x1f && octets[1] === 0x8b;
  return compressed && random() < 0.7 ? gzipSync(mutate(gunzipSync(octets), random)) : mutate(octets, random);
}

const text = (random: Random) => (xml: string) => mutate(Buffer.from(xml), random).toString('utf8');

function pick<T>(items: readonly T[], random: Random): T {
  return items[Math.floor(random() * items.length)] as T;
}
