import { searchFields, searchRow } from '../../domain/lists/search.ts';
import type { Post } from '../../domain/records/post.ts';
import type { Collection } from '../../domain/records/record.ts';
import type { User } from '../../domain/records/user.ts';
import { type Connection, pragma } from './connection/connection.ts';
import { SqliteStoreError } from './connection/errors.ts';

/** The first layout that this version can read. */
const firstLayout = 2;

/** Changes the tables of one layout into those of the next. */
export type Migration = (connection: Connection) => void;

/**
 * The steps from {@link firstLayout} to the tables below. Opening a file of an earlier layout runs them in one
 * transaction, and other processes wait for it: keep them short.
 */
const migrations: readonly Migration[] = [
  // The first step will lead from layout 2 to layout 3.
];

/** The layout of the tables below, stored in the `user_version` of a file. */
export const newestLayout = firstLayout + migrations.length;

/** Marks our files (https://www.sqlite.org/pragma.html#pragma_application_id): "Rost" in ASCII. */
const applicationId = 0x526f7374;

/** Returns the columns of a collection's search row, without `id`. */
export function searchColumns(collection: Collection): readonly string[] {
  return Object.keys(searchFields[collection]);
}

/**
 * The columns of the indexes of lists. An index serves lists in order: by the column before `id`, with one value for
 * any column before that. The columns after `id` make it covering for other filters and orders.
 *
 * Each index with randomly ordered keys costs an insert one more page write, which doubles its cost. So the posts
 * of an author are sorted when they are listed by title or by `updatedAt`.
 */
export const listIndexes: Readonly<Record<Collection, readonly string[]>> = {
  users: ['createdAt, id, updatedAt', 'updatedAt, id', 'nameKey, id, createdAt', 'emailKey, id'],
  posts: [
    'createdAt, id, updatedAt',
    'updatedAt, id',
    'publishedAt, id, createdAt',
    'titleKey, id, createdAt',
    'authorId, createdAt, id, updatedAt, titleKey',
    'authorId, publishedAt, id',
  ],
};

/** Returns statements that create the list indexes. Each is named after its columns before `id`: `posts_authorId_createdAt`. */
function createListIndexes(collection: Collection): string {
  const statements = listIndexes[collection].map((columns) => {
    const name = columns.replace(/, id.*/, '').replace(', ', '_');
    return `CREATE INDEX IF NOT EXISTS ${collection}_${name} ON ${collection} (${columns});`;
  });
  return statements.join('');
}

/** The JSON comes last, so that a filter on a column does not read past a long text. */
const recordTable = (collection: Collection) => `
  CREATE TABLE ${collection} (
    id TEXT PRIMARY KEY NOT NULL,
    version INTEGER NOT NULL,
    ${searchColumns(collection)
      .map((name) => `${name} TEXT${name === 'authorId' ? ' REFERENCES users (id)' : ''},`)
      .join('\n    ')}
    json TEXT NOT NULL
  ) STRICT;
  CREATE TRIGGER ${collection}Deleted AFTER DELETE ON ${collection}
    BEGIN INSERT OR REPLACE INTO tombstones VALUES ('${collection}', old.id, old.version); END;`;

/**
 * - `lastCommit`: one row, see `last-commit.ts`.
 * - `fields`: the declared fields. `pending` is 0 once the indexes or elements of a field are complete. Before that, it
 *   is a random number, which tells this declaration from a later one of the same field.
 * - `elements`: the texts in declared arrays, in the order of the default list.
 * - `tombstones`: the last versions of the deleted records that do not exist now. Deletions add theirs by a trigger.
 * - `events`: written by the store and not by triggers, which more than double the time of an insert. Its first row
 *   is not an event, and its last row is never removed: SQLite numbers a row one after the last, so while the
 *   last row stays, no number is reused.
 * - `meta`: facts about the store. The row `filling` marks one that is being filled, and `probe` tests the disk.
 */
