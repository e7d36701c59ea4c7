import type { Collection, Id } from '../../domain/records/record.ts';
import type { Connection, SqlValue } from './connection/connection.ts';

// The elements of declared arrays: a row for each text of each record. The rows are derived from the JSON by the
// declarations in the file, so a server without a declaration keeps them up to date too.

/** Adds the elements of a stored record. */
export function addElements(
  connection: Connection,
  collection: Collection,
  record: { readonly id: Id },
): void {
  if (!Object.values(record).some(Array.isArray)) return;
  connection.run(insert(collection, stored(collection, 'id = ?')), record.id);
}

/** Adds the elements of one field, of all records. */
export function fillElements(connection: Connection, collection: Collection, field: string): void {
  // They are there if the field was declared as an array before.
  connection.run('DELETE FROM elements WHERE collection = ? AND field = ?', collection, field);
  connection.run(`${insert(collection, stored(collection, 'true'))} AND field.name = ?`, field);
}

/** Removes the elements of the records with a value in a column. Call it before they are deleted. */
export function removeElements(
  connection: Connection,
  collection: Collection,
  column: 'id' | 'authorId',
  value: string,
): void {
  connection.run(remove(collection, stored(collection, `${column} = ?`)), value);
}

/**
 * Replaces the elements of a record. Call it after the record was written: a rejected change must keep them.
 *
 * @param storedJson the JSON that was stored
 */
export function replaceElements(
  connection: Connection,
  collection: Collection,
  storedJson: string,
  record: { readonly id: Id; readonly createdAt: string },
): void {
  const arrays = "SELECT name FROM fields WHERE collection = ? AND type = 'text[]'";
  const names = connection.all<[string]>(arrays, collection).flat();
  if (names.length === 0) return;
  const before = JSON.parse(storedJson) as { readonly createdAt: string };
  const hasChanged = [...names, 'createdAt'].some(
    (name) =>
      JSON.stringify(Reflect.get(before, name)) !== JSON.stringify(Reflect.get(record, name)),
  );
  if (!hasChanged) return;
  const values: SqlValue[] = [storedJson, before.createdAt, record.id];
  connection.run(remove(collection, 'SELECT ? AS json, ? AS createdAt, ? AS id'), ...values);
  addElements(connection, collection, record);
}

function stored(collection: Collection, condition: string): string {
  return `SELECT json, createdAt, id FROM ${collection} WHERE ${condition}`;
}

/** Ignores duplicates, and null, which stands for a missing array. */
function insert(collection: Collection, records: string): string {
  return `INSERT OR IGNORE INTO elements ${elementsOf(collection, records)}`;
}

function remove(collection: Collection, records: string): string {
  const key = '(collection, field, value, createdAt, id)';
  return `DELETE FROM elements WHERE ${key} IN (${elementsOf(collection, records)})`;
}

function elementsOf(collection: Collection, records: string): string {
  return `SELECT field.collection, field.name, element.value, record.createdAt, record.id
    FROM fields AS field, (${records}) AS record, json_each(record.json -> field.name) AS element
    WHERE field.collection = '${collection}' AND field.type = 'text[]'`;
}
