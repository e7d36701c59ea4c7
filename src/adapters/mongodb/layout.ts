import {
  type Db,
  type IndexDescription,
  MongoNetworkTimeoutError,
  MongoServerError,
} from 'mongodb';
import type { DeclaredFields } from '../../domain/fields/declared-fields.ts';
import type { Logger } from '../../ports/logger.ts';
import { checkRecords, declaredIndexes, duplicateError } from './declared-fields.ts';
import { codes, MongodbStoreError } from './errors.ts';

/** Where the ids of deleted records are. The records themselves are in `users` and `posts`. */
export const deletedCollections = { users: 'deletedUsers', posts: 'deletedPosts' } as const;

/** Facts about the whole database, one document each. */
export const metaCollection = 'rostrum';

export interface MetaDocument {
  readonly _id: 'layout' | 'log' | 'filling' | 'schema';
  readonly [fact: string]: unknown;
}

/** The layout version. It increases when older versions of Rostrum can no longer read or write the data. */
const layoutVersion = 1;

/** Returns a sort index on these fields, then on the id. Text sorts by byte, and so by code point. */
const sorted = (...fields: readonly string[]): IndexDescription => ({
  name: fields.join('_'),
  key: Object.fromEntries([...fields, '_id'].map((field) => [field, 1])),
});

/** The collections, and the indexes that they have without declared fields. */
export const indexes = {
  users: [
    ...['createdAt', 'updatedAt', 'nameKey', 'emailKey'].map((field) => sorted(field)),
    {
      name: 'emailKey_unique',
      key: { emailKey: 1 },
      unique: true,
      partialFilterExpression: { emailKey: { $type: 'string' } },
    },
  ],
  posts: [
    ...['createdAt', 'updatedAt', 'titleKey', 'publishedAt'].map((field) => sorted(field)),
    sorted('authorId', 'createdAt'),
    sorted('authorId', 'publishedAt'),
  ],
  receipts: [{ name: 'expires', key: { expires: 1 }, expireAfterSeconds: 0 }],
  deletedUsers: [{ name: '_id_', key: { _id: 1 } }],
  deletedPosts: [{ name: '_id_', key: { _id: 1 } }],
} satisfies Record<string, readonly IndexDescription[]>;

/**
 * Marks a new database with its layout version, creates the collections (so that no transaction has to), and builds the
 * missing indexes. Safe to repeat, and to run in many processes at once. Keeps the index of a custom field that
 * is no longer declared, because another process may use it.
 *
 * @throws MongodbStoreError for a database that this version does not understand
 */
export async function ensureLayout(
  db: Db,
  { users, posts }: DeclaredFields,
  logger: Logger,
): Promise<void> {
  const filter = { name: { $in: Object.keys(indexes) } };
  const found = await db.listCollections(filter, { nameOnly: false }).toArray();
  for (const { name, type, options = {} } of found) {
    // A default collation would sort text in another order.
    if (type === 'collection' && !options.collation && !options.capped) continue;
    throw new MongodbStoreError(
      `"${name}" is not a plain collection (it is a view, is capped, or has a collation). ` +
        'Remove it and let Rostrum create its own, or use another database.',
    );
  }
  // After the check above, so that a database with such a collection is not marked.
  await ensureMark(db);
  const wanted = Object.entries({
    ...indexes,
    users: [...indexes.users, ...declaredIndexes(users)],
    posts: [...indexes.posts, ...declaredIndexes(posts)],
  });
  const names = found.map(({ name }) => name);
  if (names.includes('users')) await checkRecords(db, 'users', users);
  if (names.includes('posts')) await checkRecords(db, 'posts', posts);
  await Promise.all(wanted.map(([collection, list]) => buildIndexes(db, collection, list, logger)));
}

const preRelease =
  'This database was made by a pre-release. Export it with the version that made it, then run import --keep-ids.';

async function ensureMark(db: Db): Promise<void> {
  const meta = db.collection<MetaDocument>(metaCollection);
  const layout = await meta.findOne({ _id: 'layout' });
  if (layout?.version === layoutVersion) return;
  if (layout !== null) {
    throw new MongodbStoreError(
      'This database was made by a later version of Rostrum. Run that version, or use another database.',
    );
  }
  if ((await meta.findOne({ _id: 'schema' })) !== null) throw new MongodbStoreError(preRelease);
  for (const name of ['users', 'posts']) {
    const document = await db.collection(name).findOne();
    if (document === null) continue;
    // Another process may have marked the database since, and then written to it.
    if ((await meta.findOne({ _id: 'layout' })) !== null) return ensureMark(db);
    const foreign = `The collection "${name}" has documents from another program. Use another database.`;
    throw new MongodbStoreError('record' in document ? preRelease : foreign);
  }
  const mark = { $setOnInsert: { version: layoutVersion } };
  await meta.updateOne({ _id: 'layout' }, mark, { upsert: true });
}

/** Creates indexes and their collection. Sets no time limit, because indexing a large collection takes long. */
async function buildIndexes(
  db: Db,
  collection: string,
  wanted: readonly IndexDescription[],
  logger: Logger,
): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      const reply = await db.command({ createIndexes: collection, indexes: [...wanted] });
      const count = reply.numIndexesAfter - reply.numIndexesBefore;
      const seconds = Number(((performance.now() - start) / 1000).toFixed(1));
      if (count > 0) logger.info({ collection, count, seconds }, 'Built indexes.');
      return;
    } catch (error) {
      // The socket timed out: the next try waits for the same build.
      if (error instanceof MongoNetworkTimeoutError) continue;
      if (!(error instanceof MongoServerError)) throw error;
      if (error.code === codes.duplicateKey) throw await duplicateError(db, collection, error);
      if (error.code === codes.cannotCreateIndex) {
        throw new MongodbStoreError(
          `MongoDB cannot build an index on "${collection}": a sharded collection cannot have unique fields. (${error.errmsg})`,
        );
      }
      if (!codes.indexConflicts.has(Number(error.code))) throw error;
      throw new MongodbStoreError(
        `An index on "${collection}" conflicts with one that Rostrum needs. ` +
          `Drop it: Rostrum creates its own. (${error.errmsg})`,
      );
    }
  }
}
