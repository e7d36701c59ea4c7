import type { Instant } from './instant.ts';
import { copyJson, type Json } from './json.ts';

/** An opaque text that names a record. */
export type Id = string;

/** The collections of records that there are. */
export type Collection = 'users' | 'posts';

/** 1 when a record is made, one more with each change. */
export type Version = number;

/** What the server makes of every record. */
export type EntityFields = {
  readonly id: Id;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
};

/** What every record has, beside its fields and a deployment's own. */
export interface Entity extends EntityFields {
  readonly [field: string]: Json;
}

/** The same fields in an input: they are ignored, so that a record can be given back as it was. */
export type ServerMadeInput = { readonly [K in keyof EntityFields]?: EntityFields[K] | undefined };

/**
 * A record and the version that it is at.
 *
 * Text and value are each made when first asked for, once. `record` is one object for each
 * `Versioned`, so that a decision can return it; changing it changes neither `json` nor what is
 * stored.
 */
export interface Versioned<R> {
  readonly version: Version;
  readonly record: R;
  /** The record as compact JSON. */
  readonly json: string;
}

/** A record with these of its top-level fields alone. */
export function projected<R extends object>(record: R, fields: readonly string[]): R {
  const left = Object.entries(record).filter(([name]) => fields.includes(name));
  return Object.fromEntries(left) as R;
}

/** A {@link Versioned} of a record, or of its JSON text: it makes the other one when that is asked for. */
export class VersionedRecord<R> implements Versioned<R> {
  readonly version: Version;
  readonly #source: R | undefined;
  #json: string | undefined;
  #record: R | undefined;

  /** @param source the record, which must not change any more, or its JSON text */
  constructor(source: R | string, version: Version) {
    this.version = version;
    if (typeof source === 'string') this.#json = source;
    else this.#source = source;
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.#source);
    return this.#json;
  }

  /** What `JSON.stringify` has of it: without this, nothing of the record. */
  toJSON(): object {
    return { ...this, record: this.record };
  }

  get record(): R {
    this.#record ??= this.#source === undefined ? JSON.parse(this.json) : copyJson(this.#source);
    return this.#record as R;
  }
}
