import { emailTaken, RostrumError, unknownAuthor } from '../../domain/errors.ts';
import type { Post } from '../../domain/post.ts';
import {
  type Collection,
  type Id,
  type Version,
  type Versioned,
  VersionedRecord,
} from '../../domain/record.ts';
import { type SearchRow, searchRow } from '../../domain/search.ts';
import type { User } from '../../domain/user.ts';
import type { Decide } from '../../ports/repository.ts';
import type { DeletedId } from '../../ports/transfer.ts';
import type { Connection, SqlValue } from './connection/connection.ts';
import { hasCode } from './connection/errors.ts';
import type { SqliteEvents } from './events.ts';
import { searchColumns } from './layout.ts';

/** The rows of one collection. Every change of a row writes its event too. */
export class Records<R extends User | Post> {
  readonly collection: Collection;
  readonly #connection: Connection;
  readonly #events: SqliteEvents;
  readonly #columns: readonly string[];
  readonly #sql: ReturnType<typeof statementsOf>;

  constructor(connection: Connection, collection: Collection, events: SqliteEvents) {
    this.collection = collection;
    this.#connection = connection;
    this.#events = events;
    this.#columns = searchColumns(collection);
    this.#sql = statementsOf(collection, this.#columns);
  }

  find(id: Id): Versioned<R> | undefined {
    const row = this.#connection.get<[Version, string]>(this.#sql.find, id);
    return row && new VersionedRecord<R>(row[1], row[0]);
  }

  /** Returns the version of a record, or the last version of a deleted one. */
  lastVersion(id: Id): Version | undefined {
    return this.#versionOf(id) ?? this.#deletedVersionOf(id);
  }

  /** Stores a new record, and returns its version. */
  insert(record: R, json: string): Version {
    const deleted = this.#deletedVersionOf(record.id);
    const version = (deleted ?? 0) + 1;
    this.#write(this.#sql.insert, record, version, json, ...this.#searchValues(record), record.id);
    this.#forgetDeleted(record.id, deleted);
    this.#events.add('created', this.collection, record.id, version);
    return version;
  }

  /** Stores a record as it is, in the place of the one with its id, and gives no version twice. */
  put({ record, json, version }: Versioned<R>): void {
    const { id } = record;
    const present = this.#versionOf(id);
    const deleted = present === undefined ? this.#deletedVersionOf(id) : undefined;
    const last = present ?? deleted ?? 0;
    const next = version > last || version === present ? version : last + 1;
    const sql = present === undefined ? this.#sql.insert : this.#sql.update;
    this.#write(sql, record, next, json, ...this.#searchValues(record), id);
    this.#forgetDeleted(id, deleted);
    if (next === present) return;
    this.#events.add(present === undefined ? 'created' : 'updated', this.collection, id, next);
  }

