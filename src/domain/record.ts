import type { Instant } from './instant.ts';
import type { Json } from './json.ts';

/** Opaque to everybody but who made it. */
export type Id = string;

/** 1 when a record is made, one more with each change. */
export type Version = number;

/** What every record has, beside its fields and a deployment's own. */
export interface Entity {
  readonly id: Id;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly [field: string]: Json;
}

/** A record and the version that it is at. */
export interface Versioned<R> {
  readonly record: R;
  readonly version: Version;
}
