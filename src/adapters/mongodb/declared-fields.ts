import type { Db, IndexDescription, MongoServerError } from 'mongodb';
import {
  arrayTooLongMessage,
  type FieldDeclarations,
  fieldsIn,
  isSortable,
  notUniqueMessage,
} from '../../domain/declared-fields.ts';
import type { Collection } from '../../domain/record.ts';
import { longListPath, pathOf } from './documents.ts';
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

/** @throws MongodbStoreError if a stored record's array is too long for a new declaration */
export async function checkArrays(
  db: Db,
  collection: Collection,
  fields: FieldDeclarations = {},
): Promise<void> {
  for (const { name: field, type: declaredType } of fieldsIn(fields)) {
    if (declaredType !== 'text[]') continue;
    const records = db.collection<{ _id: string }>(collection);
    if (await records.indexExists(`${pathOf({ field, declaredType })}_createdAt`)) continue;
    const found = await records.findOne({ [longListPath(field)]: true });
    if (found === null) continue;
    throw new MongodbStoreError(arrayTooLongMessage(field, collection, found._id));
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
