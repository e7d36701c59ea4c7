import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openDataFile } from '../../../src/cli/import/data-file.ts';
import { readNames } from '../../../src/cli/import/field-names.ts';
import { readTypes } from '../../../src/cli/import/field-types.ts';
import {
  failureOf,
  type ImportOptions,
  importRecords,
} from '../../../src/cli/import/import-records.ts';
import { createReadTime } from '../../../src/cli/import/times.ts';
import type { Collection } from '../../../src/domain/record.ts';
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

export interface Given extends Partial<ImportOptions> {
  readonly file?: string;
  readonly as?: Collection;
  readonly map?: readonly string[];
  readonly type?: readonly string[];
  /** Called when a part of the import begins: `checking posts (bytes)`, `posts`. */
  onBegin?(what: string): unknown;
}

/** Imports into a store, from files in a folder, that each test of a suite has for itself. */
export class Imports {
  store!: Store;
  /** What was reported: the place, the pointer and the code of each issue. */
  refused: string[] = [];
  added: Record<Collection, number> = { users: 0, posts: 0 };
  #folder!: Awaited<ReturnType<typeof temporaryDirectory>>;

  constructor() {
    beforeEach(async () => {
      this.#folder = await temporaryDirectory();
      this.store = openTemporarySqlite();
      this.refused = [];
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

  /** A data file of the folder, for the program. */
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

  async run(content: unknown, given: Given = {}) {
    const { file, as, map = [], type = [], onBegin = () => {}, ...rest } = given;
    const { skipInvalid = false, timeZone } = rest;
    const raw = typeof content === 'string' || Buffer.isBuffer(content);
    const path = this.write(raw ? content : text(content), file);
    const result = await importRecords(await openDataFile(path, as), this.store, {
      keepIds: false,
      skipInvalid,
      names: readNames(map),
      types: readTypes(type),
      readTime: await createReadTime(timeZone),
      signal: new AbortController().signal,
      progress: { begin: (what) => onBegin(what), advance() {}, end() {}, stop() {} },
      report: ({ place, issues }) => {
        for (const { pointer, code } of issues) this.refused.push(`${place} ${pointer} ${code}`);
      },
      added: this.added,
      ...rest,
    });
    const failure = failureOf(result, { skipInvalid });
    if (failure !== undefined) throw failure;
    return result;
  }

  /** What the store holds. */
  async held() {
    const { users, posts } = await contentOf(this.store);
    const plain = (one: { record: object }) => one.record as Own;
    return { users: users.map(plain), posts: posts.map(plain) };
  }

  /** How many records the data file holds; none when it is not there yet. */
  countOf(list: Collection): number {
    if (!existsSync(this.dataFile)) return 0;
    const file = new DatabaseSync(this.dataFile, { readOnly: true });
    try {
      return Number(file.prepare(`SELECT count(*) AS n FROM ${list}`).get()?.n);
    } catch {
      return 0; // The tables are not there yet.
    } finally {
      file.close();
    }
  }
}
