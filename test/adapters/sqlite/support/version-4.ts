import { DatabaseSync } from 'node:sqlite';
import type { Receipt } from '../../../../src/domain/receipt.ts';
import { textKey } from '../../../../src/domain/text.ts';
import type { User } from '../../../../src/domain/user.ts';

/** The schema of the files of version 4, the last one without `publishedAt`. */
const schema = `
  CREATE TABLE users (
    id TEXT PRIMARY KEY NOT NULL,
    version INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    name TEXT NOT NULL,
    email_key TEXT,
    email_sort TEXT GENERATED ALWAYS AS (coalesce(email_key, '')) VIRTUAL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE posts (
    id TEXT PRIMARY KEY NOT NULL,
    version INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    author_id TEXT REFERENCES users (id),
    title TEXT NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE TABLE claims (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    until INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT;
  CREATE INDEX claims_until ON claims (until);
  CREATE TABLE deleted (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TRIGGER users_deleted AFTER DELETE ON users
    BEGIN INSERT OR IGNORE INTO deleted VALUES ('users', old.id); END;
  CREATE TRIGGER posts_deleted AFTER DELETE ON posts
    BEGIN INSERT OR IGNORE INTO deleted VALUES ('posts', old.id); END;
  CREATE UNIQUE INDEX users_email_key ON users (email_key);
  CREATE INDEX users_created ON users (created_at, id, updated_at);
  CREATE INDEX users_updated ON users (updated_at, id);
  CREATE INDEX users_name ON users (name, id, created_at);
  CREATE INDEX users_email ON users (email_sort, id);
  CREATE INDEX posts_created ON posts (created_at, id, updated_at);
  CREATE INDEX posts_updated ON posts (updated_at, id);
  CREATE INDEX posts_title ON posts (title, id, created_at);
  CREATE INDEX posts_author_created
    ON posts (author_id, created_at, id, updated_at, title);
  CREATE INDEX posts_author_updated ON posts (author_id, updated_at, id);
  CREATE INDEX "posts_own_text_tag" ON posts
    (CASE WHEN json_type(record, '$."tag"') IN ('text') THEN record ->> '$."tag"' END, created_at, id)
    WHERE CASE WHEN json_type(record, '$."tag"') IN ('text') THEN record ->> '$."tag"' END IS NOT NULL;
  PRAGMA application_id = 0x5273746d;
  PRAGMA user_version = 4;
`;

/** A post as it was before it had `publishedAt`; a custom field may have that name. */
export interface Post4 {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly title: string;
  readonly body: string;
  readonly authorId: string | null;
  readonly publishedAt?: unknown;
}

export function postBefore(id: string, fields: object = {}): Post4 {
  const at = '2026-05-05T05:05:05.000Z';
  return { id, createdAt: at, updatedAt: at, title: 'T', body: '', authorId: null, ...fields };
}

interface Version4<R> {
  readonly record: R;
  readonly version: number;
}

interface Content {
  readonly users?: readonly Version4<User>[];
  readonly posts?: readonly Version4<Post4>[];
  readonly receipts?: readonly { table: string; receipt: Receipt; record: object }[];
  /** Ids of posts. */
  readonly deleted?: readonly string[];
}

const insertUser4 = `INSERT INTO users
  (version, record, created_at, updated_at, name, email_key, id) VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** How servers of version 4 insert a post. */
export const insertPost4 = `INSERT INTO posts
  (version, record, created_at, updated_at, author_id, title, id) VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** Writes a data file as the program did before posts had `publishedAt`. */
export function createVersion4(path: string, content: Content): void {
  const { users = [], posts = [], receipts = [], deleted = [] } = content;
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; ${schema} BEGIN`);
  const insertUser = database.prepare(insertUser4);
  for (const { record, version } of users) {
    const { id, createdAt, updatedAt, name, email } = record;
    const key = email === null ? null : textKey(email);
    insertUser.run(version, JSON.stringify(record), createdAt, updatedAt, name, key, id);
  }
  const insertPost = database.prepare(insertPost4);
  for (const { record, version } of posts) {
    const { id, createdAt, updatedAt, authorId, title } = record;
    insertPost.run(version, JSON.stringify(record), createdAt, updatedAt, authorId, title, id);
  }
  const insertReceipt = database.prepare('INSERT INTO claims VALUES (?, ?, ?, ?, ?)');
  for (const { table, receipt, record } of receipts) {
    const { key, fingerprint, until } = receipt;
    insertReceipt.run(table, key, fingerprint, Date.parse(until), JSON.stringify(record));
  }
  const insertDeleted = database.prepare("INSERT INTO deleted VALUES ('posts', ?)");
  for (const id of deleted) insertDeleted.run(id);
  database.exec('COMMIT');
  database.close();
}
