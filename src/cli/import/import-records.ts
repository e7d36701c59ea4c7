import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, uuidV7 } from '../../adapters/system/index.ts';
import { foldedName } from '../../domain/fields/fields.ts';
import type { FieldIssue } from '../../domain/fields/issues.ts';
import { isPlainObject } from '../../domain/records/json.ts';
import type { Post } from '../../domain/records/post.ts';
import type { Collection, Entity } from '../../domain/records/record.ts';
import {
  type ImportContext,
  importJudge,
  storedAuthorIssue,
} from '../../domain/services/imports.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';
import { conflictOf, Failure } from '../failure.ts';
import type { LongRun } from '../run-long.ts';
import { batches } from '../transfer/source.ts';
import type { DataFile, ListRow } from './data-file.ts';
import { createMatcher } from './fields.ts';
import { createDoubts, type Doubts } from './not-public.ts';
import { labelOf, type Rejection } from './rejections.ts';
import { type FileRow, openText, readJsonLines } from './text.ts';
import type { Transformer } from './transform.ts';

export interface ImportOptions extends LongRun, Judging {
  readonly transformer?: Transformer | undefined;
  /** Columns that are left out of every row. */
  readonly ignoreColumn?: readonly string[];
  /** Whether valid records are added even if others are rejected. */
  readonly skipInvalid?: boolean;
  readonly dryRun?: boolean;
  report(rejection: Rejection): void;
  /** Counts the added records, also if the import ends early. */
  readonly added: Record<Collection, number>;
}

type Judging = Omit<ImportContext, 'store' | 'clock' | 'ids'>;

/**
 * Counts: rows that a transform `omitted`; all `records`; those that are `rejected`, `there` since an
 * earlier import, or `deleted` from the store; and good posts.
 */
const nothing = {
  ...{ omitted: 0, records: 0, rejected: 0, there: 0, deleted: 0 },
  ...{ public: 0, scheduled: 0, drafts: 0, withoutAuthor: 0, withoutBody: 0 },
};

export interface Field {
  readonly isCustom: boolean;
  readonly example: unknown;
  count: number;
}

export type Imported = Awaited<ReturnType<typeof checkRecords>>;

const lists = ['users', 'posts'] as const;

/** How many names of fields are counted: each record can have names of its own. */
const mostFields = 1000;

/** How many undated posts are named. */
const mostNames = 3;

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

/** Writes the good records of each list to a file in the folder, and counts what they are. */
async function checkRecords(file: DataFile, store: Store, folder: string, options: ImportOptions) {
  const { progress, signal, transformer, drafts, customFields, declaredFields } = options;
  const doubts = createDoubts();
  const matchers = {
    users: createMatcher('users', file, customFields?.users, declaredFields?.users),
    posts: createMatcher('posts', file, customFields?.posts, declaredFields?.posts),
  };
  const result = {
    ...nothing,
    good: { users: 0, posts: 0 },
    /** The addresses of authors that are not in the file: found in the store, and not accepted. */
    storedAuthors: { found: new Set<string>(), rejected: 0 },
    unknownAuthors: 0,
    /** Good posts that are published because nothing says when: how many, and the first ones. */
    undated: { count: 0, names: [] as string[] },
    /** The fields of good records: how many have a value, and an example. */
    fields: new Map<string, Field>(),
    advice: (): string[] => {
      return doubts.advice(transformer?.transforms('posts') ? undefined : matchers.posts.matched);
    },
  };
  const judge = importJudge({ ...options, store, clock: systemClock, ids: uuidV7 });
  const convert = createConverter(matchers, doubts, options);
  const rows = async function* () {
    for await (const row of file.rows) {
      const converted = await convert(row);
      if (converted.length === 0) result.omitted += 1;
      yield* converted;
    }
  };
  const countGood = (row: ListRow, record: Entity) => {
    const { list, value, isExported } = row;
    result.good[list] += 1;
    for (const name of isExported ? [] : Object.keys(record)) {
      const example = record[name];
      if (example === null || example === '') continue;
      const field = result.fields.get(name);
      if (field !== undefined) field.count += 1;
      else if (result.fields.size < mostFields) {
        const isCustom = !matchers[list].isField(name);
        result.fields.set(name, { count: 1, example, isCustom });
      }
    }
    if (list === 'users') return;
    const { publishedAt, authorId, body } = record as Post;
    const isScheduled = publishedAt !== null && publishedAt > systemClock.now();
    result[isScheduled ? 'scheduled' : publishedAt === null ? 'drafts' : 'public'] += 1;
    if (authorId === null) result.withoutAuthor += 1;
    if (body.trim() === '') result.withoutBody += 1;
    if (drafts || Object.hasOwn(Object(value), 'publishedAt')) return;
    result.undated.count += 1;
    if (result.undated.names.length < mostNames) result.undated.names.push(labelOf(row));
  };
  const countRejected = (row: ListRow, issues: readonly FieldIssue[]) => {
    options.report({ ...row, issues });
    if (issues.some(({ code }) => code === 'unknown')) result.unknownAuthors += 1;
    if (issues.includes(storedAuthorIssue)) result.storedAuthors.rejected += 1;
    if (row.doubt !== undefined && issues.includes(row.doubt)) {
      doubts.count(row.doubt, Object(row.content));
    }
  };
  for await (const batch of batches(rows(), ({ bytes = 0 }) => bytes)) {
    signal.throwIfAborted();
    const good = { users: '', posts: '' };
    for (const [row, verdict] of await judge(batch)) {
      result.records += 1;
      if (verdict.kind === 'rejected') countRejected(row, verdict.issues);
      if (verdict.kind !== 'good') {
        result[verdict.kind] += 1;
        continue;
      }
      const { record, storedAuthor } = verdict;
      countGood(row, record);
      if (storedAuthor !== undefined) result.storedAuthors.found.add(storedAuthor);
      good[row.list] += `${JSON.stringify({ place: row.place, record })}\n`;
    }
    for (const list of lists) appendFileSync(join(folder, list), good[list]);
    progress('checked', result.records);
  }
  if (result.records + result.omitted === 0) throw new Failure(`${file.name} has no records.`);
  return result;
}

/** Turns rows into records: with the transform, or by the names of their fields. */
function createConverter(
  matchers: Readonly<Record<Collection, ReturnType<typeof createMatcher>>>,
  doubts: Doubts,
  { transformer, ignoreColumn = [] }: ImportOptions,
) {
  const ignored = new Set(ignoreColumn.map(foldedName));
  const withoutIgnored = (row: object) => {
    if (ignored.size === 0) return row;
    return Object.fromEntries(
      Object.entries(row).filter(([name]) => !ignored.has(foldedName(name))),
    );
  };
  const isRead = (column: string) => transformer?.isRead(column) ?? false;
  return async (row: ListRow): Promise<readonly ListRow[]> => {
    const { list, place, isExported } = row;
    if (row.problem !== undefined) return [row];
    const content = isPlainObject(row.content) ? withoutIgnored(row.content) : row.content;
    try {
      const made = transformer && (await transformer.apply(list, place, content));
      const matched = () =>
        isPlainObject(content) && !isExported ? matchers[list].convert(content) : content;
      const values = made ?? [matched()];
      const isDoubted = list === 'posts' && !isExported;
      const doubt = isDoubted ? doubts.find(Object(content), isRead) : undefined;
      return values.map((value, i) => {
        const problem = isPlainObject(value) ? undefined : 'A record must be a JSON object.';
        const suffix = values.length === 1 ? '' : `, record ${i + 1}`;
        return { ...row, place: place + suffix, value, problem, doubt };
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
