import type { Condition, ListQuery, QueryField } from '../../../domain/list.ts';
import type { Collection } from '../../../domain/record.ts';
import { compareText } from '../../../domain/text.ts';
import type { SqlValue } from '../connection/connection.ts';
import { customExpression } from './custom-fields.ts';

/** A statement, or a part of one, with the values of its parameters. */
export interface Sql {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

type PageQuery = Pick<ListQuery, 'conditions' | 'order' | 'after'>;

/** One range of the rows behind a position, in the order of the list. */
export interface Range {
  /** Builds the statement that selects an expression for each row. Its last parameter is the LIMIT. */
  select(what: Sql): Sql;
  /** Builds the same by the index of the order alone. */
  walk(what: Sql): Sql;
  /** Builds the statement that returns a row when more than so many rows match: its last parameter. */
  readonly isBroad: Sql;
}

/**
 * Returns the ranges that a page is read from, one after another until the page is full: SQLite reads one
 * range of an index per statement.
 */
export function pageRanges(collection: Collection, query: PageQuery): Range[] {
  const { field, direction } = query.order;
  const [by, way] = [expression(query.order), direction.toUpperCase()];
  const order = field === 'id' ? `id ${way}` : `${by} ${way}, id ${way}`;
  return rangesOf({ ...query, conditions: tightest(query.conditions) }).map((terms) => {
    const select = (what: Sql, all: readonly Sql[]): Sql => {
      const { sql, values } = where(all);
      return {
        sql: `SELECT ${what.sql} FROM ${collection}${sql} ORDER BY ${order} LIMIT ?`,
        values: [...what.values, ...values],
      };
    };
    const { sql, values } = where(terms);
    return {
      select: (what) => select(what, terms),
      // SQLite enters no index by an expression with a plus sign.
      walk: (what) =>
        select(
          what,
          terms.map((one) =>
            one.sql.startsWith(by) || one.sql.startsWith('id ')
              ? one
              : { ...one, sql: `+${one.sql}` },
          ),
        ),
      isBroad: { sql: `SELECT 1 FROM ${collection}${sql} LIMIT 1 OFFSET ?`, values },
    };
  });
}

/** Builds the statement that counts the records that match. */
export function countStatement(collection: Collection, conditions: readonly Condition[]): Sql {
  const { sql, values } = where(tightest(conditions).map(termOf));
  return { sql: `SELECT count(*) FROM ${collection}${sql}`, values };
}

/** Returns the SQL expression for a field. */
export function expression({ field, custom }: QueryField): string {
  return custom === undefined ? field : customExpression(field, custom);
}

/**
 * Returns the terms of each range that a page is read from. Behind a position these are the records with
 * the same key and an id behind its id, those with a key behind its key, and, descending, those without
 * a key.
 */
function rangesOf({ conditions, order, after }: PageQuery): Sql[][] {
  const terms = conditions.map(termOf);
  if (after === undefined) return [terms];
  const { key, id } = after;
  const isUp = order.direction === 'asc';
  const [by, behind] = [expression(order), isUp ? '>' : '<'];
  const behindId = { sql: `id ${behind} ?`, values: [id] };
  const own = conditions.filter((one) => expression(one) === by);
  // The conditions allow one key alone.
  const isHeld = own.some((one) => (one.op === 'isNull' ? key === null : isEqual(one, key)));
  if (isHeld) return [[...terms, behindId]];
  const hasNull = own.every(({ op }) => op === 'isNull');
  const isNull = { sql: `${by} IS NULL`, values: [] };
  if (key === null) {
    const same = hasNull ? [[...terms, isNull, behindId]] : [];
    return isUp ? [...same, [...terms, { sql: `${by} IS NOT NULL`, values: [] }]] : same;
  }
  // SQLite enters the index by one bound on this side, and would walk to the page by the other.
  const bound = own.find(isBound(isUp ? 'from' : 'before'));
  const distance = bound === undefined ? 0 : compareText(key, bound.value);
  if (isUp ? distance < 0 : distance > 0) return [terms];
  const others = conditions.filter((one) => one !== bound).map(termOf);
  return [
    [...terms, { sql: `${by} = ?`, values: [key] }, behindId],
    [...others, { sql: `${by} ${behind} ?`, values: [key] }],
    ...(hasNull && !isUp ? [[...terms, isNull]] : []),
  ];
}

function isEqual(condition: Condition, key: string | null): boolean {
  return condition.op === 'eq' && condition.value === key;
}

/** Leaves the tightest `from` and `before` of each field: SQLite enters an index by one of each. */
function tightest(conditions: readonly Condition[]): Condition[] {
  return conditions.filter((one) => {
    if (one.op !== 'from' && one.op !== 'before') return true;
    const rivals = conditions.filter(isBound(one.op)).filter((other) => isSameField(one, other));
    const distances = rivals.map((other) => compareText(one.value, other.value));
    const isTight = distances.every((by) => (one.op === 'from' ? by >= 0 : by <= 0));
    return isTight && rivals.findIndex(({ value }) => value === one.value) === rivals.indexOf(one);
  });
}

type Bound = Condition & { readonly op: 'from' | 'before' };

const isBound =
  (op: Bound['op']) =>
  (condition: Condition): condition is Bound =>
    condition.op === op;

function isSameField(one: QueryField, other: QueryField): boolean {
  return one.field === other.field && one.custom === other.custom;
}

function termOf(condition: Condition): Sql {
  const left = expression(condition);
  switch (condition.op) {
    case 'isNull':
      return { sql: `${left} IS NULL`, values: [] };
    case 'in':
      return isOneOf(left, condition.value);
    case 'eq':
      return { sql: `${left} = ?`, values: [jsonOrText(condition.value)] };
    default:
      return {
        sql: `${left} ${condition.op === 'from' ? '>=' : '<'} ?`,
        values: [condition.value],
      };
  }
}

/** Numbers, true and false as they are written in JSON. */
function jsonOrText(value: string | number | boolean): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Repeats the last value up to a power of two, so that a hundred lengths share eight statements. */
function isOneOf(left: string, all: readonly string[]): Sql {
  const length = 2 ** Math.ceil(Math.log2(all.length));
  const values = Array.from({ length }, (_, i) => all[i] ?? all.at(-1) ?? null);
  return { sql: `${left} IN (${values.map(() => '?').join(', ')})`, values };
}

function where(terms: readonly Sql[]): Sql {
  const sql = terms.map((one) => one.sql).join(' AND ');
  return { sql: sql && ` WHERE ${sql}`, values: terms.flatMap((one) => one.values) };
}
