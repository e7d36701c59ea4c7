import { emailTaken, RostrumError, unknownAuthor } from '../../domain/errors.ts';
import { checkRecord } from '../../domain/fields/declared-fields.ts';
import { type ListQuery, type Page, scanQuery } from '../../domain/lists/list.ts';
import { searchRow } from '../../domain/lists/search.ts';
import { addMs, type Instant, latestInstant } from '../../domain/records/instant.ts';
import { copyJson } from '../../domain/records/json.ts';
import type { Post } from '../../domain/records/post.ts';
import { type Receipt, repeatedReceipt } from '../../domain/records/receipt.ts';
import {
  type Collection,
  type Id,
  type Version,
  type Versioned,
  VersionedRecord,
  versionToLoad,
} from '../../domain/records/record.ts';
import type { User } from '../../domain/records/user.ts';
import type { PostRepository } from '../../ports/post-repository.ts';
import type { Creation, CreationHints, Decide, Guard, Repository } from '../../ports/repository.ts';
import type { DeletedId, RecordTransfer, ScanRequest } from '../../ports/transfer.ts';
import type { DeleteMode, Deletion, UserRepository } from '../../ports/user-repository.ts';
import type { Connection, SqlValue } from './connection/connection.ts';
import type { DataFile } from './connection/data-file.ts';
import { hasCode } from './connection/errors.ts';
import type { WriteQueue } from './connection/write-queue.ts';
import { checkUnique, type StoredField, storedFields } from './declared-fields.ts';
import type { SqliteEvents } from './events.ts';
import { searchColumns } from './layout.ts';
import type { ListReader } from './lists/list-reader.ts';

export interface StoreParts {
  readonly file: DataFile;
  readonly lists: ListReader;
  readonly writes: WriteQueue;
  readonly events: SqliteEvents;
}

/** How long an expired receipt is kept, for a clock that is set back. */
const receiptGraceMs = 60 * 60 * 1000;

type RecordRow = Pick<Versioned<unknown>, 'version' | 'json'>;

/**
 * Stores users or posts. Every change of a record also adds its event; `SqliteEvents.addPostsOf` adds those of an
 * author's posts.
 */
abstract class SqliteRepository<R extends User | Post> implements Repository<R>, RecordTransfer<R> {
  protected readonly parts: StoreParts;
  protected readonly connection: Connection;
  readonly #collection: Collection;
  readonly #columns: readonly string[];
  readonly #sql: ReturnType<typeof statementsOf>;

  constructor(parts: StoreParts, collection: Collection) {
    this.parts = parts;
    this.connection = parts.file.connection;
    this.#collection = collection;
    this.#columns = searchColumns(collection);
    this.#sql = statementsOf(collection, this.#columns);
  }

