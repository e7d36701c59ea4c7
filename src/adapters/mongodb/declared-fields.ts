import type { Db, IndexDescription, MongoServerError } from 'mongodb';
import {
  brokenDeclarationMessage,
  type FieldDeclarations,
  fieldsIn,
  isSortable,
  notUniqueMessage,
} from '../../domain/fields/declared-fields.ts';
import type { JsonObject } from '../../domain/records/json.ts';
import type { Collection } from '../../domain/records/record.ts';
import { allParts, pathOf, type StoredRecord, versionedOf } from './documents.ts';
import { MongodbStoreError } from './errors.ts';

/** Returns the indexes for declared fields: for filters, sorts and unique values. */
export function declaredIndexes(fields: FieldDeclarations = {}): IndexDescription[] {
  return fieldsIn(fields).flatMap((declared) => {
    const path = pathOf({ field: declared.name, declaredType: declared.type });
    // Documents without the field have no entry.
    const partialFilterExpression = { [path]: { $exists: true } };
    const filtered = { [path]: 1, createdAt: 1, _id: 1 };
    return [
      { name: `${path}_createdAt`, key: filtered, partialFilterExpression },
      ...(isSortable(declared) ? [{ name: path, key: { [path]: 1, _id: 1 } }] : []),
      ...(declared.isUnique
        ? [{ name: `${path}_unique`, key: { [path]: 1 }, unique: true, partialFilterExpression }]
        : []),
    ];
  });
}

/** @throws MongodbStoreError if a stored record has a value of another type than a new declaration */
export async function checkRecords(
  db: Db,
  collection: Collection,
  declarations: FieldDeclarations = {},
): Promise<void> {
  const records = db.collection<StoredRecord>(collection);
  const names = new Set((await records.indexes()).map(({ name }) => name));
  const fields = fieldsIn(declarations).filter(({ name: field, type: declaredType }) => {
    return !names.has(`${pathOf({ field, declaredType })}_createdAt`);
  });
  if (fields.length === 0) return;
  for await (const stored of records.find<StoredRecord>({}, { projection: allParts })) {
    const { record } = versionedOf<JsonObject>(stored);
    const message = brokenDeclarationMessage(fields, collection, record);
    if (message !== undefined) throw new MongodbStoreError(message);
  }
}

/** Returns the error for two stored records that break a new unique declaration. */
export async function duplicateError(
  db: Db,
  collection: string,
  { keyValue = {} }: MongoServerError,
): Promise<MongodbStoreError> {
  const [path = '', value] = Object.entries(keyValue)[0] ?? [];
  const two = await db
    .collection<{ _id: string }>(collection)
    .find({ [path]: value }, { projection: { _id: 1 }, limit: 2 })
    .toArray();
  const field = path.split('.').at(-1) ?? path;
  const ids = two.map(({ _id }) => _id);
  return new MongodbStoreError(notUniqueMessage(field, collection, ids));
}
