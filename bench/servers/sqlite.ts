import { DatabaseSync } from 'node:sqlite';
import type { BareStore } from './bare-store.ts';

/** One table, one statement a request; inserts of one turn of the event loop share a commit. */
export function sqlite(path: string): BareStore {
  const database = new DatabaseSync(path);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE IF NOT EXISTS posts (id TEXT PRIMARY KEY NOT NULL, json TEXT NOT NULL) STRICT;
  `);
  const one = database.prepare('SELECT json FROM posts WHERE id = ?');
  const page = database.prepare('SELECT json FROM posts ORDER BY id DESC LIMIT ?');
  const insert = database.prepare('INSERT INTO posts (id, json) VALUES (?, ?)');
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
      insert.run(post.id, json);
      return new Promise((resolve) => group.push(() => resolve(json)));
    },
  };
}
