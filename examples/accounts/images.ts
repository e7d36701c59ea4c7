// The images of posts: adds them, and deletes those that no post uses any more.

import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { BlobStore } from './blobs.ts';

export const maxImageBytes = 5_000_000;

const day = 24 * 60 * 60 * 1000;
/** How many images an account can add in a day. */
const perDay = 100;

/** The name of an image: its hash, and an extension for its type. */
const namePattern = /[0-9a-f]{64}\.(?:png|apng|jpg|gif|webp|avif)/g;

/** The images that the blog accepts, by extension. SVG is not one of them: it can contain scripts. */
export const imageTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  apng: 'image/apng',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
};

/** The texts in which images can be used. */
interface Posts {
  all(): AsyncIterable<{ readonly record: { readonly body: string } }>;
}

export type Images = ReturnType<typeof createImages>;

export function createImages(blobs: BlobStore, database: DatabaseSync, posts: Posts) {
  database.exec(`CREATE TABLE IF NOT EXISTS image
    (name TEXT PRIMARY KEY, account TEXT NOT NULL, added INTEGER NOT NULL, unused INTEGER) STRICT`);
  const count = database.prepare('SELECT count(*) AS n FROM image WHERE account = ? AND added > ?');
  const insert = database.prepare(
    `INSERT INTO image (name, account, added, unused) VALUES (?, ?, ?3, ?3)
    ON CONFLICT DO UPDATE SET unused = ?3`,
  );
  const select = database.prepare('SELECT name, unused FROM image');
  const mark = database.prepare('UPDATE image SET unused = ? WHERE name = ?');
  const remove = database.prepare('DELETE FROM image WHERE name = ? AND unused <= ?');

  /** The last change of a blob. An upload and a deletion of the same image must not cross. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(change: () => Promise<T>): Promise<T> => {
    const result = last.then(change);
    last = result.catch(() => {});
    return result;
  };

  return {
    /**
     * Stores an image, and returns its name.
     *
     * @param extension one of {@link imageTypes}
     * @throws an error with the status 429, whose message Koa sends to the client
     */
    async add(bytes: Buffer, extension: string, account: string, now = Date.now()) {
      if (Number(count.get(account, now - day)?.n) >= perDay) {
        const error = new Error(`You can add ${perDay} images a day. Try again tomorrow.`);
        throw Object.assign(error, { status: 429, expose: true });
      }
      const name = `${hash('sha256', bytes)}.${extension}`;
      return inTurn(async () => {
        // First the row: a blob without a row would stay for ever.
        insert.run(name, account, now);
        await blobs.put(name, bytes);
        return name;
      });
    },

    get: (name: string) => blobs.get(name),

    /** Deletes the images that no post has used for a day. Until then, an author can undo a change. */
    async sweep(now = Date.now()): Promise<void> {
      const used = new Set<string>();
      for await (const { record } of posts.all()) {
        for (const [name] of record.body.matchAll(namePattern)) used.add(name);
      }
      for (const { name, unused } of select.all() as { name: string; unused: number | null }[]) {
        if (used.has(name)) mark.run(null, name);
        else if (unused === null) mark.run(now, name);
        else {
          await inTurn(async () => {
            if (remove.run(name, now - day).changes > 0) await blobs.delete(name);
          });
        }
      }
    },
  };
}
