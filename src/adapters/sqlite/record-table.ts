import { RostrumError } from '../../domain/errors.ts';
import {
  type Entity,
  type Id,
  type Version,
  type Versioned,
  VersionedRecord,
} from '../../domain/record.ts';
import type { Decide } from '../../ports/repository.ts';
import type { Connection, SqlValue } from './connection/connection.ts';
import { isDriverError, resultCode } from './connection/errors.ts';
import type { SqliteEvents } from './events.ts';

/** How records of one type are kept in rows. */
export interface RowMapping<R extends Entity> {
  readonly table: 'users' | 'posts';
  /** The columns beside `id`, `record_version` and `record`. */
  readonly columns: readonly string[];
  /** What a record has in these columns. */
  values(record: R): readonly SqlValue[];
  /**
   * Why a constraint other than the primary key's does not hold for a record, if so.
   *
   * Looked up in the same transaction: the driver says it in its message alone, and of several it
   * names any.
   */
  conflict(record: R, connection: Connection): Error | undefined;
}

type Row = [version: number, json: string, ...columns: SqlValue[]];

/**
 * One table of records, row by row. What writes raises `id-taken` and the mapping's conflicts. Each change
 * is an event as well; where that cannot be written, the driver fails, and the whole group is not made.
 */
export class RecordTable<R extends Entity> {
  readonly #connection: Connection;
  readonly #mapping: RowMapping<R>;
  readonly #events: SqliteEvents;
  readonly #sql: ReturnType<typeof statementsOf>;

  constructor(connection: Connection, mapping: RowMapping<R>, events: SqliteEvents) {
    this.#connection = connection;
    this.#mapping = mapping;
    this.#events = events;
    this.#sql = statementsOf(mapping);
  }

  find(id: Id): VersionedRecord<R> | undefined {
    const row = this.#connection.get<Row>(this.#sql.find, textForEquality(id));
    return row && new VersionedRecord<R>(row[1], row[0]);
  }

  /** The records with this id or a later one, in the order of their ids, each read in its turn. */
  *from(id: Id, limit: number): Generator<Versioned<R>> {
    for (const [version, json] of this.#connection.iterate<Row>(this.#sql.from, id, limit)) {
      yield new VersionedRecord<R>(json, version);
    }
  }

  /** Whether a row has this id, or had it. */
  isIdTaken(id: Id): boolean {
    return this.#versionOf(id) !== undefined || this.#isDeleted(id);
  }

  /** @param json the record's text */
  insert(record: R, json: string): void {
    const { id } = record;
    if (this.#isDeleted(id)) throw new RostrumError('id-taken', { id });
    this.#write(this.#sql.insert, record, 1, json, ...this.#mapping.values(record), id);
    this.#events.add(this.#mapping.table, id, 1);
  }

  /** Inserts a record, or puts it in the place of the one with its id. */
  put({ record, json, version }: Versioned<R>): void {
    const { id } = record;
    const present = this.#versionOf(id);
    const sql = present === undefined ? this.#sql.insert : this.#sql.update;
    this.#write(sql, record, version, json, ...this.#mapping.values(record), id);
    if (version !== present) this.#events.add(this.#mapping.table, id, version);
  }

  /**
   * Puts what `decide` makes of a record in its place. It sets only the columns that change, as
   * SQLite updates every index on a column that is set.
   */
  replace(id: Id, decide: Decide<R>): Versioned<R> | undefined {
    const row = this.#connection.get<Row>(this.#sql.findRow, textForEquality(id));
    if (row === undefined) return undefined;
    const [version, json, ...last] = row;
    const current = new VersionedRecord<R>(json, version);
    const next = decide(current);
    // `decide` may have changed what it was shown, so the caller gets another object.
    if (next === current.record) return new VersionedRecord<R>(json, version);
    const made = new VersionedRecord<R>(JSON.stringify(next), version + 1);
    const sets = ['record_version', 'record'];
    const values: SqlValue[] = [made.version, made.json];
    for (const [i, value] of this.#mapping.values(next).entries()) {
      if (value === last[i]) continue;
      sets.push(String(this.#mapping.columns[i]));
      values.push(value);
    }
    const set = sets.map((name) => `${name} = ?`).join(', ');
    const sql = `UPDATE ${this.#mapping.table} SET ${set} WHERE id = ?`;
    this.#write(sql, next, ...values, id);
    this.#events.add(this.#mapping.table, id, made.version);
    return made;
  }

  remove(id: Id): void {
    this.#connection.run(this.#sql.remove, id);
    this.#events.add(this.#mapping.table, id, null);
  }

  #versionOf(id: Id): Version | undefined {
    return this.#connection.get<[Version]>(this.#sql.version, textForEquality(id))?.[0];
  }

  #isDeleted(id: Id): boolean {
    return this.#connection.get(this.#sql.isDeleted, textForEquality(id)) !== undefined;
  }

  #write(sql: string, record: R, ...values: SqlValue[]): void {
    try {
      this.#connection.run(sql, ...values);
    } catch (error) {
      if (!isDriverError(error, resultCode.constraint)) throw error;
      const { id } = record;
      const isInsert = sql === this.#sql.insert;
      if (isInsert && this.#versionOf(id) !== undefined) throw new RostrumError('id-taken', { id });
      throw this.#mapping.conflict(record, this.#connection) ?? error;
    }
  }
}

/** The statements of a table that are the same every time. */
function statementsOf({ table, columns }: Pick<RowMapping<never>, 'table' | 'columns'>) {
  const all = ['record_version', 'record', ...columns];
  const names = all.join(', ');
  const marks = all.map(() => '?').join(', ');
  return {
    version: `SELECT record_version FROM ${table} WHERE id = ?`,
    isDeleted: `SELECT 1 FROM deleted WHERE kind = '${table}' AND id = ?`,
    find: `SELECT record_version, record FROM ${table} WHERE id = ?`,
    from: `SELECT record_version, record FROM ${table} WHERE id >= ? ORDER BY id LIMIT ?`,
    findRow: `SELECT ${names} FROM ${table} WHERE id = ?`,
    // VALUES and not SELECT: for rows of a query SQLite keeps a statement journal, a copy of each page
    // that it changes.
    insert: `INSERT INTO ${table} (${names}, id) VALUES (${marks}, ?)`,
    update: `UPDATE ${table} SET (${names}) = (${marks}) WHERE id = ?`,
    remove: `DELETE FROM ${table} WHERE id = ?`,
  };
}

/**
 * A text to be compared for equality. One with half of a surrogate pair is stored nowhere, and
 * SQLite would be given U+FFFD in its place, which may be; NULL is equal to nothing.
 */
export function textForEquality(text: string): string | null {
  return text.isWellFormed() ? text : null;
}
