import { RostrumError } from '../../domain/errors.ts';
import { instantToMs } from '../../domain/instant.ts';
import type { Receipt } from '../../domain/receipt.ts';
import type { Connection } from './connection/connection.ts';

/** How many receipts that are long gone go with each one that is made: more than come in. */
const purgedAtOnce = 4;

/** A clock that steps back this much still finds the earlier receipt. */
const purgeDelayMs = 60 * 60 * 1000;

/** The idempotency keys under which the records of one table were made. */
export class Receipts {
  readonly #connection: Connection;
  readonly #table: string;

  constructor(connection: Connection, table: 'users' | 'posts') {
    this.#connection = connection;
    this.#table = table;
  }

  /**
   * What was made under a receipt, as JSON text; undefined when its key is free.
   *
   * @throws RostrumError `idempotency-key-reused`
   */
  find({ key, fingerprint, from }: Receipt): string | undefined {
    const sql = 'SELECT fingerprint, until, record FROM claims WHERE kind = ? AND key = ?';
    const row = this.#connection.get<[string, number, string]>(sql, this.#table, stored(key));
    if (row === undefined) return undefined;
    const [earlier, until, record] = row;
    if (until <= instantToMs(from)) return undefined;
    if (earlier !== fingerprint) throw new RostrumError('idempotency-key-reused', {});
    return record;
  }

  /** Keeps a receipt whose key is free: unknown, or known by a receipt that has expired. */
  add({ key, fingerprint, from, until }: Receipt, record: string): void {
    this.#connection.run(
      'INSERT OR REPLACE INTO claims (kind, key, fingerprint, until, record) VALUES (?, ?, ?, ?, ?)',
      this.#table,
      stored(key),
      fingerprint,
      instantToMs(until),
      record,
    );
    this.#connection.run(
      `DELETE FROM claims WHERE rowid IN
      (SELECT rowid FROM claims WHERE until <= ? ORDER BY until LIMIT ${purgedAtOnce})`,
      instantToMs(from) - purgeDelayMs,
    );
  }
}

/** A key as text that SQLite keeps: half a surrogate pair would be another character to it. */
function stored(key: string): string {
  return key.isWellFormed() && !key.startsWith('\0') ? key : `\0${JSON.stringify(key)}`;
}
