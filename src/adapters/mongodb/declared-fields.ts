import type { Db, IndexDescription, MongoServerError } from 'mongodb';
import {
  brokenDeclarationMessage,
  type DeclaredFields,
  type FieldDeclarations,
  fieldsIn,
  isSortable,
  notUniqueMessage,
} from '../../domain/fields/declared-fields.ts';
import type { JsonObject } from '../../domain/records/json.ts';
import type { Collection } from '../../domain/records/record.ts';
import { type MetaDocument, metaCollection } from './collections.ts';
import { fieldPath, readRecord, valueAt } from './documents.ts';
import { MongodbStoreError } from './errors.ts';

/** Returns the indexes for declared fields: for filters, sorts and unique values. */
export function declaredIndexes(
  collection: Collection,
  fields: FieldDeclarations = {},
): IndexDescription[] {
  return fieldsIn(fields).flatMap((declared) => {
    const path = fieldPath(collection, declared.name);
    // Documents without the field have no entry.
    const isPresent = { [path]: { $exists: true } };
    // Any number of records can have null.
    const hasValue = { [path]: { $type: ['string', 'number'] } };
    const filtered = { [path]: 1, createdAt: 1, _id: 1 };
    return [
      { name: `${path}_createdAt`, key: filtered, partialFilterExpression: isPresent },
      ...(isSortable(declared) ? [{ name: path, key: { [path]: 1, _id: 1 } }] : []),
      ...(declared.isUnique
        ? [
            {
              ...{ name: `${path}_unique`, key: { [path]: 1 } },
              ...{ unique: true, partialFilterExpression: hasValue },
            },
          ]
        : []),
    ];
  });
}

/** @throws MongodbStoreError if a stored record has a value of another type than a new declaration */
export async function checkRecords(db: Db, declaredFields: DeclaredFields): Promise<void> {
  const meta = db.collection<MetaDocument>(metaCollection);
  const declared = await meta.findOne({ _id: 'declared' });
  for (const collection of ['users', 'posts'] as const) {
    const fields = fieldsIn(declaredFields[collection]).filter(
      ({ name, type }) => valueAt(declared ?? {}, `${collection}.${name}`) !== type,
    );
    if (fields.length === 0) continue;
    const paths = fields.map(({ name }) => [fieldPath(collection, name), 1]);
    const projection = Object.fromEntries(paths);
    const documents = db.collection(collection).find<Buffer>({}, { projection, raw: true });
    for await (const document of documents) {
      const record: JsonObject = JSON.parse(readRecord(collection, document).json);
      const message = brokenDeclarationMessage(fields, collection, record);
      if (message !== undefined) throw new MongodbStoreError(message);
    }
  }
}

/** Records the types that {@link checkRecords} has checked. */
export async function recordDeclarations(db: Db, declaredFields: DeclaredFields): Promise<void> {
  const types = (['users', 'posts'] as const).flatMap((collection) =>
    fieldsIn(declaredFields[collection]).map(({ name, type }) => [`${collection}.${name}`, type]),
  );
  if (types.length === 0) return;
  const update = { $set: Object.fromEntries(types) };
  await db
    .collection<MetaDocument>(metaCollection)
    .updateOne({ _id: 'declared' }, update, { upsert: true });
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
