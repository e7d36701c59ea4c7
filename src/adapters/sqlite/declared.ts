import { fieldTaken } from '../../domain/errors.ts';
import {
  brokenDeclarationMessage,
  type DeclaredField,
  type DeclaredFields,
  type DeclaredType,
  fieldsIn,
  notUniqueMessage,
} from '../../domain/fields/declared-fields.ts';
import type { JsonObject } from '../../domain/records/json.ts';
import type { Collection, Id } from '../../domain/records/record.ts';
import type { Logger } from '../../ports/logger.ts';
import { type Connection, pragma, type SqlValue } from './connection/connection.ts';
import { hasCode, SqliteStoreError } from './connection/errors.ts';

// Declared custom fields. The data file has an index on an expression for each field, a second one if it is
// unique, and a table of elements for each array. They are derived from the JSON, so a server without the
// declaration keeps them up to date too.

/** SQLite's names of the types (https://www.sqlite.org/json1.html#jtype), and the expression that reads a value. */
const jsonTypes = {
  text: ["'text'", (path: string) => `json ->> ${path}`],
  // As REAL, so that 5 and 5.0 are one value. SQLite before 3.53 may read a number as the one next to it.
  number: ["'integer', 'real'", (path: string) => `CAST(json ->> ${path} AS REAL)`],
  boolean: ["'true', 'false'", (path: string) => `json -> ${path}`],
} as const;

type ScalarType = keyof typeof jsonTypes;

/** Returns the SQL expression for a declared custom field: NULL for a value of another type. */
export function declaredExpression(field: string, type: ScalarType): string {
  const path = pathOf(field);
  const [types, read] = jsonTypes[type];
  return `CASE WHEN json_type(json, ${path}) IN (${types}) THEN ${read(path)} END`;
}

function pathOf(field: string): string {
  return `'$."${field}"'`;
}

type Kind = DeclaredType | 'unique_text' | 'unique_number';

/** Encodes every character of the field except a–z and 0–9: names in SQLite ignore case, field names don't. */
function nameOf(collection: Collection, kind: Kind, field: string): string {
  const code = (character: string) => `_${character.codePointAt(0)?.toString(16)}_`;
  const type = kind === 'text[]' ? 'list' : kind;
  return `${collection}_${type}_${field.replace(/[^a-z0-9]/gu, code)}`;
}

/** Returns the field in a name that {@link nameOf} made. */
function fieldIn(name: string, prefix: string): string {
  const code = (_: string, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16));
  return name.slice(prefix.length).replace(/_([0-9a-f]+)_/g, code);
}

/** Returns the name of the table of an array's elements. */
export function elementsTable(collection: Collection, field: string): string {
  return nameOf(collection, 'text[]', field);
}

/** Returns the SQL for a declared field, keyed by the names of tables and indexes. */
function statementsFor(collection: Collection, { name, type, isUnique }: DeclaredField) {
  const own = nameOf(collection, type, name);
  if (type === 'text[]') return { [own]: elementsSql(collection, name) };
  const value = declaredExpression(name, type);
  // The id serves sorts by this field; the other columns cover the default orders.
  const others = collection === 'posts' ? 'createdAt, publishedAt' : 'createdAt';
  const index = `CREATE INDEX "${own}" ON ${collection} (${value}, id, ${others})`;
  if (!isUnique) return { [own]: index };
  const unique = nameOf(collection, `unique_${type as 'text' | 'number'}`, name);
  return {
    [own]: index,
    [unique]: `CREATE UNIQUE INDEX "${unique}" ON ${collection} (${value}) WHERE ${value} IS NOT NULL`,
  };
}

/** The primary key has the order of the default list. */
function elementsSql(collection: Collection, field: string): string {
  const table = elementsTable(collection, field);
  return `CREATE TABLE "${table}" (value TEXT NOT NULL, createdAt TEXT NOT NULL, id TEXT NOT NULL,
      PRIMARY KEY (value, createdAt, id)) STRICT, WITHOUT ROWID;
    ${addElements(collection, field, 'true')}`;
}

/**
 * Selects the texts in the arrays of the records that meet a condition.
 *
 * @param records a table or subquery with the columns `json`, `createdAt` and `id`
 */
function elementsOf(records: string, field: string, condition: string): string {
  const path = pathOf(field);
  return `SELECT element.value, record.createdAt, record.id
    FROM ${records} AS record, json_each(record.json, ${path}) AS element
    WHERE ${condition} AND json_type(record.json, ${path}) = 'array' AND element.type = 'text'`;
}

function addElements(collection: Collection, field: string, condition: string): string {
  const elements = elementsOf(collection, field, condition);
  return `INSERT OR IGNORE INTO "${elementsTable(collection, field)}" ${elements}`;
}

/** Creates the missing tables and indexes of declared fields, in the open transaction. */
export function declareFields(
  connection: Connection,
  declaredFields: DeclaredFields,
  logger: Logger,
): void {
  const missing = missingParts(connection, declaredFields);
  for (const [collection, parts] of Map.groupBy(missing, (part) => part.collection)) {
    checkRecords(connection, collection, [...new Set(parts.map(({ field }) => field))]);
  }
  for (const { collection, field, name, sql } of missing) {
    const start = performance.now();
    try {
      connection.exec(sql);
    } catch (error) {
      if (!hasCode(error, 'constraint')) throw error;
      throw duplicateError(connection, collection, field);
    }
    const seconds = Number(((performance.now() - start) / 1000).toFixed(1));
    logger.info({ collection, field: field.name, index: name, seconds }, 'Built an index.');
  }
}

