import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { Connection } from './connection.ts';
import type { EntityRow, RowMapping } from './rows.ts';

/** The table of one kind of record: its rows one by one. */
export class RecordTable<R extends Entity, Row extends EntityRow> {
  readonly #connection: Connection;
  readonly #mapping: RowMapping<R, Row>;
  readonly #insert: string;

  constructor(connection: Connection, mapping: RowMapping<R, Row>) {
    const { table, columns } = mapping;
    this.#connection = connection;
    this.#mapping = mapping;
    const marks = columns.map(() => '?').join(', ');
    this.#insert = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`;
  }

  find(id: Id): Row | undefined {
    // SQLite would be given U+FFFD for half of a surrogate pair, and there may be such an id.
    if (!id.isWellFormed()) return undefined;
    return this.#connection.get<Row>(`SELECT * FROM ${this.#mapping.table} WHERE id = ?`, id);
  }

  versioned(row: Row): Versioned<R> {
    return { record: this.#mapping.toRecord(row), version: row.version };
  }

  /** @throws DriverError for a constraint that does not hold */
  insert(row: Row): void {
    this.#connection.run(this.#insert, ...this.#mapping.columns.map((name) => row[name] ?? null));
  }

  /**
   * Puts the next version of a record in the place of the last one. Only what changed is said, as
   * SQLite writes every index anew that has a column which is.
   *
   * @throws DriverError for a constraint that does not hold
   */
  replace(last: Row, record: R): Row {
    const row = this.#mapping.toRow(record, last.version + 1);
    const { table, columns } = this.#mapping;
    const changed = columns.filter((name) => row[name] !== last[name]);
    const values = changed.map((name) => row[name] ?? null);
    const set = changed.map((name) => `${name} = ?`).join(', ');
    this.#connection.run(`UPDATE ${table} SET ${set} WHERE id = ?`, ...values, last.id);
    return row;
  }

  remove(id: Id): void {
    this.#connection.run(`DELETE FROM ${this.#mapping.table} WHERE id = ?`, id);
  }
}
