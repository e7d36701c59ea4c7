import type { Condition, QueryField } from '../../../domain/lists/list.ts';
import type { Collection } from '../../../domain/records/record.ts';
import type { SqlValue } from '../connection/connection.ts';
import { declaredExpression } from '../declared-fields.ts';
import { listIndexes } from '../layout.ts';
import {
  isBound,
  isOneValue,
  type PlainQuery,
  type Predicate,
  type Range,
  splitConditions,
} from './ranges.ts';

/** A statement, or a part of one, with the values of its parameters. */
export interface Sql {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** A condition on an array, whose elements are in a table of their own. */
export type Has = Condition & { readonly op: 'has' };

export function isHas(condition: Condition): condition is Has {
  return condition.op === 'has';
}

/** Returns the SQL expression for a field. */
export function expression({ field, declaredType }: QueryField, table: string): string {
  return `${table}.${declaredType === undefined ? field : declaredExpression(field)}`;
}

/** An index along which a list is read in its order. */
interface Index {
  readonly from: string;
  /** The table that has the sort key and the id. */
  readonly table: string;
  /** A condition that all records in one part of the index meet, and its term. */
  readonly served?: Condition | undefined;
  readonly terms: readonly Sql[];
}

/** Builds the statements of a list. */
export class ListSql {
  /**
   * True for a page that is read from one index, in its order, and without rows that don't match. That takes 0.3 ms
   * per 100 records, however deep the page is.
   */
  readonly isIndexOrderedRead: boolean;
  readonly #collection: Collection;
  readonly #query: PlainQuery;
  /** The elements, with the records that have them. */
  readonly #join: string;

  constructor(collection: Collection, query: PlainQuery) {
    this.#collection = collection;
    this.#query = query;
    this.#join = `${elements} CROSS JOIN ${collection} ON ${collection}.id = element.id`;
    const { own, others } = splitConditions(query);
    const isOneRange = own.every(isBound) || (own.length === 1 && own.every(isOneValue));
    const { served } = this.#index(others.find(isHas));
    this.isIndexOrderedRead = isOneRange && others.every((one) => one === served);
  }

