/** Longest MessageId that is stored and echoed, in UTF-16 units. */
const MAX_LENGTH = 255;

/**
 * Why a value cannot serve as eb:MessageId; null when it can.
 *
 * The RFC 2822 grammar that Core §5.2.2.1 asks for is not enforced: production senders violate it. What would make two ids look
 * alike or break a log is: white space around it and control characters.
 */
export function messageIdFault(value: string): string | null {
  if (value === '') return 'is empty';
  if (value.length > MAX_LENGTH) return `has more than ${MAX_LENGTH} characters`;
  if (hasControl(value)) return 'has control characters';
  if (/^\s|\s$/.test(value)) return 'begins or ends with white space';
  return null;
}

function hasControl(value: string): boolean {
  return /[\u0000-\u001f\u007f-\u009f]/.test(value);
}
