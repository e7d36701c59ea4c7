import { type Db, type Document, MongoNetworkTimeoutError } from 'mongodb';
import type { CustomFilters } from '../../../domain/declared-fields.ts';
import { collectionNames } from './collections.ts';
import { type Index, indexesFor } from './indexes.ts';
import { MongodbRefusal } from './refusal.ts';

type Wanted = Readonly<Record<string, Index>>;

/**
 * Makes the collections and indexes that are missing. Safe to repeat, and from many processes at
 * once. The index of a custom field that is no longer declared stays: another process may use it.
 *
 * @throws MongodbRefusal when something else is in their place
 */
export async function ensureSchema(db: Db, customFilters: CustomFilters = {}): Promise<void> {
  const indexes = indexesFor(customFilters);
  const found = await checkCollections(db, Object.values(collectionNames));
  await Promise.all(
    (['users', 'posts'] as const).map(async (resource) => {
      const [name, wanted] = [collectionNames[resource], indexes[resource]];
      if (found.includes(name)) await checkIndexes(db, name, wanted);
      await makeIndexes(db, name, wanted);
    }),
  );
}

async function makeIndexes(db: Db, collection: string, wanted: Wanted): Promise<void> {
  // Also when all are there, because the server lists those that it still builds. No bound on the
  // server: the index of a large collection may take its time.
  const specs = Object.entries(wanted).map(([name, index]) => ({ name, ...index }));
  for (;;) {
    try {
      await db.collection(collection).createIndexes(specs);
      return;
    } catch (error) {
      // The bound of the socket: the next try waits for the same build again.
      if (error instanceof MongoNetworkTimeoutError) continue;
      await checkIndexes(db, collection, wanted); // Another one may just have been made.
      throw error;
    }
  }
}

/**
 * A default collation would order text in another way.
 *
 * @returns which of these collections are there
 * @throws MongodbRefusal for what is no plain collection
 */
export async function checkCollections(db: Db, names: readonly string[]): Promise<string[]> {
  const named = { name: { $in: [...names] } };
  const found = await db.listCollections(named, { nameOnly: false }).toArray();
  for (const { name, type, options = {} } of found) {
    if (type === 'collection' && !options.collation && !options.capped) continue;
    throw new MongodbRefusal(
      `"${name}" is there and is not a plain collection (but a view, capped, or with a collation). ` +
        'Remove it and let Rostrum make its own, or use another database.',
    );
  }
  return found.map(({ name }) => name);
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
