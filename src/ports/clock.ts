import type { Instant } from '../domain/instant.ts';

/** Tells the time. It can stand still or step back: everything that uses it tolerates that. */
export interface Clock {
  now(): Instant;
}
