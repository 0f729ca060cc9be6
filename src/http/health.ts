/** Something that works worse than it should while messages are still received. */
export interface Degradation {
  readonly what: string;
  /** ISO 8601. */
  readonly since: string;
}

/** What `GET /health/ready` tells (architecture §4). */
export interface Health {
  /** False only when a new message would get 503. */
  readonly ready: boolean;
  readonly degraded: readonly Degradation[];
}
