import { fieldTaken } from '../../domain/errors.ts';
import {
  brokenDeclarationMessage,
  type DeclaredField,
  type DeclaredFields,
  fieldsIn,
  notUniqueMessage,
} from '../../domain/fields/declared-fields.ts';
import { declaredValue } from '../../domain/lists/search.ts';
import type { JsonObject } from '../../domain/records/json.ts';
import type { Collection, Id } from '../../domain/records/record.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Connection } from './connection/connection.ts';
import { hasCode, SqliteStoreError } from './connection/errors.ts';
import { storedRecords } from './layout.ts';

/**
 * Returns the SQL expression for a declared field. It is the one that a person writes in the `sqlite3` shell, so
 * that their queries use the index as well.
 */
export function declaredExpression(name: string): string {
  return `json ->> '${name}'`;
}

/** Returns the declared fields that the file does not know, or has no index of. */
export function missingFields(connection: Connection, declaredFields: DeclaredFields) {
  const known = `SELECT 1 FROM fields WHERE collection = ? AND name = ? AND type = ?
    AND EXISTS (SELECT 1 FROM sqlite_schema WHERE sqlite_schema.name = ?)`;
  return (['users', 'posts'] as const).flatMap((collection) =>
    fieldsIn(declaredFields[collection])
      .filter((field) => {
        const { name, type } = field;
        return !connection.get(known, collection, name, type, indexOf(collection, field));
      })
      .map((field) => ({ collection, field })),
  );
}

/** Names the index that a declaration adds, or the trigger of an array. */
function indexOf(collection: Collection, { name, type, isUnique }: DeclaredField): string {
  // Names in SQLite ignore case, and names of fields don't.
  const code = (character: string) => `_${character.codePointAt(0)?.toString(16)}_`;
  const index = `${collection}_${name.replace(/[^a-z0-9]/gu, code)}`;
  if (type === 'text[]') return `${index}_changed`;
  return isUnique ? `${index}_unique` : index;
}

function createIndexes(collection: Collection, field: DeclaredField): string {
  const value = declaredExpression(field.name);
  // The id serves lists that are sorted by this field; the other columns cover the default orders.
  const columns = collection === 'posts' ? 'id, createdAt, publishedAt' : 'id, createdAt';
  const index = indexOf(collection, { ...field, isUnique: false });
  const unique = `CREATE UNIQUE INDEX IF NOT EXISTS ${indexOf(collection, field)}
    ON ${collection} (${value}) WHERE ${value} IS NOT NULL`;
  return `CREATE INDEX IF NOT EXISTS ${index} ON ${collection} (${value}, ${columns});
    ${field.isUnique ? unique : ''}`;
}

/**
 * Adds the elements of an array that all records have, and the triggers that keep them up to date. The elements of a new
 * record are added by the store: for a trigger, SQLite would copy each page that an insert changes.
 */
function createElements(collection: Collection, field: DeclaredField): string {
  const { name } = field;
  const elementsOf = (record: string, from = '') =>
    `SELECT '${collection}', '${name}', value, ${record}.createdAt, ${record}.id
      FROM ${from} json_each(${record}.json -> '${name}')`;
  // Ignores duplicates, and null, which stands for a missing array.
  const add = 'INSERT OR IGNORE INTO elements';
  const added = `${add} ${elementsOf('new')};`;
  const removed = `DELETE FROM elements
    WHERE (collection, field, value, createdAt, id) IN (${elementsOf('old')});`;
  const changed = indexOf(collection, field);
  return `
    DELETE FROM elements WHERE collection = '${collection}' AND field = '${name}';
    ${add} ${elementsOf('record', `${collection} AS record,`)};
    CREATE TRIGGER IF NOT EXISTS ${changed}_delete AFTER DELETE ON ${collection} BEGIN ${removed} END;
    CREATE TRIGGER IF NOT EXISTS ${changed} AFTER UPDATE OF json, createdAt ON ${collection}
      WHEN new.json -> '${name}' IS NOT old.json -> '${name}' OR new.createdAt <> old.createdAt
      BEGIN ${removed} ${added} END;`;
}

/**
 * Adds missing declared fields, in the open transaction.
 *
 * @throws SqliteStoreError if stored records break a declaration
 */
export function declareFields(
  connection: Connection,
  declaredFields: DeclaredFields,
  logger: Logger,
): void {
  const missing = Map.groupBy(
    missingFields(connection, declaredFields),
    ({ collection }) => collection,
  );
  for (const [collection, all] of missing) {
    const fields = all.map(({ field }) => field);
    checkRecords(connection, collection, fields);
    for (const field of fields) {
      const start = performance.now();
      declareField(connection, collection, field);
      const seconds = Number(((performance.now() - start) / 1000).toFixed(1));
      logger.info({ collection, field: field.name, seconds }, 'Indexed a declared field.');
    }
  }
}

function declareField(connection: Connection, collection: Collection, field: DeclaredField): void {
  const { name, type, isUnique } = field;
  connection.run(
    `INSERT INTO fields VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET type = excluded.type, isUnique = max(isUnique, excluded.isUnique)`,
    ...[collection, name, type, Number(isUnique)],
  );
  try {
    connection.exec((type === 'text[]' ? createElements : createIndexes)(collection, field));
  } catch (error) {
    if (!hasCode(error, 'constraint')) throw error;
    throw duplicateError(connection, collection, name);
  }
}

/** @throws SqliteStoreError if a stored record has a value of another type than declared */
function checkRecords(
  connection: Connection,
  collection: Collection,
  fields: readonly DeclaredField[],
): void {
  for (const [, json] of storedRecords(connection, collection)) {
    const message = brokenDeclarationMessage(fields, collection, JSON.parse(json) as JsonObject);
    if (message !== undefined) throw new SqliteStoreError('store-breaks-declaration', message);
  }
}

function duplicateError(connection: Connection, collection: Collection, name: string) {
  const value = declaredExpression(name);
  const ids = connection.get<[Id, Id]>(
    `SELECT min(id), max(id) FROM ${collection} WHERE ${value} IS NOT NULL
      GROUP BY ${value} HAVING count(*) > 1 LIMIT 1`,
  );
  const message = notUniqueMessage(name, collection, ids ?? []);
  return new SqliteStoreError('store-breaks-declaration', message);
}

/** @throws RostrumError `field-taken` if another record has a unique value of this one */
export function checkUnique(
  connection: Connection,
  collection: Collection,
  record: { readonly id: Id },
): void {
  const sql = 'SELECT name FROM fields WHERE collection = ? AND isUnique';
  for (const [name] of connection.all<[string]>(sql, collection)) {
    const same = `SELECT 1 FROM ${collection} WHERE ${declaredExpression(name)} = ? AND id <> ?`;
    if (connection.get(same, declaredValue(record, name), record.id)) throw fieldTaken(name);
  }
}
