import type { Instant } from './instant.ts';
import { copyJson, type Json } from './json.ts';

/** An opaque text that names a record. */
export type Id = string;

export type Collection = 'users' | 'posts';

/**
 * Starts at 1, or at one more than the last version of a deleted record with its id. Each change adds one.
 */
export type Version = number;

/**
 * Returns the version at which `load` stores a record: its own, unless this id has had that version or a
 * later one. A record that is stored at its own version keeps it, so loading it again changes nothing.
 *
 * @param current the version of the stored record with this id
 * @param deleted the last version of a deleted record with this id
 */
export function versionToLoad(version: Version, current?: Version, deleted?: Version): Version {
  const last = current ?? deleted ?? 0;
  return version > last || version === current ? version : last + 1;
}

export type ServerMadeFields = {
  readonly id: Id;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
};

export interface Entity extends ServerMadeFields {
  readonly [field: string]: Json;
}

/**
 * The same fields in an input, so that a caller can pass a record back. Times are ignored. An id is ignored
 * when a record is created, and otherwise must be the record's own.
 */
export type ServerMadeInput = {
  readonly [K in keyof ServerMadeFields]?: ServerMadeFields[K] | undefined;
};

/**
 * A record and its version.
 *
 * `json` and `record` are each made once, on first use. `record` is the same object each time, so that a
 * decision can return it; modifying it changes neither `json` nor what is stored.
 */
export interface Versioned<R> {
  readonly version: Version;
  readonly record: R;
  /** The record as compact JSON. */
  readonly json: string;
}

/** Returns the record with only these top-level fields. */
export function pickFields<R extends object>(record: R, fields: readonly string[]): R {
  const picked = Object.entries(record).filter(([name]) => fields.includes(name));
  return Object.fromEntries(picked) as R;
}

/** A {@link Versioned} of a record, or of its JSON text. It makes the other one when first used. */
export class VersionedRecord<R> implements Versioned<R> {
  readonly version: Version;
  readonly #source: R | undefined;
  #json: string | undefined;
  #record: R | undefined;

  /** @param source the record, which must no longer change, or its JSON text */
  constructor(source: R | string, version: Version) {
    this.version = version;
    if (typeof source === 'string') this.#json = source;
    else this.#source = source;
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.#source);
    return this.#json;
  }

  /** Without it, `JSON.stringify` would leave out the record. */
  toJSON(): object {
    return { ...this, record: this.record };
  }

  get record(): R {
    this.#record ??= this.#source === undefined ? JSON.parse(this.json) : copyJson(this.#source);
    return this.#record as R;
  }
}
