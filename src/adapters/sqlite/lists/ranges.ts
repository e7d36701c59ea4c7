import { nextValue } from '../../../domain/lists/declared-filters.ts';
import {
  type Condition,
  compareKeys,
  type ListQuery,
  type QueryField,
  type SortKey,
} from '../../../domain/lists/list.ts';

/** A query as plain data, which can be sent to a worker. */
export type PlainQuery = Omit<ListQuery, 'signal'>;

/** A condition. The position of a list sorted by a declared field can also say that a record has no value. */
export type Predicate = Condition | (QueryField & { readonly op: 'isNull' });

/** A part of a list that SQLite reads from one range of an index: the records that meet these predicates. */
export interface Range {
  /** Predicates of the sort key, with at most one bound on each side, and of the id. */
  readonly terms: readonly Predicate[];
  /** True if all records have the same sort key. */
  readonly isOneKey: boolean;
}

/**
 * Returns the ranges that a page is read from, in turn, until the page is full. After a position, these are the
 * records with the same key and a later id, those with a later key, and, in descending order, those without a key.
 */
export function rangesOf(query: PlainQuery): readonly Range[] {
  const { direction, ...field } = query.order;
  const { own } = splitConditions(query);
  const isOneKey = own.some(isOneValue) || field.field === 'id';
  if (query.after === undefined) return [{ terms: oneRange(own), isOneKey }];

  const { key, id } = query.after;
  const isAscending = direction === 'asc';
  const later = (of: QueryField, value: string | number): Predicate =>
    isAscending ? { ...of, op: 'from', value: nextValue(value) } : { ...of, op: 'before', value };
  const laterId = later({ field: 'id' }, id);
  if (field.field === 'id') return [{ terms: [...own, laterId], isOneKey }];
  const isNull: Predicate = { ...field, op: 'isNull' };
  const isSame: Predicate = key === null ? isNull : { ...field, op: 'eq', value: key };
  const ranges: Range[] = [];
  if (own.every((one) => isMet(one, key))) {
    ranges.push({ terms: [isSame, laterId], isOneKey: true });
    if (isOneKey) return ranges;
  }
  const lowest = field.declaredType === 'number' ? Number.NEGATIVE_INFINITY : '';
  if (key !== null) ranges.push({ terms: oneRange([...own, later(field, key)]), isOneKey });
  else if (isAscending) {
    ranges.push({ terms: oneRange([...own, { ...field, op: 'from', value: lowest }]), isOneKey });
  }
  if (key !== null && !isAscending && own.every((one) => isMet(one, null))) {
    ranges.push({ terms: [isNull], isOneKey: true });
  }
  return ranges;
}

/** Splits the conditions into those on the field of the order, and the others. */
export function splitConditions({ conditions, order }: PlainQuery) {
  const isOwn = (one: Condition) =>
    one.field === order.field && one.declaredType === order.declaredType;
  return { own: conditions.filter(isOwn), others: conditions.filter((one) => !isOwn(one)) };
}

export function isOneValue(test: Predicate): test is Predicate & { readonly op: 'eq' | 'isNull' } {
  return test.op === 'eq' || test.op === 'isNull';
}

type Bound = Condition & { readonly op: 'from' | 'before' };

export function isBound(test: Predicate): test is Bound {
  return test.op === 'from' || test.op === 'before';
}

function isMet(test: Predicate, key: SortKey): boolean {
  if (test.op === 'isNull' || key === null) return test.op === 'isNull' && key === null;
  const distance = compareKeys(key, test.value as SortKey);
  if (isBound(test)) return distance < 0 === (test.op === 'before');
  return distance === 0;
}

/** Leaves at most one bound on each side: SQLite would seek to one of them, and read all rows from there to the next. */
function oneRange(all: readonly Predicate[]): readonly Predicate[] {
  const bounds = all.filter(isBound).sort((a, b) => compareKeys(a.value, b.value));
  const from = bounds.findLast(({ op }) => op === 'from');
  const before = bounds.find(({ op }) => op === 'before');
  const others = all.filter((one) => !isBound(one));
  return [...others, from, before].filter((one) => one !== undefined);
}
