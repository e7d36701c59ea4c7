import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPlainObject } from '../../domain/json.ts';
import type { Collection, Entity } from '../../domain/record.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';
import { conflictOf, Failure } from '../failure.ts';
import { LineFile } from '../line-file.ts';
import type { LongRun } from '../run-long.ts';
import { batches } from '../transfer/source.ts';
import { Check, type CheckOptions, type Verdict } from './check.ts';
import type { DataFile, ListRow } from './data-file.ts';
import { createMatcher } from './fields.ts';
import type { Refusal } from './refusals.ts';
import { type FileRow, openText, readJsonLines } from './text.ts';
import type { Transformer } from './transform.ts';

export interface ImportOptions extends LongRun, CheckOptions {
  readonly transformer?: Transformer | undefined;
  /** Whether the other records are added when some are refused. */
  readonly skipInvalid: boolean;
  /** Whether nothing is added. */
  readonly dryRun?: boolean;
  report(refusal: Refusal): void;
  /** Counts the records that were added, also until an early end. */
  readonly added: Record<Collection, number>;
}

/**
 * Counts: rows that a transform `omitted`; records that are `good`, `refused`, `there` since an earlier
 * import, or `deleted` from the store; good posts that are published because they are `undated`; and
 * good records that were refused too `late`, while the others were added.
 */
export type Imported = typeof nothing & { readonly good: Readonly<Record<Collection, number>> };

const nothing = { omitted: 0, records: 0, refused: 0, there: 0, deleted: 0, undated: 0, late: 0 };

/** A row, and the record that a transform made of it. */
type Item = ListRow & { readonly value?: unknown };

/**
 * Adds the records of a file to a store, by the rules of the API.
 *
 * All of them are checked before any is added, and none is if one is refused that is not to be skipped.
 * Good records wait in a private file. Held in memory are a batch of records, the ids and addresses of
 * users, and the ids of posts if they are kept.
 *
 * @throws Failure when the file has no record
 */
export async function importRecords(
  file: DataFile,
  store: Store,
  options: ImportOptions,
): Promise<Imported> {
  const { progress, signal, skipInvalid, dryRun = false, drafts = false } = options;
  const result = { ...nothing, good: { users: 0, posts: 0 } };
  const check = new Check(store, options);
  using spool = new Spool();
  const take = (verdict: Verdict, item: Item) => {
    const { list, place, value } = item;
    result.records += 1;
    if (verdict.kind === 'refused') options.report({ ...item, issues: verdict.issues });
    if (verdict.kind !== 'good') result[verdict.kind] += 1;
    else {
      const isDated = drafts || list === 'users' || Object.hasOwn(Object(value), 'publishedAt');
      if (!isDated) result.undated += 1;
      result.good[list] += 1;
      if (!dryRun) spool[list].add(JSON.stringify({ place, record: verdict.record }));
    }
  };
  const itemsOf = createItems(file, options);
  const items = async function* () {
    for await (const row of file.rows) {
      const all = await itemsOf(row);
      if (all.length === 0) result.omitted += 1;
      yield* all;
    }
  };
  progress.begin('checking (bytes)', file.bytes);
  for await (const batch of batches(items(), ({ bytes }) => bytes)) {
    signal.throwIfAborted();
    for (const [i, verdict] of (await check.run(batch)).entries()) take(verdict, batch[i] as Item);
    progress.advance(Math.round(batch.reduce((sum, { bytes }) => sum + bytes, 0)));
  }
  progress.end();
  if (result.records + result.omitted === 0) throw new Failure(`${file.name} has no records.`);
  if (dryRun || (result.refused > 0 && !skipInvalid)) return result;
  for (const list of ['users', 'posts'] as const) {
    progress.begin(list, result.good[list]);
    result.late += await addRecords(list, spool[list], store, options);
    progress.end();
  }
  return result;
}

/** Makes rows into records: by a transform, or by the names of their fields. */
function createItems(file: DataFile, { transformer, customFields }: ImportOptions) {
  const match = {
    users: createMatcher('users', file, customFields?.users),
    posts: createMatcher('posts', file, customFields?.posts),
  };
  return async (row: ListRow): Promise<readonly Item[]> => {
    const { list, place, content } = row;
    if (row.problem !== undefined) return [row];
    try {
      const made = await transformer?.apply(list, place, content);
      const values = made ?? [isPlainObject(content) ? match[list](content) : content];
      if (values.length === 1) return [{ ...row, value: values[0] }];
      return values.map((value, i) => ({ ...row, place: `${place}, record ${i + 1}`, value }));
    } catch (error) {
      if (error instanceof Failure) throw error;
      return [{ ...row, problem: error instanceof Error ? error.message : String(error) }];
    }
  };
}

/** Adds records that were checked. @returns how many are refused all the same */
async function addRecords(
  list: Collection,
  lines: LineFile,
  store: Store,
  { progress, signal, added, report }: ImportOptions,
): Promise<number> {
  const records: Pick<Repository<Entity>, 'create'> = store[list];
  let late = 0;
  const add = async ({ content }: FileRow) => {
    const { place, record } = content as { readonly place: string; readonly record: Entity };
    try {
      await records.create(record);
      added[list] += 1;
    } catch (error) {
      const issues = conflictOf(error);
      if (issues === undefined) throw error;
      late += 1;
      report({ place, issues, content: record });
    }
  };
  lines.flush();
  const rows = readJsonLines(await openText(lines.path, signal));
  for await (const batch of batches(rows, ({ bytes }) => bytes)) {
    signal.throwIfAborted();
    const outcomes = await Promise.allSettled(batch.map(add));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    progress.advance(batch.length);
  }
  return late;
}

/** Private files in which good records wait. */
class Spool implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'rostrum-import-'));
  readonly users = new LineFile(join(this.#folder, 'users'));
  readonly posts = new LineFile(join(this.#folder, 'posts'));

  [Symbol.dispose](): void {
    this.users[Symbol.dispose]();
    this.posts[Symbol.dispose]();
    rmSync(this.#folder, { recursive: true });
  }
}
