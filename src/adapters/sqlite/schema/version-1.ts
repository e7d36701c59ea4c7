import { type Instant, instantFromMs } from '../../../domain/instant.ts';
import type { Connection, SqlValue } from '../connection/connection.ts';

/** The tables of versions 2 to 4. */
const recordTables4 = `
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
`;

/** A row of version 1: a JSON object of the custom fields, and a column for each other field. */
type EntityRow = [id: string, version: number, createdAt: number, updatedAt: number, own: string];
type UserRow = [...EntityRow, name: string, email: string | null, emailKey: string | null];
type PostRow = [...EntityRow, title: string, body: string, authorId: string | null];

/**
 * Makes the records of version 1 those of version 4, without its indexes.
 *
 * @param step called for each record
 */
export function fromVersion1(connection: Connection, step: () => void): void {
  const insert = (table: 'users' | 'posts', columns: string, ...values: SqlValue[]) => {
    const names = `id, version, created_at, updated_at, ${columns}, record`;
    connection.run(`INSERT INTO ${table} (${names}) VALUES (?, ?, ?, ?, ?, ?, ?)`, ...values);
    step();
  };

  // The foreign key of the old posts follows the old users to their new name.
  connection.exec('ALTER TABLE users RENAME TO users_1; ALTER TABLE posts RENAME TO posts_1');
  connection.exec(recordTables4);
  const users = 'SELECT id, version, created_at, updated_at, own, name, email, email_key';
  for (const row of connection.iterate<UserRow>(`${users} FROM users_1`)) {
    const [id, version, createdAt, updatedAt, own, name, email, emailKey] = row;
    const times = [instantFromMs(createdAt), instantFromMs(updatedAt)] as const;
    const record = recordText({ id, name, email }, own, ...times);
    insert('users', 'name, email_key', id, version, ...times, name, emailKey, record);
  }
  const posts = 'SELECT id, version, created_at, updated_at, own, title, body, author_id';
  for (const row of connection.iterate<PostRow>(`${posts} FROM posts_1`)) {
    const [id, version, createdAt, updatedAt, own, title, body, authorId] = row;
    const times = [instantFromMs(createdAt), instantFromMs(updatedAt)] as const;
    const record = recordText({ id, title, body, authorId }, own, ...times);
    insert('posts', 'author_id, title', id, version, ...times, authorId, title, record);
  }
  connection.exec('DROP TABLE posts_1; DROP TABLE users_1');
}

/** Custom fields go over as the text that they are, so that nothing becomes of a number or a null. */
function recordText(fields: object, own: string, createdAt: Instant, updatedAt: Instant): string {
  const start = JSON.stringify(fields).slice(0, -1);
  const middle = own === '{}' ? '' : `,${own.slice(1, -1)}`;
  return `${start}${middle},${JSON.stringify({ createdAt, updatedAt }).slice(1)}`;
}
