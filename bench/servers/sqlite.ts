import { DatabaseSync } from 'node:sqlite';
import type { BareStore } from './bare-store.ts';

/**
 * One table with the same six indexes as Rostrum's posts, and one statement per request. Inserts within a
 * tick share a commit.
 */
export function sqlite(path: string): BareStore {
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE posts (
      id TEXT PRIMARY KEY NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
      published_at TEXT NOT NULL, title TEXT NOT NULL, author_id TEXT, json TEXT NOT NULL
    ) STRICT;
    CREATE INDEX posts_created ON posts (created_at, id, updated_at);
    CREATE INDEX posts_updated ON posts (updated_at, id);
    CREATE INDEX posts_published ON posts (published_at, id, created_at);
    CREATE INDEX posts_title ON posts (title, id, created_at);
    CREATE INDEX posts_author_created ON posts (author_id, created_at, id, updated_at, title);
    CREATE INDEX posts_author_published ON posts (author_id, published_at, id);
  `);
  const one = database.prepare('SELECT json FROM posts WHERE id = ?');
  const page = database.prepare('SELECT json FROM posts ORDER BY created_at DESC, id DESC LIMIT ?');
  const insert = database.prepare('INSERT INTO posts VALUES (?, ?, ?, ?, ?, ?, ?)');
  let group: (() => void)[] = [];

  function commit(): void {
    const done = group;
    group = [];
    database.exec('COMMIT');
    for (const resolve of done) resolve();
  }

  return {
    get: (id) => one.get(id)?.json as string | undefined,
    newest: (limit) => page.all(limit).map(({ json }) => json as string),
    add(post) {
      const json = JSON.stringify(post);
      if (group.length === 0) {
        database.exec('BEGIN IMMEDIATE');
        setImmediate(commit);
      }
      const { id, createdAt, updatedAt, title, authorId = null } = post;
      insert.run(id, createdAt, updatedAt, createdAt, title, authorId, json);
      return new Promise((resolve) => group.push(() => resolve(json)));
    },
  };
}
