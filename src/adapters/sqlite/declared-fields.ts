import { fieldTaken } from '../../domain/errors.ts';
import {
  addDeclarations,
  type CollectionField,
  DeclarationError,
  type DeclaredFields,
  type DeclaredType,
  notUnique,
  StoredRecordsCheck,
} from '../../domain/fields/declared-fields.ts';
import { declaredValue } from '../../domain/lists/search.ts';
import type { Collection, Id } from '../../domain/records/record.ts';
import type { Connection } from './connection/connection.ts';
import { hasCode } from './connection/errors.ts';
import { writeTransaction } from './connection/last-commit.ts';
import { storedRecords } from './layout.ts';

export interface StoredField extends CollectionField {
  /** See the table `fields` in `layout.ts`. */
  readonly pending: number;
}

/** Returns the declared fields of a file, as of the open transaction: other processes can change them. */
export function storedFields(connection: Connection): readonly StoredField[] {
  type Row = [Collection, string, DeclaredType, number, number];
  return connection
    .all<Row>('SELECT collection, name, type, isUnique, pending FROM fields')
    .map(([collection, name, type, isUnique, pending]) => {
      return { collection, name, type, isUnique: isUnique === 1, pending };
    });
}

/**
 * Returns the SQL expression for a declared field. It is the one that a person writes in the `sqlite3` shell, so
 * that their queries use the index as well.
 */
export function declaredExpression(name: string): string {
  return `json ->> '${name}'`;
}

/**
 * Returns the name of a declared field's index. Its other index and its triggers add a suffix. No index of a known field
 * has this name.
 */
function schemaName(collection: Collection, name: string): string {
  // Names in SQLite ignore case, and names of fields don't.
  const code = (character: string) => `_${character.codePointAt(0)?.toString(16)}_`;
  return `${collection}_declared_${name.replace(/[^a-z0-9]/gu, code)}`;
}

function createIndexes(field: CollectionField): string {
  const { collection, name, isUnique } = field;
  const [value, index] = [declaredExpression(name), schemaName(collection, name)];
  // The id serves lists that are sorted by this field; the other columns cover the default orders.
  const columns = collection === 'posts' ? 'id, createdAt, publishedAt' : 'id, createdAt';
  const unique = `CREATE UNIQUE INDEX ${index}_unique ON ${collection} (${value}) WHERE ${value} IS NOT NULL`;
  return `CREATE INDEX ${index} ON ${collection} (${value}, ${columns}); ${isUnique ? unique : ''}`;
}

/**
 * Adds the elements of an array that all records have, and the triggers that keep them up to date. The elements of a new
 * record are added by the store: for a trigger, SQLite would copy each page that an insert changes.
 */
function createElements(field: CollectionField): string {
  const { collection, name } = field;
  const elementsOf = (record: string, from = '') =>
    `SELECT '${collection}', '${name}', value, ${record}.createdAt, ${record}.id
      FROM ${from} json_each(${record}.json -> '${name}')`;
  // Ignores duplicates, and null, which stands for a missing array.
  const add = 'INSERT OR IGNORE INTO elements';
  const added = `${add} ${elementsOf('new')};`;
  const removed = `DELETE FROM elements
    WHERE (collection, field, value, createdAt, id) IN (${elementsOf('old')});`;
  const changed = `${schemaName(collection, name)}_changed`;
  return `
    ${add} ${elementsOf('record', `${collection} AS record,`)};
    CREATE TRIGGER ${changed}_delete AFTER DELETE ON ${collection} BEGIN ${removed} END;
    CREATE TRIGGER ${changed} AFTER UPDATE OF json, createdAt ON ${collection}
      WHEN new.json -> '${name}' IS NOT old.json -> '${name}' OR new.createdAt <> old.createdAt
      BEGIN ${removed} ${added} END;`;
}

/**
 * Adds the declared fields that the file lacks, and completes those that are pending.
 *
 * @returns all declared fields of the file
 * @throws DeclarationError if the file declares a field otherwise, or if stored records break a declaration
 */
