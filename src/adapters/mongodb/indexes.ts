import {
  type Db,
  type IndexDescription,
  MongoNetworkTimeoutError,
  MongoServerError,
} from 'mongodb';
import {
  type CustomFilterFields,
  type CustomFilters,
  declaredFields,
  isSortable,
  maxListLength,
} from '../../domain/declared-fields.ts';
import type { Collection } from '../../domain/record.ts';
import type { Logger } from '../../ports/logger.ts';
import { longListPath, pathOf } from './documents.ts';
import { MongodbRefusal } from './errors.ts';
import { receiptCollection } from './layout.ts';

/** An index of a sort: by a field, then by id. All indexes order text by its bytes, so by code point. */
const sorted = (...fields: readonly string[]): IndexDescription => ({
  name: fields.join('_'),
  key: Object.fromEntries([...fields, '_id'].map((field) => [field, 1])),
});

/** Every index that is always there, by collection. */
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
  [receiptCollection]: [{ name: 'expires', key: { expires: 1 }, expireAfterSeconds: 0 }],
} satisfies Record<string, readonly IndexDescription[]>;

/** The indexes of a declared field: for filters, for a sort by it, and for unique values. */
function customIndexes(fields: CustomFilterFields = {}): IndexDescription[] {
  return declaredFields(fields).flatMap((declared) => {
    const path = pathOf({ field: declared.name, custom: declared.type });
    // Documents without the field have no entry.
    const partialFilterExpression = { [path]: { $exists: true } };
    return [
      { ...sorted(path, 'createdAt'), partialFilterExpression },
      ...(isSortable(declared) ? [sorted(path)] : []),
      ...(declared.isUnique
        ? [{ name: `${path}_unique`, key: { [path]: 1 }, unique: true, partialFilterExpression }]
        : []),
    ];
  });
}

/** @throws MongodbRefusal when a stored record breaks a declaration that is new here */
async function checkStored(db: Db, collection: Collection, fields: CustomFilterFields = {}) {
  for (const { name, type } of declaredFields(fields)) {
    if (type !== 'text[]') continue;
    const indexName = sorted(pathOf({ field: name, custom: type }), 'createdAt').name ?? '';
    const records = db.collection<{ _id: string }>(collection);
    if (await records.indexExists(indexName)) continue;
    const found = await records.findOne({ [longListPath(name)]: true });
    if (found === null) continue;
    throw new MongodbRefusal(
      `"${name}" cannot be declared as text[]: it has more than ${maxListLength} elements in the ${collection.slice(0, -1)} ${found._id}. Shorten it, or start without the declaration.`,
    );
  }
}

/**
 * Builds the indexes that are missing. Safe to repeat, and from many processes at once. The index of a
 * custom field that is no longer declared stays, because another process may use it.
 *
 * @throws MongodbRefusal for an index with other options in the place of one of these
 */
export async function ensureIndexes(
  db: Db,
  { users, posts }: CustomFilters,
  logger: Logger,
): Promise<void> {
  const wanted = Object.entries({
    ...indexes,
    users: [...indexes.users, ...customIndexes(users)],
    posts: [...indexes.posts, ...customIndexes(posts)],
  });
  await checkStored(db, 'users', users);
  await checkStored(db, 'posts', posts);
  await Promise.all(wanted.map(([collection, some]) => buildIndexes(db, collection, some, logger)));
}

/** Sets no bound on the server: the index of a large collection may take its time. */
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
      // The bound of the socket: the next try waits for the same build again.
      if (error instanceof MongoNetworkTimeoutError) continue;
      if (!(error instanceof MongoServerError)) throw error;
      if (error.code === duplicateKey) throw await duplicateRefusal(db, collection, error);
      if (error.code === cannotCreate) {
        throw new MongodbRefusal(
          `MongoDB cannot build an index of "${collection}": a sharded collection cannot have unique fields. (${error.errmsg})`,
        );
      }
      if (!conflicts.has(Number(error.code))) throw error;
      throw new MongodbRefusal(
        `An index of "${collection}" is in the place of one of Rostrum's and differs from it. ` +
          `Drop it, and Rostrum builds its own. (${error.errmsg})`,
      );
    }
  }
}

/** Names two records that break a new unique declaration. */
async function duplicateRefusal(
  db: Db,
  collection: string,
  { keyValue = {} }: MongoServerError,
): Promise<MongodbRefusal> {
  const [path = '', value] = Object.entries(keyValue)[0] ?? [];
  const two = await db
    .collection<{ _id: string }>(collection)
    .find({ [path]: value }, { projection: { _id: 1 }, limit: 2 })
    .toArray();
  const ids = two.map(({ _id }) => _id).join(' and ');
  return new MongodbRefusal(
    `"${path.split('.').at(-1)}" cannot be unique: the ${collection} ${ids} have the same value. Change one of them, or start without the declaration.`,
  );
}

const duplicateKey = 11_000;
const cannotCreate = 67;

const conflicts = new Set([
  85, // IndexOptionsConflict
  86, // IndexKeySpecsConflict
]);
