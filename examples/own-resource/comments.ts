import { DatabaseSync } from 'node:sqlite';

export interface Comment {
  readonly id: number;
  readonly postId: string;
  /** Null once the author's user was deleted. */
  readonly authorId: string | null;
  readonly text: string;
  readonly createdAt: string;
}

/**
 * The foreign keys act in the commit of Rostrum's own change: a deleted post takes its comments with it.
 * Each key has an index, because SQLite would search the whole table otherwise.
 */
const schema = `
  CREATE TABLE IF NOT EXISTS blog_comments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    postId TEXT NOT NULL REFERENCES posts (id) ON DELETE CASCADE,
    authorId TEXT REFERENCES users (id) ON DELETE SET NULL,
    text TEXT NOT NULL,
    createdAt TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS blog_comments_by_post ON blog_comments (postId, id);
  CREATE INDEX IF NOT EXISTS blog_comments_by_author ON blog_comments (authorId);`;

/** SQLITE_CONSTRAINT_FOREIGNKEY (https://www.sqlite.org/rescode.html#constraint_foreignkey). */
const foreignKeyFailed = 787;

/**
 * Opens the comments of a data file that Rostrum's store has created. Every method is one statement: an open
 * transaction would hold up Rostrum's writes.
 */
export function openComments(path: string) {
  const database = new DatabaseSync(path, { timeout: 5000 }); // Waits for other processes' writes.
  database.exec(schema);
  const insert = database.prepare(
    'INSERT INTO blog_comments (postId, authorId, text, createdAt) VALUES (?, ?, ?, ?) RETURNING *',
  );
  const page = database.prepare(
    'SELECT * FROM blog_comments WHERE postId = ? AND id > ? ORDER BY id LIMIT ?',
  );
  const remove = database.prepare('DELETE FROM blog_comments WHERE id = ? AND authorId = ?');

  return {
    /** Adds a comment. Returns undefined if the post or the author doesn't exist. */
    add(postId: string, authorId: string, text: string): Comment | undefined {
      try {
        const row = insert.get(postId, authorId, text, new Date().toISOString());
        return row as unknown as Comment;
      } catch (error) {
        const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
        if (code === foreignKeyFailed) return undefined;
        throw error;
      }
    },
    /** Returns the next comments on a post, oldest first. */
    list: (postId: string, after: number, limit: number) =>
      page.all(postId, after, limit) as unknown as Comment[],
    /** Returns false if the author has no such comment. */
    delete: (id: number, authorId: string) => remove.run(id, authorId).changes > 0,
    close: () => database.close(),
  };
}