export function declareFields(
  connection: Connection,
  declaredFields: DeclaredFields,
): DeclaredFields {
  // Other processes may add, complete and remove the same fields.
  for (;;) {
    const fields = storedFields(connection);
    const { all, missing } = addDeclarations(fields, declaredFields);
    if (missing.length > 0) {
      addPending(connection, declaredFields);
      continue;
    }
    const pending = fields.filter((field) => field.pending !== 0);
    if (pending.length === 0) return all;
    completeFields(connection, pending);
  }
}

/** In one transaction: other processes obey either all of these fields or none. */
function addPending(connection: Connection, declaredFields: DeclaredFields): void {
  const sql = 'INSERT INTO fields VALUES (?, ?, ?, ?, abs(random() % 1000000000) + 1)';
  writeTransaction(connection, () => {
    const { missing } = addDeclarations(storedFields(connection), declaredFields);
    for (const { collection, name, type, isUnique } of missing) {
      connection.run(sql, collection, name, type, Number(isUnique));
    }
  });
}

function completeFields(connection: Connection, pending: readonly StoredField[]): void {
  try {
    const check = new StoredRecordsCheck(pending);
    for (const collection of new Set(pending.map((field) => field.collection))) {
      for (const [, json] of storedRecords(connection, collection)) {
        check.add(collection, JSON.parse(json));
      }
    }
    check.end();
    for (const field of pending) completeField(connection, field);
  } catch (error) {
    // A locked file or a full disk does not mean that a record breaks the declaration.
    if (!(error instanceof DeclarationError)) throw error;
    const remove = 'DELETE FROM fields WHERE collection = ? AND name = ? AND pending = ?';
    writeTransaction(connection, () => {
      for (const { collection, name, pending: mark } of pending) {
        connection.run(remove, collection, name, mark);
      }
    });
    throw error;
  }
}

function completeField(connection: Connection, field: StoredField): void {
  const { collection, name, type, pending } = field;
  const sql = 'UPDATE fields SET pending = 0 WHERE collection = ? AND name = ? AND pending = ?';
  writeTransaction(connection, () => {
    // Another process may have completed the declaration, or removed it because of a record.
    if (connection.run(sql, collection, name, pending) === 0) return;
    try {
      connection.exec(type === 'text[]' ? createElements(field) : createIndexes(field));
    } catch (error) {
      throw hasCode(error, 'constraint') ? duplicateError(connection, field) : error;
    }
  });
}

function duplicateError(connection: Connection, field: StoredField) {
  const { collection, name } = field;
  const value = declaredExpression(name);
  const ids = connection.get<[Id, Id]>(
    `SELECT min(id), max(id) FROM ${collection} WHERE ${value} IS NOT NULL
      GROUP BY ${value} HAVING count(*) > 1 LIMIT 1`,
  );
  return notUnique(field, ids ?? []);
}

/** Removes a declaration with its indexes or elements, in the open transaction. */
export function removeField(connection: Connection, collection: Collection, name: string): void {
  connection.run('DELETE FROM fields WHERE collection = ? AND name = ?', collection, name);
  connection.run('DELETE FROM elements WHERE collection = ? AND field = ?', collection, name);
  const index = schemaName(collection, name);
  connection.exec(`
    DROP INDEX IF EXISTS ${index}; DROP INDEX IF EXISTS ${index}_unique;
    DROP TRIGGER IF EXISTS ${index}_changed; DROP TRIGGER IF EXISTS ${index}_changed_delete`);
}

/** @throws RostrumError `field-taken` if another record has a unique value of this one */
export function checkUnique(
  connection: Connection,
  fields: readonly StoredField[],
  record: { readonly id: Id },
): void {
  for (const { collection, name, isUnique } of fields) {
    const same = `SELECT 1 FROM ${collection} WHERE ${declaredExpression(name)} = ? AND id <> ?`;
    const values = [declaredValue(record, name), record.id];
    if (isUnique && connection.get(same, ...values)) throw fieldTaken(name);
  }
}