  /** Selects the records of a range along an index: no other condition can use one. Ends with LIMIT. */
  along(columns: Sql, range: Range, element?: Has): Sql {
    const { from, table, served, terms } = this.#index(element);
    const others = splitConditions(this.#query).others.filter((one) => one !== served);
    const { sql, values } = select(columns, from, [
      ...terms,
      ...this.#rangeTerms(range, table),
      ...others.map((one) => this.#term(one, one.op === 'has' ? table : this.#collection, '+')),
    ]);
    return { sql: `${sql}${this.#orderBy(range, table)} LIMIT ?`, values };
  }

  /**
   * Selects the records of a range by sorting all that match, without their JSON. CROSS JOIN makes the sorted rows the
   * outer loop, which keeps their order (https://www.sqlite.org/optoverview.html#crossjoin). Ends with LIMIT.
   */
  sorted(columns: Sql, range: Range, start?: Has): Sql {
    const collection = this.#collection;
    const rowid = { sql: `${collection}.rowid AS row`, values: [] };
    const { sql, values } = this.matching(rowid, start, this.#rangeTerms(range, collection, '+'));
    return {
      sql: `SELECT ${columns.sql} FROM (${sql}${this.#orderBy(range, collection, '+')} LIMIT ?)
        CROSS JOIN ${collection} ON ${collection}.rowid = row`,
      values: [...columns.values, ...values],
    };
  }

  /**
   * Selects everything that matches.
   *
   * @param start finds the matches by the elements of this condition
   * @param range further terms; without them, elements are enough if all conditions are on arrays
   */
  matching(columns: Sql, start?: Has, range?: readonly Sql[]): Sql {
    const { conditions } = this.#query;
    const isElements = start !== undefined && range === undefined && conditions.every(isHas);
    const terms = conditions.map((one) =>
      one === start ? this.#isElement(one) : this.#term(one, isElements ? 'element' : undefined),
    );
    const from = isElements ? elements : start ? this.#join : this.#collection;
    return select(columns, from, [...terms, ...(range ?? [])]);
  }

  /** Selects the elements of a condition. */
  elementsOf(columns: Sql, condition: Has): Sql {
    return select(columns, elements, [this.#isElement(condition)]);
  }

  /** @param element the elements to start from, if the list has their order */
  #index(element: Has | undefined): Index {
    const { conditions, order } = this.#query;
    const collection = this.#collection;
    if (element !== undefined && order.field === 'createdAt') {
      const terms = [this.#isElement(element)];
      return { from: this.#join, table: 'element', served: element, terms };
    }
    const served = conditions.filter(isOneValue).find(({ field }) => {
      const columns = `${field}, ${order.field}, id`;
      return listIndexes[collection].some((index) => index.startsWith(columns));
    });
    const terms = served === undefined ? [] : [this.#term(served)];
    return { from: collection, table: collection, served, terms };
  }

  #rangeTerms({ key, id }: Range, table: string, plus = ''): readonly Sql[] {
    return [...key, ...(id ? [id] : [])].map((one) => this.#term(one, table, plus));
  }

  #orderBy({ isOneKey }: Range, table: string, plus = ''): string {
    const { direction, ...field } = this.#query.order;
    // With one key, SQLite would not notice that an expression has only one value, and sort the rows.
    const by = isOneKey ? [{ field: 'id' }] : [field, { field: 'id' }];
    const terms = by.map((one) => `${plus}${expression(one, table)} ${direction.toUpperCase()}`);
    return ` ORDER BY ${terms.join(', ')}`;
  }

  /**
   * Returns the term of a WHERE clause.
   *
   * @param plus a unary plus, which keeps SQLite from using an index
   */
  #term(test: Predicate, table: string = this.#collection, plus = ''): Sql {
    if (test.op === 'has') return this.#hasElement(test, table);
    const left = plus + expression(test, table);
    if (test.op === 'isNull') return { sql: `${left} IS NULL`, values: [] };
    if (test.op === 'in') return oneOf(left, test.value);
    const { op, value } = test;
    // `->>` returns true and false as 1 and 0.
    const values = [typeof value === 'boolean' ? Number(value) : value];
    return { sql: `${left} ${operators[op]} ?`, values };
  }

  #isElement({ field, value }: Has, table = 'element'): Sql {
    const sql = `${table}.collection = ? AND ${table}.field = ? AND ${table}.value = ?`;
    return { sql, values: [this.#collection, field, value] };
  }

  /** Looks up an element. The plus and the outer SELECT keep the planner from joining 64 tables, which takes seconds. */
  #hasElement(condition: Has, table: string): Sql {
    const { sql, values } = this.#isElement(condition, 'other');
    const same = `other.createdAt = ${table}.createdAt AND other.id = ${table}.id`;
    const exists = `EXISTS (SELECT 1 FROM elements AS other WHERE ${sql} AND ${same})`;
    return { sql: `+(SELECT ${exists})`, values };
  }
}

const elements = 'elements AS element';
const operators = { eq: '=', from: '>=', before: '<' } as const;

function select(columns: Sql, from: string, terms: readonly Sql[]): Sql {
  const where = terms.map(({ sql }) => sql).join(' AND ');
  return {
    sql: `SELECT ${columns.sql} FROM ${from}${where && ` WHERE ${where}`}`,
    values: [...columns.values, ...terms.flatMap(({ values }) => values)],
  };
}

/** Repeats the last value up to a power of two, so that a hundred lengths share eight statements. */
function oneOf(left: string, all: readonly string[]): Sql {
  const length = 2 ** Math.ceil(Math.log2(all.length));
  const values = Array.from({ length }, (_, i) => all[i] ?? all.at(-1) ?? null);
  return { sql: `${left} IN (${values.map(() => '?').join(', ')})`, values };
}
