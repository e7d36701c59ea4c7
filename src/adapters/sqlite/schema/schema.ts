import { type Connection, pragma } from '../connection/connection.ts';
import { SqliteStoreError } from '../connection/errors.ts';

/** The version of the schema below, which a file says in its `user_version`. */
export const schemaVersion = 6;

/** Tells our files from those of other programs: "Rstm" in ASCII. */
export const applicationId = 0x5273746d;

/**
 * - `record` is the whole record as compact JSON; it is what a read returns. The columns beside it
 *   are there for an index, a constraint or a filter.
 * - `record_version` was `version` up to version 4. Servers of that version would show drafts; all that
 *   they read has this column in it, and so they read nothing more.
 * - Short columns come first, so that a filter that looks at a row does not read past a long text.
 * - Names and titles are sorted by their key, and found by it. They are here as they are as well, for
 *   those that have one key, and for lists that want no more.
 * - A missing email and a missing `publishedAt` sort first: `''` is before every other text, and never
 *   one itself. It is a column and not an expression, because SQLite does not enter an index on an
 *   expression by a row value.
 */
export const recordTables = `
  CREATE TABLE users (
    id TEXT PRIMARY KEY NOT NULL,
    record_version INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    email_key TEXT,
    email_sort TEXT GENERATED ALWAYS AS (coalesce(email_key, '')) VIRTUAL,
    name_key TEXT NOT NULL,
    name TEXT NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE posts (
    id TEXT PRIMARY KEY NOT NULL,
    record_version INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    published_at TEXT NOT NULL,
    author_id TEXT REFERENCES users (id),
    title_key TEXT NOT NULL,
    title TEXT NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
`;

/**
 * - Every order has an index on its key and the id.
 * - An author may have very many posts, so a filter on the author has an index for the order in which
 *   they were made, and for that in which they were published.
 * - What a list needs beside that stands behind the id: `updated_at` for a span of it, and what most
 *   are sorted by that have another order. So it is looked for, or sorted, in the index alone.
 * - Every index in random order costs an insert a page, as much as all else of it: so a filter on a
 *   name or a title, and an author's posts by title or `updated_at`, are sorted and have no more
 *   indexes.
 */
export const recordIndexes = `
  CREATE UNIQUE INDEX users_email_key ON users (email_key);
  CREATE INDEX users_created ON users (created_at, id, updated_at);
  CREATE INDEX users_updated ON users (updated_at, id);
  CREATE INDEX users_name ON users (name_key, id, created_at);
  CREATE INDEX users_email ON users (email_sort, id);
  CREATE INDEX posts_created ON posts (created_at, id, updated_at);
  CREATE INDEX posts_updated ON posts (updated_at, id);
  CREATE INDEX posts_published ON posts (published_at, id, created_at);
  CREATE INDEX posts_title ON posts (title_key, id, created_at);
  CREATE INDEX posts_author_created
    ON posts (author_id, created_at, id, updated_at, title_key);
  CREATE INDEX posts_author_published ON posts (author_id, published_at, id);
`;

/** The idempotency keys of both tables, named by `kind`, with the record as it was first made. */
export const receiptTable = `
  CREATE TABLE claims (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    until INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT;
  CREATE INDEX claims_until ON claims (until);
`;

/** The ids of deleted records, which no other record may have, by the name of their table. */
export const deletedTable = `
  CREATE TABLE IF NOT EXISTS deleted (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;
`;

/**
 * Every change, in the order of the commits. The first row is none: the log is never empty, so no number
 * is given twice. There is no index but the table, and what adds a row is a statement beside that of the
 * record: a table with a trigger for its inserts takes more than twice as long for each.
 */
export const eventTable = `
  CREATE TABLE events (
    sequence INTEGER PRIMARY KEY,
    mark INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    version INTEGER,
    id TEXT NOT NULL
  ) STRICT;
  INSERT INTO events (mark, kind, id) VALUES (random(), -1, '');
`;

/** However a row is deleted, its id gets into the table of the deleted ones. */
export const recordTriggers = ['users', 'posts'].reduce(
  (sql, table) => `${sql}
  CREATE TRIGGER ${table}_deleted AFTER DELETE ON ${table}
    BEGIN INSERT OR IGNORE INTO deleted VALUES ('${table}', old.id); END;`,
  '',
);

/**
 * Refuses a file that is not ours or newer than we are. Only looks, so that such a file is not
 * changed in any way.
 *
 * @returns the version of its schema; 0 for a file with nothing in it yet
 */
export function checkSchema(connection: Connection, file: string): number {
  const version = Number(pragma(connection, 'user_version'));
  const owner = pragma(connection, 'application_id');
  const isEmpty = connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined;
  if (owner !== applicationId && !(owner === 0 && version === 0 && isEmpty)) {
    throw new SqliteStoreError(
      'store-foreign-database',
      `The file ${file} is a database of another program: choose another path.`,
    );
  }
  checkVersion(connection, file);
  return version;
}

/** Refuses a file that a newer version of the program has migrated, as it may do at any time. */
export function checkVersion(connection: Connection, file: string): void {
  const version = Number(pragma(connection, 'user_version'));
  if (version <= schemaVersion) return;
  throw new SqliteStoreError(
    'store-newer-schema',
    `The data file ${file} was written by a newer version of Rostrum (schema ${version}, this one knows ${schemaVersion}): use that version.`,
  );
}