const otherTables = `
  CREATE TABLE lastCommit (sequence INTEGER NOT NULL, mark INTEGER NOT NULL, inFile INTEGER NOT NULL) STRICT;
  CREATE TABLE fields (
    collection TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    isUnique INTEGER NOT NULL,
    pending INTEGER NOT NULL,
    PRIMARY KEY (collection, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE elements (
    collection TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    createdAt TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (collection, field, value, createdAt, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE receipts (
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    until TEXT NOT NULL,
    version INTEGER NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (collection, key)
  ) STRICT;
  CREATE INDEX receiptsUntil ON receipts (until);
  CREATE TABLE tombstones (
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    lastVersion INTEGER NOT NULL,
    PRIMARY KEY (collection, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY,
    mark INTEGER NOT NULL,
    type TEXT NOT NULL,
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL
  ) STRICT;
  INSERT INTO events VALUES (0, random(), '', '', '', 0);
  INSERT INTO lastCommit SELECT sequence, mark, 0 FROM events;
  CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT, WITHOUT ROWID;`;

/**
 * Creates the tables of an empty file, or migrates those of an earlier layout, in the open transaction.
 *
 * @param steps replaces the migrations in tests
 */
export function prepareLayout(connection: Connection, file: string, steps = migrations): void {
  const newest = firstLayout + steps.length;
  const layout = checkLayout(connection, file, newest);
  if (layout === undefined) {
    connection.exec(otherTables + recordTable('users') + recordTable('posts'));
  } else for (const migrate of steps.slice(layout - firstLayout)) migrate(connection);
  // After all steps, because an index can have the columns of several.
  connection.exec(`${createListIndexes('users')} ${createListIndexes('posts')}
    CREATE UNIQUE INDEX IF NOT EXISTS users_unique_emailKey ON users (emailKey)`);
  connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${newest}`);
}

/**
 * Adds a new search field to the records: a migration for a new filter. SQLite adds the column after the JSON, so to
 * read it from a row means to read past the record's text.
 */
export function addSearchField(
  connection: Connection,
  collection: Collection,
  field: string,
): void {
  connection.exec(`ALTER TABLE ${collection} ADD COLUMN ${field} TEXT`);
  const update = `UPDATE ${collection} SET ${field} = ? WHERE rowid = ?`;
  for (const [rowid, json] of storedRecords(connection, collection)) {
    const row = searchRow(collection, JSON.parse(json) as User | Post);
    connection.run(update, row[field] ?? null, rowid);
  }
}

/** Reads all records of a collection, some at a time. */
export function* storedRecords(
  connection: Connection,
  collection: Collection,
): Generator<readonly [rowid: number, json: string]> {
  const sql = `SELECT rowid, json FROM ${collection} WHERE rowid > ? ORDER BY rowid LIMIT 8`;
  let rows = connection.all<[number, string]>(sql, 0);
  while (rows.length > 0) {
    yield* rows;
    rows = connection.all(sql, rows.at(-1)?.[0] ?? 0);
  }
}

/**
 * Throws for a file of another program, or of a layout that this version cannot read. Changes nothing.
 *
 * @returns the layout; undefined for a file that is still empty
 */
export function checkLayout(
  connection: Connection,
  file: string,
  newest = newestLayout,
): number | undefined {
  // In this order, because another process can create the tables in between.
  const isEmpty = connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined;
  const program = pragma(connection, 'application_id');
  if (program === 0 && isEmpty) return undefined;
  if (program !== applicationId) {
    const message = `The file ${file} is a database of another program: choose another path.`;
    throw new SqliteStoreError('store-foreign-database', message);
  }
  const layout = checkNotNewer(connection, file, newest);
  if (layout >= firstLayout) return layout;
  const message = `The data file ${file} was made by an earlier version of Rostrum, in a layout that this one cannot read. Export it with that version, then import it with this one: rostrum import --keep-ids, with a --field for each declared field.`;
  throw new SqliteStoreError('store-former-layout', message);
}

/** Throws if a newer version of Rostrum has changed the layout of the file, also while this one has it open. */
export function checkNotNewer(connection: Connection, file: string, newest = newestLayout): number {
  const layout = Number(pragma(connection, 'user_version'));
  if (layout <= newest) return layout;
  const message = `The data file ${file} was written by a newer version of Rostrum (layout ${layout}, this one knows ${newest}): use that version.`;
  throw new SqliteStoreError('store-newer-layout', message);
}
