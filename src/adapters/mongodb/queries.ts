import type { Document } from 'mongodb';
import type { Condition, ListQuery, Position, QueryOrder } from '../../domain/list.ts';
import { pathOf } from './documents.ts';

// How the conditions and orders of lists read in MongoDB's query language.

/** What a list asks of documents. */
export function matching(conditions: readonly Condition[]): Document {
  const all = conditions.map((condition) => ({ [pathOf(condition)]: asked(condition) }));
  return all.length === 0 ? {} : { $and: all };
}

const operators = { eq: '$eq', in: '$in', has: '$eq', from: '$gte', before: '$lt' } as const;

/** By its type, because "equal to null" is two ranges of an index: null, and a missing field. */
const isNull: Document = { $type: 'null' };

function asked(condition: Condition): Document {
  return condition.op === 'isNull' ? isNull : { [operators[condition.op]]: condition.value };
}

export function sorting({ direction, ...field }: QueryOrder): Document {
  const step = direction === 'asc' ? 1 : -1;
  return { [pathOf(field)]: step, _id: step };
}

/**
 * What a list asks of the documents behind a position. That is up to three ranges of the sort's index: the
 * rest with the same key, all other keys, and null. The server merges them in order, so a page costs the same
 * however deep it lies.
 */
export function behind(
  { conditions, order }: Pick<ListQuery, 'conditions' | 'order'>,
  after: Position | undefined,
): Document {
  const match = matching(conditions);
  if (after === undefined) return match;
  const ranges = rangesBehind(after, order);
  return { $or: ranges.map((range) => ({ $and: [match, range] })) };
}

function rangesBehind({ key, id }: Position, order: QueryOrder): Document[] {
  const [path, { direction, custom }] = [pathOf(order), order];
  const op = direction === 'asc' ? '$gt' : '$lt';
  if (path === '_id') return [{ _id: { [op]: id } }];
  // A search field is null where a custom field is missing.
  const noValue = custom === undefined ? isNull : { $exists: false };
  const same = { [path]: key ?? noValue, _id: { [op]: id } };
  const least = custom === 'number' ? Number.NEGATIVE_INFINITY : '';
  if (key === null) return direction === 'asc' ? [same, { [path]: { $gte: least } }] : [same];
  // Null sorts before all values, but no comparison with a value finds it.
  return [same, { [path]: { [op]: key } }, ...(direction === 'desc' ? [{ [path]: noValue }] : [])];
}
