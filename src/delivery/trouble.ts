import { DeliveryError } from './delivery-error.ts';

/** What the operating system says when the folder, not the message, is at fault: deliveries wait, whatever it takes (architecture §4). */
const sentences: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; free some space',
  EDQUOT: 'the quota is used up; raise it or free some space',
  EROFS: 'the file system is read-only; mount it for writing',
  EACCES: 'no permission; let this user write there',
  EPERM: 'the operation is not permitted; let this user own the folder',
  EIO: 'the disk reports an error; look at the kernel log',
  ENOENT: 'the folder is not there; mount it or make it again',
  ENOTDIR: 'a part of the path is no directory; mount or mend it',
  EMFILE: 'too many open files in this process; raise the limit',
  ENFILE: 'too many open files on this machine; raise the limit',
  ENOMEM: 'out of memory',
  ESTALE: 'the network share went away; mount it again',
  ENOTCONN: 'the network share is not connected; mount it again',
  EHOSTDOWN: 'the file server is down',
  ETIMEDOUT: 'the file server does not answer',
  EBUSY: 'the folder is in use by something else',
  ENODEV: 'the device is gone',
  ENXIO: 'the device is gone',
  EXDEV: 'inbox and staging must be on the same file system',
};

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Whether an error is the folder's (true) or may be the message's own (false). */
export function isTrouble(error: unknown): boolean {
  if (error instanceof DeliveryError) return error.code === 'trouble' || error.code === 'held';
  return Object.hasOwn(sentences, codeOf(error));
}

/** The folder's error as a sentence for the operator; any other error as it is. */
export function explain(error: unknown): unknown {
  const sentence = sentences[codeOf(error)];
  if (sentence === undefined || !(error instanceof Error)) return error;
  const path = 'path' in error && typeof error.path === 'string' ? ` (${error.path})` : '';
  return new DeliveryError('trouble', `inbox cannot be written: ${sentence}${path}`, error);
}
