// The users and posts: Rostrum on SQLite, or on MongoDB.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRostrum, refused } from 'rostrum';
import { openSqliteStore } from 'rostrum/sqlite';
import { declaredFields } from './fields.ts';
import { site } from './settings.ts';

/** Opens the blog's store in a folder, or in the MongoDB database that `mongodb` names. */
export async function openBlog(folder: string, mongodb?: string) {
  mkdirSync(folder, { recursive: true });
  const store = mongodb
    ? (await import('rostrum/mongodb')).openMongodbStore({ url: mongodb, declaredFields })
    : openSqliteStore({ path: join(folder, 'blog.db'), declaredFields });
  await store.ready();
  const rostrum = createRostrum(store, {
    publicUserFields: ['about'],
    rules: {
      // A change that readers would see needs an editor, not only the first publication.
      posts({ after, caller }) {
        const isDraft = after === undefined || after.publishedAt === null;
        if (site.publish === 'members' || isDraft || !caller || caller.scopes.has('posts:write'))
          return;
        throw refused('Only editors publish posts and change published ones. Make this a draft.');
      },
    },
  });
  return { store, rostrum };
}

export type Blog = Awaited<ReturnType<typeof openBlog>>['rostrum'];
export type Post = Awaited<ReturnType<Blog['posts']['get']>>['record'];
