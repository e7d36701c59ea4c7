import type { IndexDescription } from 'mongodb';

/** Where the ids of deleted records are, with their last versions. */
export const tombstoneCollections = { users: 'userTombstones', posts: 'postTombstones' } as const;

/** Facts about the whole database, one document each. */
export const metaCollection = 'rostrum';

export interface MetaDocument {
  readonly _id: 'layout' | 'log' | 'filling';
  readonly [fact: string]: unknown;
}

/** The title of the rules of declared fields in a validator, which tells them from those of the operator. */
export const validatorTitle = 'Rostrum';

/** Returns a sort index on these fields, then on the id. Text sorts by byte, and so by code point. */
const sortIndex = (...fields: readonly string[]): IndexDescription => ({
  name: fields.join('_'),
  key: Object.fromEntries([...fields, '_id'].map((field) => [field, 1])),
});

/** The collections, and the indexes that they have without declared fields. */
export const collectionIndexes = {
  users: [
    ...['createdAt', 'updatedAt', 'nameKey', 'emailKey'].map((field) => sortIndex(field)),
    {
      name: 'emailKey_unique',
      key: { emailKey: 1 },
      unique: true,
      partialFilterExpression: { emailKey: { $type: 'string' } },
    },
  ],
  posts: [
    ...['createdAt', 'updatedAt', 'titleKey', 'publishedAt'].map((field) => sortIndex(field)),
    sortIndex('authorId', 'createdAt'),
    sortIndex('authorId', 'publishedAt'),
  ],
  receipts: [{ name: 'expires', key: { expires: 1 }, expireAfterSeconds: 0 }],
  userTombstones: [{ name: '_id_', key: { _id: 1 } }],
  postTombstones: [{ name: '_id_', key: { _id: 1 } }],
} satisfies Record<string, readonly IndexDescription[]>;
