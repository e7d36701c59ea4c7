import type { Document } from 'mongodb';
import type { CustomFilterFields, CustomFilters } from '../../../domain/declared-fields.ts';
import { escapeKey } from './keys.ts';

export interface Index {
  readonly key: Readonly<Record<string, 1>>;
  readonly unique?: true;
  readonly partialFilterExpression?: Document;
  readonly expireAfterSeconds?: number;
}

/** Of an index: it has no entry of a document without a field, and costs nothing there. */
function whereThereIs(path: string) {
  return { partialFilterExpression: { [path]: { $exists: true } } };
}

const shared = {
  createdAt: { key: { 'record.createdAt': 1, _id: 1 } },
  updatedAt: { key: { 'record.updatedAt': 1, _id: 1 } },
  /** One record a key. Documents without receipts are not in it. */
  claims: { key: { 'claims.key': 1 }, unique: true, ...whereThereIs('claims.key') },
  /** Which receipts a sweep may drop. */
  claims_expires: { key: { 'claims.expires': 1 }, ...whereThereIs('claims.expires') },
  /** The TTL index: the server removes posts that were given up in the making. */
  hidden_expires: { key: { expires: 1 }, ...whereThereIs('expires'), expireAfterSeconds: 0 },
} as const satisfies Record<string, Index>;

/** Every index that is always there, by its name. All sort by bytes: text by code point, as the port wants it. */
export const indexes = {
  users: {
    ...shared,
    nameKey: { key: { nameKey: 1, _id: 1 }, ...whereThereIs('nameKey') },
    name_createdAt: { key: { 'record.name': 1, 'record.createdAt': 1, _id: 1 } },
    email: { key: { emailKey: 1, _id: 1 } },
    email_unique: {
      key: { emailKey: 1 },
      unique: true,
      partialFilterExpression: { emailKey: { $gt: '' } },
    },
  },
  posts: {
    ...shared,
    titleKey: { key: { titleKey: 1, _id: 1 }, ...whereThereIs('titleKey') },
    title_createdAt: { key: { 'record.title': 1, 'record.createdAt': 1, _id: 1 } },
    publishedAt: { key: { publishedKey: 1, _id: 1 }, ...whereThereIs('publishedKey') },
    author_createdAt: { key: { 'record.authorId': 1, 'record.createdAt': 1, _id: 1 } },
    author_publishedAt: {
      key: { 'record.authorId': 1, publishedKey: 1, _id: 1 },
      ...whereThereIs('publishedKey'),
    },
    /** Posts that are about to name an author. */
    joining: { key: { 'joining.author': 1 }, ...whereThereIs('joining.author') },
  },
} as const satisfies Record<string, Record<string, Index>>;

type Wanted = Readonly<Record<string, Index>>;

/** Every index of a store, by collection and name. */
export function indexesFor({ users, posts }: CustomFilters): Record<'users' | 'posts', Wanted> {
  return {
    users: { ...indexes.users, ...customIndexes(users) },
    posts: { ...indexes.posts, ...customIndexes(posts) },
  };
}

/** Where a custom field is kept. */
export function customPath(field: string): string {
  return `record.${escapeKey(field)}`;
}

export function customIndexName(field: string): string {
  return `own_${field}_createdAt`;
}

function customIndexes(fields: CustomFilterFields = {}): Wanted {
  return Object.fromEntries(
    Object.keys(fields).map((field) => {
      const path = customPath(field);
      const key = { [path]: 1, 'record.createdAt': 1, _id: 1 } as const;
      return [customIndexName(field), { key, ...whereThereIs(path) }];
    }),
  );
}
