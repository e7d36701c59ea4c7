import type { Instant } from '../domain/records/instant.ts';

/** Tells the time. The core and every store tolerate a clock that stands still or steps back. */
export interface Clock {
  now(): Instant;
}
