import type { Db, Document } from 'mongodb';
import type { CustomFilters } from '../../../domain/custom-filters.ts';
import { type Index, indexesFor } from './indexes.ts';

/**
 * What Rostrum will not run on: a server that is too old, a database of a later version, or one
 * that holds something else where its collections or indexes would be.
 */
export class MongodbRefusal extends Error {
  override readonly name = 'MongodbRefusal';
  readonly code = 'store-refused';
}

/**
 * The version of what is stored. It grows when a version of Rostrum can no longer read or write
 * what a later one stores. A database that does not say is of version 1.
 */
const schemaVersion = 1;

/** Where the version is kept: one document. */
export const metaCollection = 'rostrum';

type Wanted = Readonly<Record<string, Index>>;

/**
 * Makes the collections and indexes that are missing. Safe to repeat, and from many processes at
 * once. The index of a custom field that is no longer declared stays: another process may use it.
 *
 * @throws MongodbRefusal when something else is in their place
 */
export async function ensureSchema(db: Db, customFilters: CustomFilters = {}): Promise<void> {
  await ensureVersion(db);
  const indexes = indexesFor(customFilters);
  const names = Object.keys(indexes);
  const found = await db.listCollections({ name: { $in: names } }, { nameOnly: false }).toArray();
  for (const { name, type, options } of found) checkCollection(name, type ?? '', options ?? {});
  await Promise.all(
    Object.entries(indexes).map(async ([name, wanted]) => {
      if (found.some((collection) => collection.name === name))
        await checkIndexes(db, name, wanted);
      await makeIndexes(db, name, wanted);
    }),
  );
}

async function ensureVersion(db: Db): Promise<void> {
  const meta = db.collection<{ _id: string; version: number }>(metaCollection);
  const found = await meta.findOne({ _id: 'schema' });
  const version = found?.version ?? schemaVersion;
  if (!(version <= schemaVersion)) {
    throw new MongodbRefusal(
      `A later version of Rostrum has written this database (its schema is ${version}, and this ` +
        `version of Rostrum knows ${schemaVersion}). Run that version, or use another database.`,
    );
  }
  if (found === null) {
    const change = { $max: { version: schemaVersion } };
    await meta.updateOne({ _id: 'schema' }, change, { upsert: true });
  }
}

async function makeIndexes(db: Db, collection: string, wanted: Wanted): Promise<void> {
  // Also when all are there, because the server lists those that it still builds. No bound on the
  // server: the index of a large collection may take its time. When the bound of the socket comes
  // first, the next try waits for the same build again.
  const specs = Object.entries(wanted).map(([name, index]) => ({ name, ...index }));
  try {
    await db.collection(collection).createIndexes(specs);
  } catch (error) {
    await checkIndexes(db, collection, wanted); // Another one may just have been made.
    throw error;
  }
}

/** A default collation would order text in another way. */
function checkCollection(name: string, type: string, options: Document): void {
  if (type === 'collection' && !options.collation && !options.capped) return;
  throw new MongodbRefusal(
    `"${name}" is there and is not a plain collection (but a view, capped, or with a collation). ` +
      'Remove it and let Rostrum make its own, or use another database.',
  );
}

/** @throws MongodbRefusal for an index that is there and should be another */
async function checkIndexes(db: Db, collection: string, wanted: Wanted): Promise<void> {
  for (const { name = '', ...found } of await db.collection(collection).listIndexes().toArray()) {
    const ours = wanted[name];
    if (ours !== undefined && essence(ours) === essence(found)) continue;
    const key = JSON.stringify(found.key);
    const likeOurs = Object.values(wanted).some((one) => JSON.stringify(one.key) === key);
    if (ours === undefined && !likeOurs) continue;
    throw new MongodbRefusal(
      `The index "${name}" of "${collection}" is in the place of one of Rostrum's and differs ` +
        'from it. Drop it, and Rostrum makes its own.',
    );
  }
}

/** All of an index that changes what it does. */
function essence(index: Index | Document): string {
  const options: Document = index;
  const { key, unique = false, sparse = false, hidden = false, collation = null } = options;
  const { partialFilterExpression = null, expireAfterSeconds = null } = options;
  return JSON.stringify([
    ...[key, unique, sparse, hidden],
    ...[collation, partialFilterExpression, expireAfterSeconds],
  ]);
}
