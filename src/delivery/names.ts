const longest = 80;

/**
 * A message id as part of a file name: everything but `[A-Za-z0-9._@-]` becomes `_`, at most 80 characters are kept.
 * The sender chose it, so it may hold `../`, control characters or letters that only look like others.
 */
export function fileSafe(messageId: string): string {
  // By code point, so that a surrogate pair is one `_`; cut before replacing, so that a huge id costs nothing.
  return messageId
    .slice(0, 2 * longest)
    .replace(/[^A-Za-z0-9._@-]/gu, '_')
    .slice(0, longest);
}

/**
 * Name of the directory of one hand-over (architecture §4): `20261130T101500.123Z_<message id>_<number>`. It begins with a digit and
 * ends in one, so no name is reserved, hidden, or trimmed on Windows, and the number makes it unique without regard to case.
 * @param receivedAt epoch milliseconds
 */
export function directoryName(receivedAt: number, messageId: string, number: number): string {
  const time = new Date(receivedAt).toISOString().replace(/[-:]/g, '');
  return `${time}_${fileSafe(messageId)}_${number}`;
}

/** Whether a name in `staging/` can be one of ours. Nothing else there is ever removed. */
export function isDirectoryName(name: string): boolean {
  return /^\d{8}T\d{6}\.\d{3}Z_[A-Za-z0-9._@-]{0,80}_\d+$/.test(name);
}
