import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPlainObject } from '../../domain/records/json.ts';
import type { Collection, Entity } from '../../domain/records/record.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';
import { conflictOf, Failure } from '../failure.ts';
import type { LongRun } from '../run-long.ts';
import { batches } from '../transfer/source.ts';
import { type CheckOptions, createCheck } from './check.ts';
import type { DataFile, ListRow } from './data-file.ts';
import { createMatcher } from './fields.ts';
import type { Rejection } from './rejections.ts';
import { type FileRow, openText, readJsonLines } from './text.ts';
import type { Transformer } from './transform.ts';

export interface ImportOptions extends LongRun, CheckOptions {
  readonly transformer?: Transformer | undefined;
  /** Whether valid records are added even if others are rejected. */
  readonly skipInvalid?: boolean;
  readonly dryRun?: boolean;
  report(rejection: Rejection): void;
  /** Counts the added records, also if the import ends early. */
  readonly added: Record<Collection, number>;
}

/**
 * Counts: rows that a transform `omitted`; all `records`; those that are `good`, `rejected`, `there` since
 * an earlier import, or `deleted` from the store; and good posts published because they are `undated`.
 */
export type Imported = typeof nothing & { readonly good: Readonly<Record<Collection, number>> };

const nothing = { omitted: 0, records: 0, rejected: 0, there: 0, deleted: 0, undated: 0 };

const lists = ['users', 'posts'] as const;

/**
 * Adds the records of a file to a store, by the rules of the API.
 *
 * All records are checked before any is added. If one is rejected, none is added unless `skipInvalid` is
 * set. Checked records wait in a temporary file: memory holds one batch, unique values, and the ids of
 * users and of kept posts.
 *
 * @throws Failure if the file has no records
 */
export async function importRecords(
  file: DataFile,
  store: Store,
  options: ImportOptions,
): Promise<Imported> {
  const folder = mkdtempSync(join(tmpdir(), 'rostrum-import-'));
  try {
    const result = await checkRecords(file, store, folder, options);
    if (options.dryRun || (result.rejected > 0 && !options.skipInvalid)) return result;
    for (const list of lists) {
      if (result.good[list] === 0) continue;
      result.rejected += await addRecords(list, join(folder, list), store, options);
    }
    return result;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes the good records of each list to a file in the folder. */
async function checkRecords(file: DataFile, store: Store, folder: string, options: ImportOptions) {
  const { progress, signal } = options;
  const result = { ...nothing, good: { users: 0, posts: 0 } };
  const check = createCheck(store, options);
  const convert = createConverter(file, options);
  const rows = async function* () {
    for await (const row of file.rows) {
      const converted = await convert(row);
      if (converted.length === 0) result.omitted += 1;
      yield* converted;
    }
  };
  for await (const batch of batches(rows(), ({ bytes = 0 }) => bytes)) {
    signal.throwIfAborted();
    const good = { users: '', posts: '' };
    for (const [row, verdict] of await check(batch)) {
      const { list, place, value } = row;
      result.records += 1;
      if (verdict.kind === 'rejected') options.report({ ...row, issues: verdict.issues });
      if (verdict.kind !== 'good') {
        result[verdict.kind] += 1;
        continue;
      }
      result.good[list] += 1;
      good[list] += `${JSON.stringify({ place, record: verdict.record })}\n`;
      const isDated = options.drafts || Object.hasOwn(Object(value), 'publishedAt');
      if (list === 'posts' && !isDated) result.undated += 1;
    }
    for (const list of lists) appendFileSync(join(folder, list), good[list]);
    progress('checked', result.records);
  }
  if (result.records + result.omitted === 0) throw new Failure(`${file.name} has no records.`);
  return result;
}

/** Turns rows into records: with the transform, or by the names of their fields. */
function createConverter(file: DataFile, options: ImportOptions) {
  const { transformer, customFields, declaredFields } = options;
  const match = {
    users: createMatcher('users', file, customFields?.users, declaredFields?.users),
    posts: createMatcher('posts', file, customFields?.posts, declaredFields?.posts),
  };
  return async (row: ListRow): Promise<readonly ListRow[]> => {
    const { list, place, content } = row;
    if (row.problem !== undefined) return [row];
    try {
      const made = await transformer?.apply(list, place, content);
      const matched = () => (isPlainObject(content) ? match[list](content) : content);
      const values = made ?? [row.value ?? matched()];
      return values.map((value, i) => {
        const problem = isPlainObject(value) ? undefined : 'A record must be a JSON object.';
        const suffix = values.length === 1 ? '' : `, record ${i + 1}`;
        return { ...row, place: place + suffix, value, problem };
      });
    } catch (error) {
      if (error instanceof Failure) throw error;
      return [{ ...row, problem: error instanceof Error ? error.message : String(error) }];
    }
  };
}

/** Adds checked records. @returns how many are rejected, because the store has changed since the check */
async function addRecords(
  list: Collection,
  path: string,
  store: Store,
  { progress, signal, added, report }: ImportOptions,
): Promise<number> {
  const records: Pick<Repository<Entity>, 'create'> = store[list];
  let rejected = 0;
  const add = async ({ content }: FileRow) => {
    const { place, record } = content as { readonly place: string; readonly record: Entity };
    try {
      await records.create(record);
      added[list] += 1;
    } catch (error) {
      const issues = conflictOf(error);
      if (issues === undefined) throw error;
      rejected += 1;
      report({ place, issues, content: record });
    }
  };
  const rows = readJsonLines(await openText(path, signal));
  for await (const batch of batches(rows, ({ bytes = 0 }) => bytes)) {
    signal.throwIfAborted();
    const outcomes = await Promise.allSettled(batch.map(add));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    progress(`added ${list}`, added[list]);
  }
  return rejected;
}
