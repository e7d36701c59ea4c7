// The search by words: an index in the folder, which follows the changes of the posts.

import { setTimeout as sleep } from 'node:timers/promises';
import { isRostrumError } from 'rostrum';
import { SqliteSearch } from '../followers/sqlite-search.ts';
import type { Blog, Post } from './store.ts';

/** Opens an index, and keeps it up to date until the signal is aborted. */
export function openSearch(file: string, { posts, events }: Blog, signal: AbortSignal) {
  const search = new SqliteSearch(file);

  async function follow(): Promise<void> {
    let after = await search.load();
    if (after === undefined) {
      after = (await events.read()).next;
      for await (const { record } of posts.all()) await search.updateDocuments([record]);
      await search.save(after);
    }
    for await (const page of events.follow({ after, limit: 100, signal })) {
      const changed = page.events.filter(({ collection }) => collection === 'posts');
      const ids = [...new Set(changed.map(({ id }) => id))];
      const found = new Map<string, Post>();
      for await (const { record } of posts.all({ filter: { ids } })) found.set(record.id, record);
      await search.updateDocuments([...found.values()]);
      await search.deleteDocuments(ids.filter((id) => !found.has(id)));
      await search.save(page.next);
    }
  }

  async function keepFollowing(): Promise<void> {
    while (!signal.aborted) {
      try {
        await follow();
      } catch (error) {
        if (signal.aborted) return;
        console.error(error);
        // The log no longer has the position: build the index again.
        if (isRostrumError(error, 'events-expired')) search.clear();
        else await sleep(5000, undefined, { signal }).catch(() => {});
      }
    }
  }

  const ended = keepFollowing();
  return {
    find: search.find.bind(search),
    /** Returns once the index is closed. Abort the signal first. */
    async close(): Promise<void> {
      await ended;
      search.close();
    },
  };
}

export type Search = ReturnType<typeof openSearch>;
