/**
 * How the tables came to be: the schema at version n is what the first n of these made. One that
 * was released is never changed; a change of the schema is one more.
 *
 * - Instants are milliseconds since 1970. `own` is a JSON object of a record's own fields.
 * - Short columns come first, so that a filter that looks at a row does not read past a long text.
 * - Every sort has an index on its key and the id. Every filter on one value has one that goes on
 *   with `created_at` and the id, the order of a list that does not name another.
 * - `users_created` and `posts_created` carry `updated_at`, so that a span of it is looked for in
 *   the index alone when the order is by `created_at`.
 * - A missing email sorts first: `''` is before every key, and never one itself. It is a column and
 *   not an expression, because SQLite does not enter an index on an expression by a row value.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE users (
    id TEXT PRIMARY KEY NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    name TEXT NOT NULL,
    email TEXT,
    email_key TEXT,
    email_sort TEXT GENERATED ALWAYS AS (coalesce(email_key, '')) VIRTUAL,
    own TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX users_email_key ON users (email_key);
  CREATE INDEX users_created ON users (created_at, id, updated_at);
  CREATE INDEX users_updated ON users (updated_at, id);
  CREATE INDEX users_name ON users (name, id);
  CREATE INDEX users_name_created ON users (name, created_at, id);
  CREATE INDEX users_email ON users (email_sort, id);

  CREATE TABLE posts (
    id TEXT PRIMARY KEY NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    author_id TEXT REFERENCES users (id),
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    own TEXT NOT NULL
  ) STRICT;
  CREATE INDEX posts_created ON posts (created_at, id, updated_at);
  CREATE INDEX posts_updated ON posts (updated_at, id);
  CREATE INDEX posts_title ON posts (title, id);
  CREATE INDEX posts_title_created ON posts (title, created_at, id);
  CREATE INDEX posts_author_created ON posts (author_id, created_at, id);

  -- The idempotency keys, with the record as it was first made.
  CREATE TABLE claims (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    until INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT;
  CREATE INDEX claims_until ON claims (until);
  `,
];
