import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openDataFile } from '../../../src/cli/import/data-file.ts';
import { type ImportOptions, importRecords } from '../../../src/cli/import/import-records.ts';
import { createInstant } from '../../../src/cli/import/instant.ts';
import { openText } from '../../../src/cli/import/text.ts';
import { createTransformer, type TransformModule } from '../../../src/cli/import/transform.ts';
import type { Collection } from '../../../src/domain/records/record.ts';
import type { Store } from '../../../src/ports/store.ts';
import { temporaryDirectory } from '../../support/repository-copy.ts';
import { openTemporarySqlite } from '../../support/temporary-sqlite.ts';
import { contentOf } from '../transfer/records.ts';

export type Own = Record<string, unknown>;

export const text = (value: unknown) => JSON.stringify(value);
export const lines = (values: readonly unknown[]) => {
  return values.map((value) => `${text(value)}\n`).join('');
};
export const isEmpty = { users: [], posts: [] };

export interface Given extends Partial<ImportOptions>, TransformModule {
  readonly file?: string;
  readonly as?: Collection;
  readonly waitMs?: number;
}

/** Imports files into a store. Each test has its own folder and store. */
export class Imports {
  store!: Store;
  /** The reported issues: place, pointer and code. */
  rejected: string[] = [];
  /** The messages of the reported issues. */
  messages: string[] = [];
  added: Record<Collection, number> = { users: 0, posts: 0 };
  #folder!: Awaited<ReturnType<typeof temporaryDirectory>>;

  constructor() {
    beforeEach(async () => {
      this.#folder = await temporaryDirectory();
      this.store = openTemporarySqlite();
      this.rejected = [];
      this.messages = [];
      this.added = { users: 0, posts: 0 };
    });
    afterEach(async () => {
      await this.store.close();
      await this.#folder[Symbol.asyncDispose]();
    });
  }

  get folder(): string {
    return this.#folder.path;
  }

  /** The path of a data file for the program. */
  get dataFile(): string {
    return join(this.folder, 'rostrum.db');
  }

  get url(): string {
    return `sqlite:${this.dataFile}`;
  }

  write(content: string | Buffer, file = 'db.json'): string {
    const path = join(this.folder, file);
    writeFileSync(path, content);
    return path;
  }

  /** Writes text, or any other value as JSON, to a file, and imports it. */
  async run(content: unknown, given: Given = {}) {
    const { file, as, users, posts, source, waitMs, ...rest } = given;
    const raw = typeof content === 'string' || Buffer.isBuffer(content);
    const path = this.write(raw ? content : text(content), file);
    const { signal } = new AbortController();
    const transforms = { users, posts, source } as TransformModule;
    const opened = await openDataFile(await openText(path, signal), as, transforms);
    const instant = await createInstant();
    return importRecords(opened, this.store, {
      ...{ keepIds: false, skipInvalid: false, signal, instant, added: this.added },
      transformer: createTransformer(transforms, { file: path, instant }, waitMs),
      progress() {},
      report: ({ place, issues }) => {
        for (const { pointer, code, message } of issues) {
          this.rejected.push(`${place} ${pointer} ${code}`);
          this.messages.push(message);
        }
      },
      ...rest,
    });
  }

  /** Returns all records of the store. */
  async held() {
    const { users, posts } = await contentOf(this.store);
    const plain = (one: { record: object }) => one.record as Own;
    return { users: users.map(plain), posts: posts.map(plain) };
  }

  /** Counts the records in the data file. */
  countOf(list: Collection): number {
    if (!existsSync(this.dataFile)) return 0;
    const file = new DatabaseSync(this.dataFile, { readOnly: true });
    try {
      return Number(file.prepare(`SELECT count(*) AS n FROM ${list}`).get()?.n);
    } catch {
      return 0; // The tables don't exist yet.
    } finally {
      file.close();
    }
  }
}
