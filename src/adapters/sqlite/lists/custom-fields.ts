import type { CustomFilters, CustomFilterType } from '../../../domain/custom-filters.ts';
import type { Collection } from '../../../domain/record.ts';
import type { Connection } from '../connection/connection.ts';

/** SQLite's names of the types (https://www.sqlite.org/json1.html#jtype). */
const jsonTypes: Readonly<Record<CustomFilterType, string>> = {
  text: "'text'",
  number: "'integer', 'real'",
  boolean: "'true', 'false'",
};

/**
 * Returns the SQL expression for a declared custom field: NULL for a value of another type.
 *
 * Numbers are compared as they are written. JavaScript writes each number in one way, and SQLite before
 * 3.53 reads some as their neighbors.
 */
export function customExpression(field: string, type: CustomFilterType): string {
  const path = `'$."${field}"'`;
  const value = `json ${type === 'text' ? '->>' : '->'} ${path}`;
  return `CASE WHEN json_type(json, ${path}) IN (${jsonTypes[type]}) THEN ${value} END`;
}

/** Returns the statement for each index on a custom field that the file lacks, by the index's name. */
export function missingIndexes(
  connection: Connection,
  customFilters: CustomFilters,
): ReadonlyMap<string, string> {
  const missing = new Map<string, string>();
  for (const collection of ['users', 'posts'] as const) {
    for (const [field, type] of Object.entries(customFilters[collection] ?? {})) {
      const name = indexName(collection, field, type);
      const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?";
      if (connection.get(sql, name) !== undefined) continue;
      const value = customExpression(field, type);
      // Behind the value come the fields that such a list is sorted by.
      const order = collection === 'posts' ? 'createdAt, id, publishedAt' : 'createdAt, id';
      missing.set(
        name,
        `CREATE INDEX "${name}" ON ${collection} (${value}, ${order}) WHERE ${value} IS NOT NULL`,
      );
    }
  }
  return missing;
}

/** Index names ignore case and field names do not, so every other character stands as its code. */
function indexName(collection: Collection, field: string, type: CustomFilterType): string {
  const code = (character: string) => `_${character.codePointAt(0)?.toString(16)}_`;
  return `${collection}_custom_${type}_${field.replace(/[^a-z0-9]/gu, code)}`;
}
