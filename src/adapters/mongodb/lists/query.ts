import type { Document } from 'mongodb';
import type { Order, Position } from '../../../domain/list.ts';
import { isVisible } from '../schema/documents.ts';
import { escapeKey } from '../schema/keys.ts';
import { type Conditions, firstBehind } from './conditions.ts';

type Direction = Order<string>['direction'];

/** A page that the server reads from an index, in order. */
export interface PageQuery {
  /** Without the position: what the total counts. */
  readonly match: Document;
  readonly page: Document;
  readonly sort: Readonly<Record<string, 1 | -1>>;
  readonly hint: string;
}

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
  path: string,
  after: Position | undefined,
): PageQuery {
  const match = path in given ? given : { ...given, [path]: { $gte: '' } };
  const spans = after && spansBehind(after, path, direction);
  return {
    match,
    page: spans === undefined ? match : { $or: spans.map((span) => ({ $and: [match, span] })) },
    sort: sortBy(path, direction),
    hint: index(by),
  };
}

/**
 * A page of the few records that a filter names. They are put in order by their keys alone, and
 * read one by one when their order is known: together they may be larger than what may be sorted.
 */
export function namedPipeline(
  match: Document,
  { direction }: Order<string>,
  path: string,
  limit: number,
  collection: string,
  parts: Document,
  after: Position | undefined,
): Document[] {
  return [
    { $match: match },
    { $project: { key: `$${path}` } },
    ...(after === undefined ? [] : [{ $match: { $or: spansBehind(after, 'key', direction) } }]),
    { $sort: sortBy('key', direction) },
    { $limit: limit },
    {
      $lookup: {
        from: collection,
        localField: '_id',
        foreignField: '_id',
        // On a standalone server it may be gone by now.
        pipeline: [{ $match: isVisible }],
        as: 'stored',
      },
    },
    { $unwind: '$stored' },
    { $replaceWith: '$stored' },
    { $project: parts },
  ];
}

/** Whether a projection can name a field: not every name is a path. */
export function canProject(field: string): boolean {
  return !/[.$\0]/.test(field) && field !== '';
}

/** What a reader needs of a document: the key of the sort, and of the record all or some fields. */
export function visibleParts(path: string, fields?: readonly string[]): Document {
  // A path may not be named beside what it lies in.
  if (fields === undefined)
    return { record: 1, version: 1, ...(!path.includes('.') && { [path]: 1 }) };
  const parts = fields.map((field) => [`record.${escapeKey(field)}`, 1]);
  return { version: 1, ...Object.fromEntries(parts), [path]: 1 };
}

function sortBy(path: string, direction: Direction): Readonly<Record<string, 1 | -1>> {
  const step = direction === 'asc' ? 1 : -1;
  return { [path]: step, _id: step };
}

/** A missing key is stored as an empty text. */
function spansBehind({ key, id }: Position, path: string, direction: Direction): Document[] {
  const isKept = key === null || firstBehind(key) === undefined;
  const tie = { [path]: key ?? '', _id: behind(id, direction) };
  const rest = { [path]: key === null ? behindNull[direction] : behind(key, direction) };
  return isKept ? [tie, rest] : [rest];
}

const behindNull = { asc: { $gt: '' }, desc: { $lt: '' } } as const;

function behind(text: string, direction: Direction): Document {
  const first = firstBehind(text);
  if (direction === 'desc') return { $lt: first ?? text };
  return first === undefined ? { $gt: text } : { $gte: first };
}
