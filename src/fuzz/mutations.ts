/** Numbers in [0, 1). */
export type Random = () => number;

/** Pieces that mean something to a reader of XML, MIME or base64: random octets would seldom make them. */
const TOKENS = [
  '<!-- x -->',
  '<![CDATA[x]]>',
  '<![CDATA[',
  ']]>',
  '<?x y?>',
  '<!DOCTYPE a>',
  '&#65;',
  '&#x0;',
  '&lt;',
  '&x;',
  ' Id="x"',
  ' wsu:Id="x"',
  ' id="x"',
  ' xmlns="urn:x"',
  ' xmlns:eb="urn:x"',
  ' xmlns:ds="urn:x"',
  ' xmlns:x="urn:x" x:y="1"',
  '<x/>',
  '<x xmlns="urn:x">',
  '</x>',
  '>',
  '"',
  "'",
  '=',
  '#',
  'cid:',
  '\r\n',
  '\n',
  '\r',
  '\t',
  ' ',
  '\u0000',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\r\n\r\n',
  '\r\n--',
  '\r\nContent-ID: <x>',
  '\r\nContent-Transfer-Encoding: base64',
  '%00',
  '../',
  'AAAA',
];

/**
 * One to four changes at random places, mostly one: flipped, set, cut, repeated, swapped or inserted octets, a letter for a letter, or
 * whole XML elements moved about. Half of them leave XML that is well-formed: what a parser refuses shows nothing of what lies behind it.
 */
export function mutate(bytes: Buffer, random: Random): Buffer {
  let mutant = bytes;
  for (let changes = 1 + Math.floor(random() ** 4 * 4); changes > 0; changes--) {
    const change = CHANGES[Math.floor(random() * CHANGES.length)] as Change;
    mutant = change(mutant, random);
  }
  return mutant;
}

type Change = (bytes: Buffer, random: Random) => Buffer;

const CHANGES: readonly Change[] = [
  (bytes, random) => {
    const copy = Buffer.from(bytes);
    const at = place(bytes, random);
    if (at < copy.length) copy[at] = (copy[at] as number) ^ (1 << Math.floor(random() * 8));
    return copy;
  },
  (bytes, random) => {
    const copy = Buffer.from(bytes);
    const at = place(bytes, random);
    if (at < copy.length) copy[at] = Math.floor(random() * 256);
    return copy;
  },
  (bytes, random) => splice(bytes, place(bytes, random), 0, token(random)),
  (bytes, random) => splice(bytes, place(bytes, random), 1 + Math.floor(random() * 8), token(random)),
  (bytes, random) => splice(bytes, place(bytes, random), length(random), Buffer.alloc(0)),
  (bytes, random) => {
    const at = place(bytes, random);
    const piece = bytes.subarray(at, at + length(random));
    return splice(bytes, random() < 0.5 ? at : place(bytes, random), 0, piece);
  },
  (bytes, random) => {
    const [from, to] = [place(bytes, random), place(bytes, random)].sort((a, b) => a - b) as [number, number];
    const first = bytes.subarray(from, Math.min(to, from + length(random)));
    const second = bytes.subarray(to, to + length(random));
    const between = bytes.subarray(from + first.length, to);
    return Buffer.concat([bytes.subarray(0, from), second, between, first, bytes.subarray(to + second.length)]);
  },
  (bytes, random) => bytes.subarray(0, place(bytes, random)),
  elementChange,
  elementChange,
  elementChange,
  letterChange,
  letterChange,
  letterChange,
  forgery,
  forgery,
  forgery,
];

/** Another letter or digit in the place of one: well-formed XML and base64 stay so. */
function letterChange(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  for (let attempt = 0, at = place(bytes, random); attempt < 40 && at < copy.length; attempt++, at++) {
    if (!/[A-Za-z0-9]/.test(String.fromCharCode(copy[at] as number))) continue;
    const alphabet = /[0-9]/.test(String.fromCharCode(copy[at] as number)) ? '0123456789' : 'abcdefghXYZ';
    copy[at] = alphabet.charCodeAt(Math.floor(random() * alphabet.length));
    return copy;
  }
  return copy;
}

