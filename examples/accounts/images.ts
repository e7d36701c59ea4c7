// The images of posts: uploads, and the end of those that no post uses any more.

import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { BlobStore } from './blobs.ts';

export const maxImageBytes = 5_000_000;

const day = 24 * 60 * 60 * 1000;
/** How many images an account can add in a day. */
const perDay = 100;

/** The name of an image: its hash, and an extension for its type. */
const namePattern = /[0-9a-f]{64}\.(?:png|jpg|gif|webp|avif)/g;

export const imageTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
};

/** Returns the extension for the type of the content, which its name doesn't decide. SVG is rejected: it can contain scripts. */
function extensionOf(bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1', 0, 12);
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (text.startsWith('\xff\xd8\xff')) return 'jpg';
  if (/^GIF8[79]a/.test(text)) return 'gif';
  if (/^RIFF.{4}WEBP/s.test(text)) return 'webp';
  if (/^.{4}ftypavi[fs]/s.test(text)) return 'avif';
  return undefined;
}

/** The texts in which images can be used. */
interface Posts {
  all(): AsyncIterable<{ readonly record: { readonly body: string } }>;
}

/** An error that Koa sends to the client. */
const imageError = (status: number, message: string) =>
  Object.assign(new Error(message), { status, expose: true });

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
     * @throws an error with the status 415 or 429
     */
    async add(bytes: Buffer, account: string, now = Date.now()): Promise<string> {
      const extension = extensionOf(bytes);
      if (extension === undefined) {
        throw imageError(415, 'Use a PNG, JPEG, GIF, WebP or AVIF image.');
      }
      if (Number(count.get(account, now - day)?.n) >= perDay) {
        throw imageError(429, `You can add ${perDay} images a day. Try again tomorrow.`);
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
