import { DatabaseSync } from 'node:sqlite';
import { termsOf, wordsOf } from './words.ts';

/** The fields of a post that the index needs. */
interface SearchedPost {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly publishedAt: string | null;
}

/** The ids of the posts that a search has found, the last published ones first. */
export interface Found {
  readonly ids: readonly string[];
  /** The position at which the next page begins; absent on the last page. */
  readonly next?: number;
}

/** Numbers per second: one for each post that is published in it. */
const perSecond = 1_000_000;

/**
 * Finds posts by the words of their titles and bodies. Keeps its index, and the position of its follower, in a SQLite
 * file (FTS5): pass it to `indexPosts` as the index and as the positions.
 *
 * Posts are numbered by the time of their publication, so that FTS5 finds them in the order of the list.
 */
export class SqliteSearch {
  readonly #database: DatabaseSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path);
    // `wordsOf` cuts the text, and the tokenizer leaves its words as they are. The column `text` isn't stored.
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      CREATE TABLE IF NOT EXISTS posts (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT;
      CREATE TABLE IF NOT EXISTS follower (position TEXT NOT NULL) STRICT;
      CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
        text, content = '', contentless_delete = 1, detail = none, prefix = 2, tokenize = 'ascii');
    `);
  }

  /** Returns up to `limit` public posts that have all words of a query. */
  find(query: string, { limit = 20, after = now() } = {}): Found {
    const terms = termsOf(query).map(({ word, isPrefix }) => `"${word}"${isPrefix ? '*' : ''}`);
    if (terms.length === 0) return { ids: [] };
    const sql = `
      SELECT id, number FROM words CROSS JOIN posts ON number = words.rowid
      WHERE words MATCH ? AND words.rowid < ? ORDER BY words.rowid DESC LIMIT ?`;
    const rows = this.#database.prepare(sql).all(terms.join(' AND '), after, limit + 1);
    const page = rows.slice(0, limit);
    const ids = page.map(({ id }) => String(id));
    return rows.length > limit ? { ids, next: Number(page.at(-1)?.number) } : { ids };
  }

  async updateDocuments(posts: readonly SearchedPost[]): Promise<void> {
    this.#inTransaction(() => {
      for (const { id, title, body, publishedAt } of posts) {
        this.#remove(id);
        if (publishedAt === null) continue;
        const first = numberAt(publishedAt);
        const last = 'SELECT max(number) AS number FROM posts WHERE number BETWEEN ? AND ?';
        const taken = this.#database.prepare(last).get(first, first + perSecond - 1)?.number;
        const number = taken === null ? first : Number(taken) + 1;
        this.#run('INSERT INTO posts VALUES (?, ?)', number, id);
        const words = wordsOf(title, body).join(' ');
        this.#run('INSERT INTO words (rowid, text) VALUES (?, ?)', number, words);
      }
    });
  }

  async deleteDocuments(ids: readonly string[]): Promise<void> {
    this.#inTransaction(() => {
      for (const id of ids) this.#remove(id);
    });
  }

  /** Returns the position of the follower. Without one, empties the index, so that it is built again. */
  async load(): Promise<string | undefined> {
    const row = this.#database.prepare('SELECT position FROM follower').get();
    if (row === undefined) this.clear();
    return row && String(row.position);
  }

  async save(position: string): Promise<void> {
    this.#inTransaction(() => {
      this.#run('DELETE FROM follower');
      this.#run('INSERT INTO follower VALUES (?)', position);
    });
  }

  /** Removes everything, for a follower whose position has expired. */
  clear(): void {
    this.#database.exec(
      `BEGIN; DELETE FROM follower; DELETE FROM posts; INSERT INTO words (words) VALUES ('delete-all'); COMMIT`,
    );
  }

  close(): void {
    this.#database.close();
  }

  #remove(id: string): void {
    const row = this.#database.prepare('DELETE FROM posts WHERE id = ? RETURNING number').get(id);
    if (row !== undefined) this.#run('DELETE FROM words WHERE rowid = ?', Number(row.number));
  }

  #run(sql: string, ...values: (string | number)[]): void {
    this.#database.prepare(sql).run(...values);
  }

  #inTransaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Returns the first number of a post that is published at a time. Numbers end in the years 1684 and 2255, to stay exact. */
function numberAt(time: string): number {
  const seconds = Math.floor(Date.parse(time) / 1000);
  return Math.min(Math.max(seconds, -9e9), 9e9) * perSecond;
}

/** Returns the first number of a post that isn't public yet. */
function now(): number {
  return numberAt(new Date().toISOString()) + perSecond;
}
