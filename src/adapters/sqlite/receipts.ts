import { RostrumError } from '../../domain/errors.ts';
import { addMs } from '../../domain/instant.ts';
import type { Receipt } from '../../domain/receipt.ts';
import type { Collection, Version } from '../../domain/record.ts';
import type { Connection } from './connection/connection.ts';

/** How many expired receipts go with each new one: more than come in. */
const purgedAtOnce = 4;

/** A clock that steps back this much still finds the earlier receipt. */
const purgeDelayMs = 60 * 60 * 1000;

const find = `SELECT fingerprint, until, version, json FROM receipts WHERE collection = ? AND key = ?`;
const insert = 'INSERT OR REPLACE INTO receipts VALUES (?, ?, ?, ?, ?, ?)';
const purge = `DELETE FROM receipts WHERE rowid IN
  (SELECT rowid FROM receipts WHERE until <= ? ORDER BY until LIMIT ${purgedAtOnce})`;

/** A record as it was created. */
export interface CreatedRow {
  readonly json: string;
  readonly version: Version;
}

/** The idempotency keys that the records of one collection were created under. */
export class Receipts {
  readonly #connection: Connection;
  readonly #collection: Collection;

  constructor(connection: Connection, collection: Collection) {
    this.#connection = connection;
    this.#collection = collection;
  }

  /**
   * Returns what was created under a receipt; undefined when its key is free.
   *
   * @throws RostrumError `idempotency-key-reused`
   */
  find({ key, fingerprint, from }: Receipt): CreatedRow | undefined {
    type Row = [fingerprint: string, until: string, version: Version, json: string];
    const row = this.#connection.get<Row>(find, this.#collection, key);
    if (row === undefined) return undefined;
    const [earlier, until, version, json] = row;
    if (until <= from) return undefined;
    if (earlier !== fingerprint) throw new RostrumError('idempotency-key-reused', {});
    return { version, json };
  }

  /** Keeps a receipt whose key is free. */
  add({ key, fingerprint, from, until }: Receipt, { version, json }: CreatedRow): void {
    this.#connection.run(insert, this.#collection, key, fingerprint, until, version, json);
    this.#connection.run(purge, addMs(from, -purgeDelayMs));
  }
}
