import type { Db, Document } from 'mongodb';
import { metaCollection } from '../../../src/adapters/mongodb/schema/collections.ts';
import { toStoredPost, toStoredUser } from '../../../src/adapters/mongodb/schema/documents.ts';
import type { Post } from '../../../src/domain/post.ts';
import type { User } from '../../../src/domain/user.ts';

type Stored = Document & { readonly _id: string };

/** A user's document of version 1, which had no key of the name. */
export function oldUser(user: User, version = 1): Stored {
  const { nameKey, ...stored } = toStoredUser(user, version);
  return stored;
}

/** A post's document of version 1; `publishedAt` was a custom field there, if it was given. */
export function oldPost(post: object, version = 1): Stored {
  const { titleKey, publishedKey, record, ...stored } = toStoredPost(post as Post, version);
  // Without what is undefined, which the driver would store as null.
  return { ...stored, record: JSON.parse(JSON.stringify(record)) };
}

const indexes = {
  users: {
    name: { 'record.name': 1, _id: 1 },
    name_createdAt: { 'record.name': 1, 'record.createdAt': 1, _id: 1 },
    email: { emailKey: 1, _id: 1 },
  },
  posts: {
    title: { 'record.title': 1, _id: 1 },
    title_createdAt: { 'record.title': 1, 'record.createdAt': 1, _id: 1 },
    author_createdAt: { 'record.authorId': 1, 'record.createdAt': 1, _id: 1 },
  },
} as const;

/** Makes a database such as servers of version 1 had, with those of its indexes that matter here. */
export async function fillVersion1(
  db: Db,
  stored: { readonly users: readonly Stored[]; readonly posts: readonly Stored[] },
): Promise<void> {
  for (const resource of ['users', 'posts'] as const) {
    const collection = db.collection<Stored>(resource);
    const specs = Object.entries(indexes[resource]).map(([name, key]) => ({ name, key }));
    await collection.createIndexes(specs);
    if (stored[resource].length > 0) await collection.insertMany([...stored[resource]]);
  }
  await db.collection<Stored>(metaCollection).insertOne({ _id: 'schema', version: 1 });
}
