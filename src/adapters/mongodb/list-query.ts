import type { Document } from 'mongodb';
import type { EntityFilter, Order, Position, TimeSpan } from '../../domain/page.ts';
import type { Id } from '../../domain/record.ts';
import { isVisible } from './documents.ts';

/** What a filter asks of documents, and how to get at them. */
export interface Conditions<Sort extends string> {
  readonly match: Document;
  /** True when no document can match. */
  readonly never?: boolean;
  /** The index that finds the few records that there can be at most; they need no order. */
  readonly few?: string | undefined;
  /** The index that serves a sort under this filter. */
  readonly index: (by: Sort) => string;
}

/** A page that the server reads from an index, in order. */
export interface PageQuery {
  /** Without the position: what the total counts. */
  readonly match: Document;
  readonly page: Document;
  readonly sort: Readonly<Record<string, 1 | -1>>;
  readonly hint: string;
}

/** Where the key is kept that a kind of record is sorted by. */
export type SortPaths<Sort extends string> = Readonly<Record<Sort, string>>;

/**
 * A keyset page. The position is two spans of the index, one behind the other: the rest of the
 * records with the position's key, and all behind that key. The server merges them in order, and
 * so begins a page where the one before it ended, however deep that is.
 *
 * The sort key is always asked to be a text: hidden documents have none.
 */
export function pageQuery<Sort extends string>(
  { match: given, index }: Conditions<Sort>,
  { by, direction }: Order<Sort>,
  paths: SortPaths<Sort>,
  after: Position | undefined,
): PageQuery {
  const path = paths[by];
  const match = path in given ? given : { ...given, [path]: { $gte: '' } };
  const step = direction === 'asc' ? 1 : -1;
  const sort = { [path]: step, _id: step } as const;
  const query = { match, sort, hint: index(by) };
  if (after === undefined) return { ...query, page: match };
  const behind = direction === 'asc' ? '$gt' : '$lt';
  const key = after.key ?? '';
  const tie = { $and: [match, { [path]: key }, { _id: { [behind]: after.id } }] };
  const rest = { $and: [match, { [path]: { [behind]: key } }] };
  return { ...query, page: { $or: [tie, rest] } };
}

/** Of what is asked of few records, all that the index does not see to. */
export function fewQuery({ match }: Pick<Conditions<never>, 'match'>): Document {
  return { ...match, ...isVisible };
}

/** What every kind of record can be filtered by. */
export function commonConditions({ ids, createdAt, updatedAt }: EntityFilter): Document {
  return {
    ...(ids && { _id: { $in: ids.filter((id) => id.isWellFormed()) satisfies Id[] } }),
    ...spanOf('record.createdAt', createdAt),
    ...spanOf('record.updatedAt', updatedAt),
  };
}

/** BSON holds no lone surrogate: the driver would look for another text. */
export function neverHeld(...texts: readonly (string | null | undefined)[]): boolean {
  return texts.some((text) => text?.isWellFormed() === false);
}

function spanOf(path: string, { from, before }: TimeSpan = {}): Document {
  if (from === undefined && before === undefined) return {};
  return { [path]: { $gte: from ?? '', ...(before !== undefined && { $lt: before }) } };
}
