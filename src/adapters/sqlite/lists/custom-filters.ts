import {
  type CustomFilterFields,
  type CustomFilters,
  type CustomFilterType,
  customEqualities,
} from '../../../domain/custom-filters.ts';
import type { CustomFilter, EntityFilter } from '../../../domain/list.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Connection } from '../connection/connection.ts';
import type { Equality, ListScheme } from './lists.ts';

/** What SQLite calls the types (https://www.sqlite.org/json1.html#jtype). */
const jsonTypes: Readonly<Record<CustomFilterType, string>> = {
  text: "'text'",
  number: "'integer', 'real'",
  boolean: "'true', 'false'",
};

interface OwnIndex {
  readonly name: string;
  /** What is indexed: NULL for a value of another type. */
  readonly expression: string;
  readonly sql: string;
}

/**
 * The index of a custom field, which goes on with the order of a list that names no other.
 *
 * Numbers are compared as they are written, and JavaScript writes each in one way: SQLite before
 * 3.53 reads some as their neighbors.
 */
function ownIndex(table: 'users' | 'posts', field: string, type: CustomFilterType): OwnIndex {
  const path = `'$."${field}"'`;
  const value = `record ${type === 'text' ? '->>' : '->'} ${path}`;
  const expression = `CASE WHEN json_type(record, ${path}) IN (${jsonTypes[type]}) THEN ${value} END`;
  const name = `${table}_own_${type}_${indexName(field)}`;
  const columns = `${expression}, created_at, id`;
  const sql = `CREATE INDEX "${name}" ON ${table} (${columns}) WHERE ${expression} IS NOT NULL`;
  return { name, expression, sql };
}

/** SQLite takes `slug` and `Slug` for one name; records do not. */
function indexName(field: string): string {
  return field.replace(/[^a-z0-9]/gu, (character) => {
    return `_${character.codePointAt(0)?.toString(16)}_`;
  });
}

/** The indexes that a file lacks, and those of fields that are no longer declared. */
function staleIndexes(connection: Connection, customFilters: CustomFilters) {
  const wanted = (['users', 'posts'] as const).flatMap((table) =>
    Object.entries(customFilters[table] ?? {}).map(([field, type]) => ownIndex(table, field, type)),
  );
  const select = `SELECT name, sql FROM sqlite_schema
    WHERE type = 'index' AND (name GLOB 'users_own_*' OR name GLOB 'posts_own_*')`;
  const found = connection.all<[name: string, sql: string]>(select);
  return {
    dropped: found.filter(([, sql]) => !wanted.some((index) => index.sql === sql)),
    missing: wanted.filter(({ sql }) => !found.some((index) => index[1] === sql)),
  };
}

/** Whether a file has the indexes for these filters, and no others. */
export function hasOwnIndexes(connection: Connection, customFilters: CustomFilters): boolean {
  const { dropped, missing } = staleIndexes(connection, customFilters);
  return dropped.length + missing.length === 0;
}

/** Makes the indexes that are missing, and drops the others, in the transaction that is open. */
export function syncOwnIndexes(
  connection: Connection,
  customFilters: CustomFilters,
  logger?: Logger,
): void {
  const { dropped, missing } = staleIndexes(connection, customFilters);
  for (const [name] of dropped) connection.exec(`DROP INDEX "${name}"`);
  for (const { name, sql } of missing) {
    logger?.info({ index: name }, 'An index for a filter on a custom field is being made.');
    connection.exec(sql);
  }
}

/** Lists that can be filtered by custom fields as well. */
export function withCustomFilters<Filter extends EntityFilter, Sort extends string>(
  scheme: ListScheme<Filter, Sort>,
  fields: CustomFilterFields = {},
): ListScheme<Filter, Sort> {
  return {
    ...scheme,
    equalities(filter) {
      const own = ownEqualitiesOf<Sort>(scheme.table, filter.custom, fields);
      const all = [...scheme.equalities(filter), ...own];
      return all.sort((a, b) => Number(a.isBroad ?? false) - Number(b.isBroad ?? false));
    },
  };
}

function ownEqualitiesOf<Sort extends string>(
  table: 'users' | 'posts',
  own: CustomFilter | undefined,
  fields: CustomFilterFields,
): Equality<Sort>[] {
  return customEqualities(own, fields).map(({ name, type, value }) => {
    const index = ownIndex(table, name, type);
    return {
      column: index.expression,
      value: typeof value === 'string' ? value : JSON.stringify(value),
      index: `"${index.name}"`,
      ordered: { createdAt: `"${index.name}"` } as Equality<Sort>['ordered'],
      isBroad: type === 'boolean',
    };
  });
}
