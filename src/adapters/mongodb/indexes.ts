import {
  type Db,
  type IndexDescription,
  MongoNetworkTimeoutError,
  MongoServerError,
} from 'mongodb';
import type { CustomFilterFields, CustomFilters } from '../../domain/custom-filters.ts';
import { pathOf } from './documents.ts';
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

function customIndexes(fields: CustomFilterFields = {}): IndexDescription[] {
  return Object.entries(fields).map(([field, custom]) => {
    const path = pathOf({ field, custom });
    // Documents without the field have no entry.
    return {
      ...sorted(path, 'createdAt'),
      partialFilterExpression: { [path]: { $exists: true } },
    };
  });
}

/**
 * Builds the indexes that are missing. Safe to repeat, and from many processes at once. The index of a
 * custom field that is no longer declared stays, because another process may use it.
 *
 * @throws MongodbRefusal for an index with other options in the place of one of these
 */
export async function ensureIndexes(db: Db, { users, posts }: CustomFilters): Promise<void> {
  const wanted = Object.entries({
    ...indexes,
    users: [...indexes.users, ...customIndexes(users)],
    posts: [...indexes.posts, ...customIndexes(posts)],
  });
  await Promise.all(wanted.map(([collection, some]) => buildIndexes(db, collection, some)));
}

/** Sets no bound on the server: the index of a large collection may take its time. */
async function buildIndexes(
  db: Db,
  collection: string,
  wanted: readonly IndexDescription[],
): Promise<void> {
  for (;;) {
    try {
      await db.collection(collection).createIndexes([...wanted]);
      return;
    } catch (error) {
      // The bound of the socket: the next try waits for the same build again.
      if (error instanceof MongoNetworkTimeoutError) continue;
      if (!(error instanceof MongoServerError) || !conflicts.has(Number(error.code))) throw error;
      throw new MongodbRefusal(
        `An index of "${collection}" is in the place of one of Rostrum's and differs from it. ` +
          `Drop it, and Rostrum builds its own. (${error.errmsg})`,
      );
    }
  }
}

const conflicts = new Set([
  85, // IndexOptionsConflict
  86, // IndexKeySpecsConflict
]);
