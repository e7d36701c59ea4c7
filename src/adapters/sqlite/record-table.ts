import { idTaken } from '../../domain/errors.ts';
import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { FindConflict } from './conflicts.ts';
import type { Connection } from './connection.ts';
import { isDriverError, resultCode } from './driver-error.ts';
import type { EntityRow, RowMapping } from './rows.ts';

/**
 * The table of one kind of record: its rows one by one.
 *
 * What writes raises `id-taken` and what {@link FindConflict} finds.
 */
export class RecordTable<R extends Entity, Row extends EntityRow> {
  readonly #connection: Connection;
  readonly #mapping: RowMapping<R, Row>;
  readonly #findConflict: FindConflict<Row>;
  readonly #insert: string;
  readonly #put: string;

  constructor(
    connection: Connection,
    mapping: RowMapping<R, Row>,
    findConflict: FindConflict<Row>,
  ) {
    this.#connection = connection;
    this.#mapping = mapping;
    this.#findConflict = findConflict;
    const { table, columns } = mapping;
    const marks = columns.map(() => '?').join(', ');
    const sets = columns
      .filter((name) => name !== 'id')
      .map((name) => `${name} = excluded.${name}`);
    this.#insert = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`;
    // REPLACE would delete the row first, and so break off the posts of a user.
    this.#put = `${this.#insert} ON CONFLICT (id) DO UPDATE SET ${sets.join(', ')}`;
  }

  find(id: Id): Row | undefined {
    // SQLite would be given U+FFFD for half of a surrogate pair, and there may be such an id.
    if (!id.isWellFormed()) return undefined;
    return this.#connection.get<Row>(`SELECT * FROM ${this.#mapping.table} WHERE id = ?`, id);
  }

  versioned(row: Row): Versioned<R> {
    return { record: this.#mapping.toRecord(row), version: row.version };
  }

  insert(row: Row): void {
    this.#write(row, this.#insert, this.#mapping.columns);
  }

  /** Inserts a row, or puts it in the place of the one with its id. */
  put(row: Row): void {
    this.#write(row, this.#put, this.#mapping.columns);
  }

  /**
   * Puts the next version of a record in the place of the last one. Only what changed is said, as
   * SQLite writes every index anew that has a column which is.
   */
  replace(last: Row, record: R): Row {
    const row = this.#mapping.toRow(record, last.version + 1);
    const { table, columns } = this.#mapping;
    const changed = columns.filter((name) => row[name] !== last[name]);
    const set = changed.map((name) => `${name} = ?`).join(', ');
    this.#write(row, `UPDATE ${table} SET ${set} WHERE id = ?`, [...changed, 'id']);
    return row;
  }

  remove(id: Id): void {
    this.#connection.run(`DELETE FROM ${this.#mapping.table} WHERE id = ?`, id);
  }

  #write(row: Row, sql: string, columns: readonly (keyof Row & string)[]): void {
    try {
      this.#connection.run(sql, ...columns.map((name) => row[name] ?? null));
    } catch (error) {
      if (!isDriverError(error, resultCode.constraint)) throw error;
      if (sql === this.#insert && this.find(row.id) !== undefined) throw idTaken(row.id);
      throw this.#findConflict(row, this.#connection) ?? error;
    }
  }
}
