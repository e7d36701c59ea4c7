import type { Instant } from '../domain/instant.ts';

/** Tells the time. The core and every store tolerate a clock that stands still or steps back. */
export interface Clock {
  now(): Instant;
}
