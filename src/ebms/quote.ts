/** A sender's value for a Description or a log line: at most 120 characters, controls replaced, in single quotes. */
export function quote(value: string): string {
  const shown = value.replace(/[\u0000-\u001f\u007f-\u009f]/g, '\ufffd');
  return shown.length > 120 ? `'${shown.slice(0, 120)}…'` : `'${shown}'`;
}
