/** A text in which `*` stands for any characters, none included. */
export interface Pattern {
  matches(value: string): boolean;
}

/** Compiled without regular expressions: no pattern and no value can make a match slow. */
export function patternOf(pattern: string): Pattern {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return { matches: (value) => value === pattern };
  return {
    matches(value) {
      if (!value.startsWith(first) || !value.endsWith(last) || value.length < first.length + last.length) return false;
      let at = first.length;
      const end = value.length - last.length;
      for (const piece of rest) {
        const found = value.indexOf(piece, at);
        if (found < 0 || found + piece.length > end) return false;
        at = found + piece.length;
      }
      return true;
    },
  };
}
