import {
  type Condition,
  compareKeys,
  type ListQuery,
  type QueryField,
  type QueryOrder,
} from '../../../domain/lists/list.ts';
import type { Collection } from '../../../domain/records/record.ts';
import type { SqlValue } from '../connection/connection.ts';
import { declaredExpression, elementsTable } from '../declared.ts';

/** A query as plain data, which can be sent to a worker. */
export type PlainQuery = Omit<ListQuery, 'signal'>;

/** A statement, or a part of one, with the values of its parameters. */
export interface Sql {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A term of a WHERE clause. */
export interface Term {
  readonly left: string;
  readonly right: string;
  readonly values: readonly SqlValue[];
}

/** Builds a statement, up to its LIMIT. */
export function select(
  what: Sql,
  collection: Collection,
  terms: readonly Term[],
  order?: QueryOrder,
): Sql {
  const where = terms.map(({ left, right }) => `${left} ${right}`).join(' AND ');
  return {
    sql: `SELECT ${what.sql} FROM ${collection}${where && ` WHERE ${where}`}${orderBy(terms, order)}`,
    values: [...what.values, ...terms.flatMap(({ values }) => values)],
  };
}

function orderBy(terms: readonly Term[], order: QueryOrder | undefined): string {
  if (order === undefined) return '';
  const key = expression(order);
  // SQLite does not notice that an expression has only one value here, and would sort the rows.
  const isOneValue = terms.some(
    ({ left, right }) => left === key && /^(?:= \?|IS NULL)$/.test(right),
  );
  const by = isOneValue || order.field === 'id' ? ['id'] : [key, 'id'];
  return ` ORDER BY ${by.map((one) => `${one} ${order.direction.toUpperCase()}`).join(', ')}`;
}

/** Returns the SQL expression for a field. */
export function expression({ field, declaredType }: QueryField): string {
  if (declaredType === 'text[]') return ''; // Arrays have no value to compare.
  return declaredType === undefined ? field : declaredExpression(field, declaredType);
}

/** Makes SQLite use only the index of the order: a unary plus keeps a term from using an index. */
export function alongOrder(terms: readonly Term[], order: QueryOrder): Term[] {
  const own = ['id', expression(order)];
  return terms.map((one) => (own.includes(one.left) ? one : { ...one, left: `+${one.left}` }));
}

/**
 * Returns the terms of each range that a page is read from, in turn, until the page is full:
 * SQLite reads one range of an index per statement. After a position, these are the records with the
 * same key and a later id, those with a later key, and, in descending order, those without a key.
 */
export function rangesOf(
  collection: Collection,
  { conditions, order, after }: PlainQuery,
): Term[][] {
  const termOf = (condition: Condition) => termFor(collection, condition);
  const terms = conditions.map(termOf);
  if (after === undefined) return [terms];
  const { key, id } = after;
  const isAscending = order.direction === 'asc';
  const by = expression(order);
  const right = isAscending ? '> ?' : '< ?';
  const afterId = { left: 'id', right, values: [id] };
  const isNull = { left: by, right: 'IS NULL', values: [] };
  const own = conditions.filter((one) => expression(one) === by);
  const allowsOnlyKey = (one: Condition) =>
    one.op === 'isNull' ? key === null : one.op === 'eq' && one.value === key;
  if (own.some(allowsOnlyKey)) return [[...terms, afterId]];
  const nulls = own.every(({ op }) => op === 'isNull') ? [[...terms, isNull]] : [];
  if (key === null) {
    const same = nulls.map((range) => [...range, afterId]);
    return isAscending ? [...same, [...terms, { ...isNull, right: 'IS NOT NULL' }]] : same;
  }
  const bounds = own.filter(isBound);
  const others = conditions.filter((one) => !isBound(one) || !own.includes(one)).map(termOf);
  const isWithin = ({ op, value }: Bound) => compareKeys(key, value) < 0 === (op === 'before');
  const sameKey = [...others, { left: by, right: '= ?', values: [key] }, afterId];
  const same = bounds.every(isWithin) ? [sameKey] : [];
  // SQLite seeks to one bound on this side, and would scan from there to the page.
  const start = bounds.find(({ op }) => op === (isAscending ? 'from' : 'before'));
  const distance = start === undefined ? 0 : compareKeys(key, start.value);
  if (isAscending ? distance < 0 : distance > 0) return [terms];
  const end = bounds.filter((one) => one !== start).map(termOf);
  const afterKey = [...others, ...end, { left: by, right, values: [key] }];
  return [...same, afterKey, ...(isAscending ? [] : nulls)];
}

type Bound = Condition & { readonly op: 'from' | 'before' };

function isBound(condition: Condition): condition is Bound {
  return condition.op === 'from' || condition.op === 'before';
}

const comparisons = { eq: '= ?', from: '>= ?', before: '< ?' } as const;

/** Returns the term for a condition. */
export function termFor(collection: Collection, condition: Condition): Term {
  if (condition.op === 'has') return hasElement(collection, condition);
  const left = expression(condition);
  if (condition.op === 'isNull') return { left, right: 'IS NULL', values: [] };
  if (condition.op === 'in') return { left, ...oneOf(condition.value) };
  const { op, value } = condition;
  // True and false as they are written in JSON.
  const parameter = typeof value === 'boolean' ? String(value) : value;
  return { left, right: comparisons[op], values: [parameter] };
}

type Has = Condition & { readonly op: 'has' };

export function isHas(condition: Condition): condition is Has {
  return condition.op === 'has';
}

/**
 * Tests whether the current row has an element, by a lookup in the table of elements.
 *
 * @param row the table or the alias that has the `createdAt` and `id`
 */
function hasElement(collection: Collection, { field, value }: Has, row: string = collection): Term {
  const table = elementsTable(collection, field);
  const place = `value = ? AND createdAt = ${row}.createdAt AND id = ${row}.id`;
  return { left: `EXISTS (SELECT 1 FROM "${table}" WHERE ${place})`, right: '', values: [value] };
}

/**
 * Starts from the elements with a value instead of the rows.
 *
 * @param others conditions that the elements meet too: a row is looked up only if all of them hold
 */
export function amongElements(
  collection: Collection,
  { field, value }: Has,
  others: readonly Has[],
): Term {
  const tests = others.map((one) => hasElement(collection, one, 'element'));
  const where = ['value = ?', ...tests.map(({ left }) => left)].join(' AND ');
  const right = `IN (SELECT id FROM "${elementsTable(collection, field)}" AS element WHERE ${where})`;
  const values = [value, ...tests.flatMap((one) => one.values)];
  return { left: `${collection}.id`, right, values };
}

/** Counts the records that have an element, up to a limit. */
export function countElements(collection: Collection, { field, value }: Has, limit: number): Sql {
  const table = elementsTable(collection, field);
  const sql = `SELECT count(*) FROM (SELECT 1 FROM "${table}" WHERE value = ? LIMIT ?)`;
  return { sql, values: [value, limit] };
}

/** Repeats the last value up to a power of two, so that a hundred lengths share eight statements. */
function oneOf(all: readonly string[]): Omit<Term, 'left'> {
  const length = 2 ** Math.ceil(Math.log2(all.length));
  const values = Array.from({ length }, (_, i) => all[i] ?? all.at(-1) ?? null);
  return { right: `IN (${values.map(() => '?').join(', ')})`, values };
}
