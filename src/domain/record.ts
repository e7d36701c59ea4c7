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

/** A {@link Versioned} of JSON text: nothing is parsed unless somebody asks for the record. */
export class JsonVersioned<R> implements Versioned<R> {
  readonly json: string;
  readonly version: Version;
  #record: R | undefined;

  /** @param record what the text says, where it is known and nothing else has it */
  constructor(json: string, version: Version, record?: R) {
    this.json = json;
    this.version = version;
    this.#record = record;
  }

  get record(): R {
    this.#record ??= JSON.parse(this.json) as R;
    return this.#record;
  }
}

/** A {@link Versioned} of a record that nobody changes any more: nothing is written unless asked. */
export class RecordVersioned<R> implements Versioned<R> {
  readonly version: Version;
  readonly #source: R;
  #record: R | undefined;
  #json: string | undefined;

  constructor(source: R, version: Version) {
    this.#source = source;
    this.version = version;
  }

  get record(): R {
    this.#record ??= copyJson(this.#source);
    return this.#record;
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.#source);
    return this.#json;
  }
}