  get(id: Id): Promise<Versioned<R> | undefined> {
    return this.parts.file.read(() => this.#find(id));
  }

  list(query: ListQuery): Promise<Page<R>> {
    return this.parts.lists.read<R>(this.#collection, query);
  }

  create(record: R, receipt?: Receipt, hints: CreationHints = {}): Promise<Creation<R>> {
    // Copied now: the caller may reuse its arguments.
    const json = JSON.stringify(record);
    const copy = copyJson(record);
    const receiptCopy = receipt && { ...receipt };
    const { isNewId = false } = hints;
    return this.parts.writes.add(() => {
      const earlier = receiptCopy && this.#findReceipt(receiptCopy);
      if (earlier !== undefined) return Object.assign(earlier, { replayed: true });
      const deleted = isNewId ? undefined : this.#deletedVersion(copy.id);
      const created = new VersionedRecord<R>(json, (deleted ?? 0) + 1);
      this.#insert(copy, created);
      if (receiptCopy) this.#addReceipt(receiptCopy, created);
      return Object.assign(created, { replayed: false });
    });
  }

  lastVersion(id: Id): Promise<Version | undefined> {
    return this.parts.file.read(
      () => this.connection.get<[Version]>(this.#sql.lastVersion, id, id)?.[0],
    );
  }

  update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    return this.parts.writes.add(() => {
      type Row = [version: Version, json: string, ...searchValues: SqlValue[]];
      const row = this.connection.get<Row>(this.#sql.findRow, id);
      if (row === undefined) return undefined;
      const [version, json, ...storedValues] = row;
      const current = new VersionedRecord<R>(json, version);
      const next = decide(current);
      // `decide` may have changed the object that it was given, so the caller gets another one.
      if (next === current.record) return new VersionedRecord<R>(json, version);
      const updated = new VersionedRecord<R>(JSON.stringify(next), version + 1);
      this.#replace(next, updated, version, storedValues);
      return updated;
    });
  }

  async scan(request: ScanRequest): Promise<readonly Versioned<R>[]> {
    return (await this.list(scanQuery(request))).items;
  }

  load(records: readonly Versioned<R>[]): Promise<void> {
    const copies = records.map(({ json, version }) => new VersionedRecord<R>(json, version));
    return this.parts.writes.add(() => {
      for (const { record, json, version } of copies) {
        const stored = this.#version(record.id);
        const deleted = stored ? undefined : this.#deletedVersion(record.id);
        const row = { json, version: versionToLoad(version, stored, deleted) };
        if (stored === undefined) this.#insert(record, row);
        else this.#replace(record, row, stored);
      }
    });
  }

  readonly deleted = {
    scan: (limit: number, after = ''): Promise<readonly DeletedId[]> =>
      this.parts.file.read(() => {
        const rows = this.connection.all<[Id, Version]>(this.#sql.tombstonesAfter, after, limit);
        return rows.map(([id, lastVersion]) => ({ id, lastVersion }));
      }),
    load: (ids: readonly DeletedId[]): Promise<void> => {
      const copies = ids.map((one) => ({ ...one }));
      return this.parts.writes.add(() => {
        for (const { id, lastVersion } of copies) {
          if (this.#version(id) !== undefined) continue;
          this.connection.run(this.#sql.addTombstone, id, lastVersion);
        }
      });
    },
  };

  /**
   * Deletes a record, if `guard` allows it.
   *
   * @param changeDependents called before the record is deleted
   * @returns what `changeDependents` returns; undefined if there is no record with this id
   */
  protected remove<T>(
    id: Id,
    guard: Guard<R> | undefined,
    changeDependents: () => T,
  ): Promise<T | undefined> {
    return this.parts.writes.add(() => {
      const current = this.#find(id);
      if (current === undefined) return undefined;
      guard?.(current);
      const result = changeDependents();
      this.connection.run(this.#sql.remove, id);
      this.parts.events.add('deleted', this.#collection, id, current.version);
      return result;
    });
  }

  #find(id: Id): Versioned<R> | undefined {
    const row = this.connection.get<[Version, string]>(this.#sql.find, id);
    return row && new VersionedRecord<R>(row[1], row[0]);
  }

  #version(id: Id): Version | undefined {
    return this.connection.get<[Version]>(this.#sql.version, id)?.[0];
  }

  #deletedVersion(id: Id): Version | undefined {
    return this.connection.get<[Version]>(this.#sql.tombstone, id)?.[0];
  }

  /**
   * Returns the record that was created under a receipt, as it was created; undefined if its key is free.
   *
   * @throws RostrumError `idempotency-key-reused`
   */
  #findReceipt(receipt: Receipt): Versioned<R> | undefined {
    type Row = [fingerprint: string, until: string, version: Version, json: string];
    const row = this.connection.get<Row>(this.#sql.findReceipt, receipt.key);
    if (row === undefined) return undefined;
    const [fingerprint, until, version, json] = row;
    const isRepeated = repeatedReceipt({ fingerprint, until }, receipt) !== undefined;
    return isRepeated ? new VersionedRecord<R>(json, version) : undefined;
  }

  #addReceipt({ key, fingerprint, from, until }: Receipt, { version, json }: RecordRow): void {
    this.connection.run(this.#sql.addReceipt, key, fingerprint, until, version, json);
    this.connection.run(this.#sql.purgeReceipts, addMs(from, -receiptGraceMs));
  }

  #insert(record: R, { version, json }: RecordRow): void {
    const values = [version, json, ...this.#searchValues(record), record.id];
    const fields = this.#write(record, this.#sql.insert, ...values);
    if (fields.some(({ name, type }) => type === 'text[]' && Array.isArray(record[name]))) {
      this.connection.run(this.#sql.addElements, record.id);
    }
    if (version > 1) this.connection.run(this.#sql.removeTombstone, record.id);
    this.parts.events.add('created', this.#collection, record.id, version);
  }

  /** @param storedValues the stored search values, if they are known */
  #replace(
    record: R,
    { version, json }: RecordRow,
    storedVersion: Version,
    storedValues: readonly SqlValue[] = [],
  ): void {
    // SQLite updates every index on a column that is set, so only those that change are set.
    const sets = ['version = ?', 'json = ?'];
    const values: SqlValue[] = [version, json];
    for (const [i, value] of this.#searchValues(record).entries()) {
      if (value === storedValues[i]) continue;
      sets.push(`${this.#columns[i]} = ?`);
      values.push(value);
    }
    const sql = `UPDATE ${this.#collection} SET ${sets.join(', ')} WHERE id = ?`;
    this.#write(record, sql, ...values, record.id);
    if (version === storedVersion) return;
    this.parts.events.add('updated', this.#collection, record.id, version);
  }

  #searchValues(record: R): SqlValue[] {
    const row = searchRow(this.#collection, record);
    return this.#columns.map((name) => row[name] ?? null);
  }

  /**
   * Runs a statement, unless the record breaks a declaration. Looks up which rule a constraint error means: only
   * SQLite's message would name it.
   *
   * @returns the declared fields of the collection
   */
  #write(record: R, sql: string, ...values: SqlValue[]): readonly StoredField[] {
    const fields = storedFields(this.connection).filter(
      ({ collection }) => collection === this.#collection,
    );
    checkRecord(fields, record);
    try {
      this.connection.run(sql, ...values);
      return fields;
    } catch (error) {
      if (!hasCode(error, 'constraint') || !this.connection.inTransaction) throw error;
      const { id } = record;
      const { emailKey = null, authorId = null } = searchRow(this.#collection, record);
      const has = (query: string, ...params: SqlValue[]) =>
        this.connection.get(query, ...params) !== undefined;
      const isTaken = sql === this.#sql.insert && has(this.#sql.version, id);
      if (isTaken) throw new RostrumError('id-taken', { id });
      if (has(this.#sql.withEmail, emailKey, id)) throw emailTaken();
      checkUnique(this.connection, fields, record);
      if (authorId !== null && !has(this.#sql.author, authorId)) throw unknownAuthor();
      throw error;
    }
  }
}

/** The function `nextInstant` in SQL. `strftime` runs only if the clock stood still or was set back. */
const nextInstantSql = `iif(updatedAt < ?, ?, coalesce(
  strftime('%Y-%m-%dT%H:%M:%fZ', updatedAt, '+0.001 seconds'), '${latestInstant}'))`;

/**
 * The function `withoutAuthor` in SQL. `json_set` copies the text of the other members unchanged.
 *
 * `?` and not `?1`: Node 22 does not bind numbered parameters by position.
 */
const removeAuthor = `UPDATE posts SET
  authorId = NULL, version = version + 1, updatedAt = ${nextInstantSql},
  json = json_set(json, '$.authorId', NULL, '$.updatedAt', ${nextInstantSql})
  WHERE authorId = ?`;

export class SqliteUserRepository extends SqliteRepository<User> implements UserRepository {
  delete(
    id: Id,
    mode: DeleteMode,
    at: Instant,
    guard?: Guard<User>,
  ): Promise<Deletion | undefined> {
    return this.remove(id, guard, () => {
      if (mode === 'refuse') {
        const sql = 'SELECT count(*) FROM posts WHERE authorId = ?';
        const [posts] = this.connection.get<[number]>(sql, id) ?? [0];
        if (posts > 0) throw new RostrumError('user-has-posts', { posts });
        return { posts };
      }
      this.parts.events.addPostsOf(id, mode === 'delete' ? 'deleted' : 'updated');
      const [sql, values] =
        mode === 'delete'
          ? ['DELETE FROM posts WHERE authorId = ?', []]
          : [removeAuthor, [at, at, at, at]];
      return { posts: this.connection.run(sql, ...values, id) };
    });
  }
}

export class SqlitePostRepository extends SqliteRepository<Post> implements PostRepository {
  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    return (await this.remove(id, guard, () => true)) ?? false;
  }
}

function statementsOf(collection: Collection, columns: readonly string[]) {
  const names = ['version', 'json', ...columns, 'id'].join(', ');
  const ofId = `collection = '${collection}' AND id`;
  return {
    author: 'SELECT 1 FROM users WHERE id = ?',
    withEmail: 'SELECT 1 FROM users WHERE emailKey = ? AND id <> ?',
    version: `SELECT version FROM ${collection} WHERE id = ?`,
    find: `SELECT version, json FROM ${collection} WHERE id = ?`,
    findRow: `SELECT version, json, ${columns.join(', ')} FROM ${collection} WHERE id = ?`,
    insert: `INSERT INTO ${collection} (${names}) VALUES (${names.replace(/\w+/g, '?')})`,
    addElements: `INSERT OR IGNORE INTO elements
      SELECT field.collection, field.name, element.value, record.createdAt, record.id
      FROM ${collection} AS record, fields AS field, json_each(record.json -> field.name) AS element
      WHERE record.id = ? AND field.collection = '${collection}' AND field.type = 'text[]'
        AND field.pending = 0`,
    remove: `DELETE FROM ${collection} WHERE id = ?`,
    // One statement: another process can create a deleted record again in between.
    lastVersion: `SELECT version FROM ${collection} WHERE id = ?
      UNION ALL SELECT lastVersion FROM tombstones WHERE ${ofId} = ?`,
    tombstone: `SELECT lastVersion FROM tombstones WHERE ${ofId} = ?`,
    tombstonesAfter: `SELECT id, lastVersion FROM tombstones WHERE ${ofId} > ? ORDER BY id LIMIT ?`,
    removeTombstone: `DELETE FROM tombstones WHERE ${ofId} = ?`,
    findReceipt: `SELECT fingerprint, until, version, json FROM receipts
      WHERE collection = '${collection}' AND key = ?`,
    addReceipt: `INSERT OR REPLACE INTO receipts VALUES ('${collection}', ?, ?, ?, ?, ?)`,
    // Each new receipt removes up to four expired ones, so that they don't pile up.
    purgeReceipts: `DELETE FROM receipts WHERE rowid IN
      (SELECT rowid FROM receipts WHERE until <= ? ORDER BY until LIMIT 4)`,
    addTombstone: `INSERT INTO tombstones VALUES ('${collection}', ?, ?)
      ON CONFLICT DO UPDATE SET lastVersion = max(lastVersion, excluded.lastVersion)`,
  };
}