/** Signature wrapping: an element goes to another place as it is, and a changed copy of it, with or without its Id, stays behind. */
function forgery(bytes: Buffer, random: Random): Buffer {
  const element = random() < 0.5 ? namedElement(bytes, random) : someElement(bytes, random);
  if (element === null) return bytes;
  const [from, to] = element;
  const genuine = bytes.subarray(from, to);
  const kept = letterChange(letterChange(genuine, random), random);
  const forged =
    random() < 0.5 ? Buffer.from(kept.toString('latin1').replace(/ (?:wsu:)?I[dD]="[^"]*"/, ''), 'latin1') : kept;
  const inPlace = splice(bytes, from, to - from, forged);
  const other = random() < 0.5 ? namedElement(inPlace, random) : someElement(inPlace, random);
  if (other === null) return inPlace;
  const boxed = random() < 0.5 ? Buffer.concat([Buffer.from('<x xmlns="">'), genuine, Buffer.from('</x>')]) : genuine;
  // In front of it, behind it, or as its last child.
  const closing = bytes.length > 0 ? inPlace.lastIndexOf('</', other[1]) : 0;
  const at = random() < 0.33 ? other[0] : random() < 0.5 ? other[1] : closing;
  return splice(inPlace, at, 0, boxed);
}

const NAMES = ['Messaging', 'Body', 'Security', 'Signature', 'SignedInfo', 'UserMessage', 'MessageInfo', 'KeyInfo'];

/** One of the elements that signature wrapping is about. */
function namedElement(bytes: Buffer, random: Random): [number, number] | null {
  const name = NAMES[Math.floor(random() * NAMES.length)];
  const text = bytes.toString('latin1');
  const found = new RegExp(`<((?:\\w+:)?${name})[ >]`).exec(text);
  if (found === null) return null;
  const close = `</${found[1]}>`;
  const end = text.indexOf(close, found.index);
  return end < 0 ? null : [found.index, end + close.length];
}

/** Copies, moves, removes or wraps an element: what signature wrapping is made of. */
function elementChange(bytes: Buffer, random: Random): Buffer {
  const element = someElement(bytes, random);
  if (element === null) return bytes;
  const [from, to] = element;
  const piece = bytes.subarray(from, to);
  const rest = splice(bytes, from, to - from, Buffer.alloc(0));
  const roll = random();
  if (roll < 0.2) return rest;
  if (roll < 0.4)
    return splice(bytes, from, to - from, Buffer.concat([Buffer.from('<x xmlns="">'), piece, Buffer.from('</x>')]));
  const target = roll < 0.7 ? bytes : rest;
  const other = someElement(target, random);
  if (other === null) return rest;
  const at = random() < 0.5 ? other[0] : other[1];
  const renamed =
    random() < 0.3 ? Buffer.from(piece.toString('latin1').replace(/ (?:wsu:)?I[dD]="[^"]*"/g, ''), 'latin1') : piece;
  return splice(target, at, 0, renamed);
}

/** Where an element begins and ends; one whose closing tag is not found near by is passed over. */
function someElement(bytes: Buffer, random: Random): [number, number] | null {
  for (let attempt = 0; attempt < 8; attempt++) {
    const from = bytes.indexOf('<', place(bytes, random));
    if (from < 0) continue;
    const name = /^<([A-Za-z_][\w.:-]*)/.exec(bytes.toString('latin1', from, from + 80))?.[1];
    if (name === undefined) continue;
    const close = `</${name}>`;
    const end = bytes.indexOf(close, from);
    if (end > 0) return [from, end + close.length];
  }
  return null;
}

/** Mostly inside the envelope: ciphertext is large, and every octet of it is like every other. */
function place(bytes: Buffer, random: Random): number {
  const first = bytes.indexOf('<');
  const last = bytes.lastIndexOf('>');
  if (first >= 0 && last > first && random() < 0.75) return first + Math.floor(random() * (last - first));
  return Math.floor(random() * (bytes.length + 1));
}

function length(random: Random): number {
  return 1 + Math.floor(random() < 0.8 ? random() * 16 : random() * 2_000);
}

function token(random: Random): Buffer {
  return Buffer.from(TOKENS[Math.floor(random() * TOKENS.length)] as string);
}

function splice(bytes: Buffer, at: number, remove: number, insert: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)]);
}
