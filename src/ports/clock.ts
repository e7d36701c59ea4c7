import type { Instant } from '../domain/instant.ts';

/** Tells the time. It may stand still or step back; what is built on it holds all the same. */
export interface Clock {
  now(): Instant;
}
