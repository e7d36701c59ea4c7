// Where the bytes of images are. S3 or another store takes the place of the folder with three methods (README).

import { mkdirSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Names have only letters, digits and a dot. The same name always has the same bytes. */
export interface BlobStore {
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Returns undefined if there is no such blob. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Does nothing if there is no such blob. */
  delete(name: string): Promise<void>;
}

/** Returns a store in a folder, which it creates. */
export function folderBlobs(folder: string): BlobStore {
  mkdirSync(folder, { recursive: true });
  return {
    async put(name, bytes) {
      // A reader never sees a part of an image.
      const part = join(folder, `.${crypto.randomUUID()}`);
      await writeFile(part, bytes);
      await rename(part, join(folder, name));
    },
    get: (name) =>
      readFile(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      }),
    delete: (name) => rm(join(folder, name), { force: true }),
  };
}