  /** Replaces a record by what `decide` makes of it. */
  replace(id: Id, decide: Decide<R>): Versioned<R> | undefined {
    type Row = [version: Version, json: string, ...searchValues: SqlValue[]];
    const row = this.#connection.get<Row>(this.#sql.findRow, id);
    if (row === undefined) return undefined;
    const [version, json, ...before] = row;
    const current = new VersionedRecord<R>(json, version);
    const next = decide(current);
    // `decide` may have changed the object that it was given, so the caller gets another one.
    if (next === current.record) return new VersionedRecord<R>(json, version);
    const made = new VersionedRecord<R>(JSON.stringify(next), version + 1);
    // SQLite updates every index on a column that is set, so only those that change are set.
    const sets = ['version', 'json'];
    const values: SqlValue[] = [made.version, made.json];
    for (const [i, value] of this.#searchValues(next).entries()) {
      if (value === before[i]) continue;
      sets.push(String(this.#columns[i]));
      values.push(value);
    }
    const set = sets.map((name) => `${name} = ?`).join(', ');
    this.#write(`UPDATE ${this.collection} SET ${set} WHERE id = ?`, next, ...values, id);
    this.#events.add('updated', this.collection, id, made.version);
    return made;
  }

  remove(id: Id, version: Version): void {
    this.#connection.run(this.#sql.remove, id);
    this.#events.add('deleted', this.collection, id, version);
  }

  deletedBehind(id: Id, limit: number): DeletedId[] {
    const rows = this.#connection.all<[Id, Version]>(this.#sql.deletedBehind, id, limit);
    return rows.map(([deleted, lastVersion]) => ({ id: deleted, lastVersion }));
  }

  /** Remembers the id of a record that was deleted elsewhere. */
  putDeleted({ id, lastVersion }: DeletedId): void {
    if (this.#versionOf(id) === undefined)
      this.#connection.run(this.#sql.putDeleted, id, lastVersion);
  }

  #versionOf(id: Id): Version | undefined {
    return this.#connection.get<[Version]>(this.#sql.version, id)?.[0];
  }

  #deletedVersionOf(id: Id): Version | undefined {
    return this.#connection.get<[Version]>(this.#sql.deletedVersion, id)?.[0];
  }

  #forgetDeleted(id: Id, deleted: Version | undefined): void {
    if (deleted !== undefined) this.#connection.run(this.#sql.forgetDeleted, id);
  }

  #searchValues(record: R): SqlValue[] {
    const row = searchRow(this.collection, record);
    return this.#columns.map((name) => row[name] ?? null);
  }

  /** Which constraint failed stands in SQLite's message alone, so that is looked up. */
  #write(sql: string, record: R, ...values: SqlValue[]): void {
    try {
      this.#connection.run(sql, ...values);
    } catch (error) {
      if (!hasCode(error, 'constraint')) throw error;
      const { id } = record;
      if (sql === this.#sql.insert && this.#versionOf(id) !== undefined) {
        throw new RostrumError('id-taken', { id });
      }
      const row = searchRow(this.collection, record);
      if (this.#isEmailTaken(row)) throw emailTaken();
      if (this.#isAuthorUnknown(row)) throw unknownAuthor();
      throw error;
    }
  }

  #isEmailTaken({ id = null, emailKey = null }: SearchRow): boolean {
    const sql = 'SELECT 1 FROM users WHERE emailKey = ? AND id <> ?';
    return this.collection === 'users' && this.#connection.get(sql, emailKey, id) !== undefined;
  }

  #isAuthorUnknown({ authorId = null }: SearchRow): boolean {
    const sql = 'SELECT 1 FROM users WHERE id = ?';
    return authorId !== null && this.#connection.get(sql, authorId) === undefined;
  }
}

function statementsOf(collection: Collection, columns: readonly string[]) {
  const all = ['version', 'json', ...columns];
  const names = all.join(', ');
  const marks = all.map(() => '?').join(', ');
  const ofDeleted = `collection = '${collection}' AND id`;
  return {
    version: `SELECT version FROM ${collection} WHERE id = ?`,
    find: `SELECT version, json FROM ${collection} WHERE id = ?`,
    findRow: `SELECT ${names} FROM ${collection} WHERE id = ?`,
    insert: `INSERT INTO ${collection} (${names}, id) VALUES (${marks}, ?)`,
    update: `UPDATE ${collection} SET (${names}) = (${marks}) WHERE id = ?`,
    remove: `DELETE FROM ${collection} WHERE id = ?`,
    deletedVersion: `SELECT lastVersion FROM deleted WHERE ${ofDeleted} = ?`,
    deletedBehind: `SELECT id, lastVersion FROM deleted WHERE ${ofDeleted} > ? ORDER BY id LIMIT ?`,
    forgetDeleted: `DELETE FROM deleted WHERE ${ofDeleted} = ?`,
    putDeleted: `INSERT INTO deleted VALUES ('${collection}', ?, ?)
      ON CONFLICT DO UPDATE SET lastVersion = max(lastVersion, excluded.lastVersion)`,
  };
}
