import { searchFields } from '../../domain/lists/search.ts';
import type { Collection } from '../../domain/records/record.ts';
import { type Connection, pragma } from './connection/connection.ts';
import { SqliteStoreError } from './connection/errors.ts';

/** The version of the tables below, stored in the `user_version` of a file. */
const layoutVersion = 1;

/** Marks our files (https://www.sqlite.org/pragma.html#pragma_application_id): "Rost" in ASCII. */
const applicationId = 0x526f7374;

/** Marks files of versions before the first release: "Rstm" in ASCII. */
const preReleaseId = 0x5273746d;

/** Returns the columns of a collection's search row, without `id`. */
export function searchColumns(collection: Collection): readonly string[] {
  return Object.keys(searchFields[collection]);
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
    BEGIN INSERT OR REPLACE INTO deleted VALUES ('${collection}', old.id, old.version); END;`;

/**
 * Every order of a list has an index on its field and the id. The columns after the id make the index covering
 * for the other filters and orders.
 *
 * Each index with randomly ordered keys costs an insert one more page write, which doubles its cost. So the posts
 * of an author are sorted when they are listed by title or by `updatedAt`.
 */
const indexes = `
  CREATE UNIQUE INDEX usersEmail ON users (emailKey);
  CREATE INDEX usersByEmail ON users (emailKey, id);
  CREATE INDEX usersByCreation ON users (createdAt, id, updatedAt);
  CREATE INDEX usersByUpdate ON users (updatedAt, id);
  CREATE INDEX usersByName ON users (nameKey, id, createdAt);
  CREATE INDEX postsByCreation ON posts (createdAt, id, updatedAt);
  CREATE INDEX postsByUpdate ON posts (updatedAt, id);
  CREATE INDEX postsByPublication ON posts (publishedAt, id, createdAt);
  CREATE INDEX postsByTitle ON posts (titleKey, id, createdAt);
  CREATE INDEX postsByAuthor ON posts (authorId, createdAt, id, updatedAt, titleKey);
  CREATE INDEX postsByAuthorAndPublication ON posts (authorId, publishedAt, id);`;

/**
 * - `deleted`: the last versions of the deleted records that do not exist now. Deletions add theirs by a trigger.
 * - `events`: written by the store and not by triggers, which more than double the time of an insert. Its first row
 *   is not an event, and its last row is never removed: SQLite numbers a row one after the last, so while the
 *   last row stays, no number is reused.
 * - `meta`: facts about the store. The row `filling` marks one that is being filled, and `probe` tests the disk.
 */
const otherTables = `
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
  CREATE TABLE deleted (
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
  CREATE TABLE meta (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT, WITHOUT ROWID;`;

/** Creates the tables of an empty file, in the open transaction. */
export function createLayout(connection: Connection): void {
  connection.exec(otherTables + recordTable('users') + recordTable('posts') + indexes);
  connection.exec(
    `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${layoutVersion}`,
  );
}

/**
 * Throws for a file of another program, a pre-release or a newer version. Changes nothing.
 *
 * @returns false for a file that is still empty
 */
export function checkLayout(connection: Connection, file: string): boolean {
  const mark = pragma(connection, 'application_id');
  if (mark === preReleaseId) {
    const message = `The data file ${file} was made by a pre-release. Export it with the version that made it, then run import --keep-ids.`;
    throw new SqliteStoreError('store-pre-release', message);
  }
  const isEmpty = connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined;
  if (mark !== applicationId && !(mark === 0 && isEmpty)) {
    const message = `The file ${file} is a database of another program: choose another path.`;
    throw new SqliteStoreError('store-foreign-database', message);
  }
  checkVersion(connection, file);
  return mark === applicationId;
}

/** Throws if a newer version of Rostrum has changed the layout of the file, also while this one has it open. */
export function checkVersion(connection: Connection, file: string): void {
  const version = Number(pragma(connection, 'user_version'));
  if (version <= layoutVersion) return;
  const message = `The data file ${file} was written by a newer version of Rostrum (layout ${version}, this one knows ${layoutVersion}): use that version.`;
  throw new SqliteStoreError('store-newer-layout', message);
}
