import { customEqualities } from '../../../domain/custom-filters.ts';
import { type CustomFilterFields, type CustomFilters, type CustomFilterType } from '../../../domain/declared-fields.ts';
import type { CustomFilter, EntityFilter } from '../../../domain/list.ts';
import type { Connection } from '../connection/connection.ts';
import type { Equality, ListScheme } from './plan.ts';

/** What SQLite calls the types (https://www.sqlite.org/json1.html#jtype). */
const jsonTypes: Readonly<Record<CustomFilterType, string>> = {
  text: "'text'",
  number: "'integer', 'real'",
  boolean: "'true', 'false'",
};

interface CustomIndex {
  readonly name: string;
  /** What is indexed: NULL for a value of another type. */
  readonly expression: string;
  readonly sql: string;
}

/**
 * The index of a custom field, which goes on with the order of a list that names no other. Posts are
 * sorted by `published_at` in the index alone.
 *
 * Numbers are compared as they are written, and JavaScript writes each in one way: SQLite before
 * 3.53 reads some as their neighbors.
 */
function customIndex(table: 'users' | 'posts', field: string, type: CustomFilterType): CustomIndex {
  const path = `'$."${field}"'`;
  const value = `record ${type === 'text' ? '->>' : '->'} ${path}`;
  const expression = `CASE WHEN json_type(record, ${path}) IN (${jsonTypes[type]}) THEN ${value} END`;
  const name = `${table}_own_${type}_${indexName(field)}`;
  const columns = `${expression}, created_at, id${table === 'posts' ? ', published_at' : ''}`;
  const sql = `CREATE INDEX "${name}" ON ${table} (${columns}) WHERE ${expression} IS NOT NULL`;
  return { name, expression, sql };
}

/** SQLite takes `slug` and `Slug` for one name; records do not. */
function indexName(field: string): string {
  return field.replace(/[^a-z0-9]/gu, (character) => {
    return `_${character.codePointAt(0)?.toString(16)}_`;
  });
}

/** The indexes for these filters that a file lacks. It keeps others: another process may use them. */
export function missingIndexes(
  connection: Connection,
  customFilters: CustomFilters,
): readonly CustomIndex[] {
  const wanted = (['users', 'posts'] as const).flatMap((table) =>
    Object.entries(customFilters[table] ?? {}).map(([field, type]) =>
      customIndex(table, field, type),
    ),
  );
  const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?";
  return wanted.filter(({ name }) => connection.get(sql, name) === undefined);
}

/** Lists that can be filtered by custom fields as well. */
export function withCustomFilters<Filter extends EntityFilter, Sort extends string>(
  scheme: ListScheme<Filter, Sort>,
  fields: CustomFilterFields = {},
): ListScheme<Filter, Sort> {
  return {
    ...scheme,
    equalities(filter) {
      const custom = customEqualitiesOf<Sort>(scheme.table, filter.custom, fields);
      const all = [...scheme.equalities(filter), ...custom];
      return all.sort((a, b) => Number(a.isBroad ?? false) - Number(b.isBroad ?? false));
    },
  };
}

function customEqualitiesOf<Sort extends string>(
  table: 'users' | 'posts',
  filter: CustomFilter | undefined,
  fields: CustomFilterFields,
): Equality<Sort>[] {
  return customEqualities(filter, fields).map(({ name, type, value }) => {
    const index = customIndex(table, name, type);
    return {
      column: index.expression,
      value: typeof value === 'string' ? value : JSON.stringify(value),
      index: `"${index.name}"`,
      ordered: { createdAt: `"${index.name}"` } as Equality<Sort>['ordered'],
      isBroad: type === 'boolean',
    };
  });
}
