/** Named moments at which a crash would be most instructive (architecture §2.10, §4). */
export type CheckpointName = 'before-commit' | 'after-commit' | 'staging-half' | 'staged' | 'handing-over' | 'renamed';
export type Checkpoint = (name: CheckpointName) => void;

/** What production runs with. */
export const noCheckpoint: Checkpoint = () => {};

/**
 * A checkpoint that kills this very process, as a power cut or the OOM killer would, the n-th time a moment passes.
 * @param setting `name` or `name:n`, from QUITTANCE_CRASH_AT; only the test environment reads it
 */
export function crashAt(setting: string | undefined): Checkpoint {
  if (!setting) return noCheckpoint;
  const [wanted, count] = setting.split(':');
  let left = Number(count ?? 1);
  return (name) => {
    if (name === wanted && --left === 0) process.kill(process.pid, 'SIGKILL');
  };
}
