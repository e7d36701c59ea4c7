import { DatabaseSync } from 'node:sqlite';
import type { Receipt } from '../../../../src/domain/receipt.ts';
import { textKey } from '../../../../src/domain/text.ts';
import type { User } from '../../../../src/domain/user.ts';
import type { Post4 } from './version-4.ts';

/** The schema of the files that Rostrum 0.1 wrote. */
const schema = `
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

  CREATE TABLE claims (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    until INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT;
  CREATE INDEX claims_until ON claims (until);
  PRAGMA application_id = 0x5273746d;
  PRAGMA user_version = 1;
`;

interface Version1<R> {
  readonly record: R;
  readonly version: number;
}

interface Content {
  readonly users: readonly Version1<User>[];
  readonly posts: readonly Version1<Post4>[];
  readonly receipts: readonly { table: string; receipt: Receipt; record: object }[];
}

/** Writes a data file as Rostrum 0.1 did. */
export function createVersion1(path: string, { users, posts, receipts }: Content): void {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; ${schema} BEGIN`);
  const insertUser = database.prepare(
    'INSERT INTO users (id, version, created_at, updated_at, own, name, email, email_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  for (const { record, version } of users) {
    const { id, createdAt, updatedAt, name, email, ...own } = record;
    const key = email === null ? null : textKey(email);
    const times = [Date.parse(createdAt), Date.parse(updatedAt)] as const;
    insertUser.run(id, version, ...times, JSON.stringify(own), name, email, key);
  }
  const insertPost = database.prepare(
    'INSERT INTO posts (id, version, created_at, updated_at, own, author_id, title, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  for (const { record, version } of posts) {
    const { id, createdAt, updatedAt, authorId, title, body, ...own } = record;
    const times = [Date.parse(createdAt), Date.parse(updatedAt)] as const;
    insertPost.run(id, version, ...times, JSON.stringify(own), authorId, title, body);
  }
  const insertReceipt = database.prepare('INSERT INTO claims VALUES (?, ?, ?, ?, ?)');
  for (const { table, receipt, record } of receipts) {
    const { key, fingerprint, until } = receipt;
    insertReceipt.run(table, key, fingerprint, Date.parse(until), JSON.stringify(record));
  }
  database.exec('COMMIT');
  database.close();
}
