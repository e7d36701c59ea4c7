// The users and posts: Rostrum on SQLite, or on MongoDB.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRostrum } from 'rostrum';
import { openSqliteStore } from 'rostrum/sqlite';
import { declaredFields } from './fields.ts';

/** Opens the blog's store in a folder, or in the MongoDB database that `mongodb` names. */
export async function openBlog(folder: string, mongodb?: string) {
  mkdirSync(folder, { recursive: true });
  const store = mongodb
    ? (await import('rostrum/mongodb')).openMongodbStore({ url: mongodb, declaredFields })
    : openSqliteStore({ path: join(folder, 'blog.db'), declaredFields });
  await store.ready();
  return { store, rostrum: createRostrum(store, { publicUserFields: ['about'] }) };
}

export type Blog = Awaited<ReturnType<typeof openBlog>>['rostrum'];
export type Post = Awaited<ReturnType<Blog['posts']['get']>>['record'];