/** Returns the missing tables and indexes of declared fields. */
export function missingParts(connection: Connection, declaredFields: DeclaredFields) {
  const known = new Set(schemaNames(connection));
  return (['users', 'posts'] as const).flatMap((collection) =>
    fieldsIn(declaredFields[collection]).flatMap((field) =>
      Object.entries(statementsFor(collection, field))
        .filter(([name]) => !known.has(name))
        .map(([name, sql]) => ({ collection, field, name, sql })),
    ),
  );
}

/** Returns the names of all tables and indexes. */
function schemaNames(connection: Connection): string[] {
  return connection.all<[string]>('SELECT name FROM sqlite_schema').flat();
}

/** @throws SqliteStoreError if a stored record has a value of another type than declared */
function checkRecords(
  connection: Connection,
  collection: Collection,
  fields: readonly DeclaredField[],
): void {
  const sql = `SELECT rowid, json FROM ${collection} WHERE rowid > ? ORDER BY rowid LIMIT 100`;
  let rows = connection.all<[number, string]>(sql, 0);
  while (rows.length > 0) {
    for (const [, json] of rows) {
      const message = brokenDeclarationMessage(fields, collection, JSON.parse(json) as JsonObject);
      if (message !== undefined) throw new SqliteStoreError('store-breaks-declaration', message);
    }
    rows = connection.all(sql, rows.at(-1)?.[0] ?? 0);
  }
}

function duplicateError(
  connection: Connection,
  collection: Collection,
  { name, type }: DeclaredField,
) {
  const value = declaredExpression(name, type as ScalarType);
  const ids = connection.get<[Id, Id]>(
    `SELECT min(id), max(id) FROM ${collection} WHERE ${value} IS NOT NULL
      GROUP BY ${value} HAVING count(*) > 1 LIMIT 1`,
  );
  const message = notUniqueMessage(name, collection, ids ?? []);
  return new SqliteStoreError('store-breaks-declaration', message);
}

/** Maintains the tables of elements, and looks up unique values. */
export class FieldIndexes {
  readonly #connection: Connection;
  readonly #collection: Collection;
  #version: SqlValue | undefined;
  #arrays: readonly string[] = [];

  constructor(connection: Connection, collection: Collection) {
    this.#connection = connection;
    this.#collection = collection;
  }

  /** Adds the elements of a stored record. */
  add(id: Id): void {
    for (const field of this.#arrayFields()) {
      this.#connection.run(addElements(this.#collection, field, 'record.id = ?'), id);
    }
  }

  /**
   * Replaces the elements of a record. Call it after the record was written: a rejected change must keep them.
   *
   * @param storedJson the JSON that was stored
   */
  replace(storedJson: string, after: { readonly id: Id; readonly createdAt: string }): void {
    const arrays = this.#arrayFields();
    if (arrays.length === 0) return;
    const stored = JSON.parse(storedJson) as { readonly createdAt: string };
    const hasChanged = [...arrays, 'createdAt'].some(
      (name) =>
        JSON.stringify(Reflect.get(stored, name)) !== JSON.stringify(Reflect.get(after, name)),
    );
    if (!hasChanged) return;
    for (const field of arrays) {
      const elements = elementsOf('(SELECT ? AS json, ? AS createdAt, ? AS id)', field, 'true');
      this.#delete(field, elements, storedJson, stored.createdAt, after.id);
    }
    this.add(after.id);
  }

  /**
   * Removes the elements of the records with a value in a column. Call it before they are deleted.
   */
  remove(column: 'id' | 'authorId', value: string): void {
    for (const field of this.#arrayFields()) {
      this.#delete(field, elementsOf(this.#collection, field, `record.${column} = ?`), value);
    }
  }

  #delete(field: string, elements: string, ...values: SqlValue[]): void {
    const table = elementsTable(this.#collection, field);
    const sql = `DELETE FROM "${table}" WHERE (value, createdAt, id) IN (${elements})`;
    this.#connection.run(sql, ...values);
  }

  /** @throws RostrumError `field-taken` when another record has a unique value of this one */
  checkUnique(record: { readonly id: Id }): void {
    const prefix = (type: string) => `${this.#collection}_unique_${type}_`;
    const names = schemaNames(this.#connection);
    for (const type of ['text', 'number'] as const) {
      for (const name of names.filter((one) => one.startsWith(prefix(type)))) {
        const field = fieldIn(name, prefix(type));
        const value: unknown = Reflect.get(record, field);
        if (typeof value !== (type === 'text' ? 'string' : 'number')) continue;
        const sql = `SELECT 1 FROM ${this.#collection} WHERE ${declaredExpression(field, type)} = ? AND id <> ?`;
        if (this.#connection.get(sql, value as SqlValue, record.id)) throw fieldTaken(field);
      }
    }
  }

  /** Returns the arrays that the file has tables for. Another process may have added some. */
  #arrayFields(): readonly string[] {
    const version = pragma(this.#connection, 'schema_version');
    if (version !== this.#version) {
      const prefix = `${this.#collection}_list_`;
      const names = schemaNames(this.#connection);
      this.#arrays = names.filter((name) => name.startsWith(prefix)).map((n) => fieldIn(n, prefix));
      this.#version = version;
    }
    return this.#arrays;
  }
}
