// The search by words: an index in the folder, which follows the changes of the posts.

import { setTimeout as sleep } from 'node:timers/promises';
import { createFetchHandler } from 'rostrum/fetch';
import { createClient } from 'rostrum-client';
import { indexPosts, mustStartAgain } from '../followers/search-index.ts';
import { SqliteSearch } from '../followers/sqlite-search.ts';
import type { Blog } from './store.ts';

/** Opens an index, and keeps it up to date until the signal is aborted. */
export function openSearch(file: string, rostrum: Blog, signal: AbortSignal) {
  const search = new SqliteSearch(file);
  const api = createFetchHandler(rostrum);
  // Calls the API in this process, without a server and as a caller who sees all posts.
  const client = createClient({
    url: 'http://localhost/api/v1',
    fetch: (url, init) => api(new Request(url, init)),
  });

  async function keepFollowing(): Promise<void> {
    while (!signal.aborted) {
      try {
        await indexPosts(client, search, search, signal);
      } catch (error) {
        if (signal.aborted) return;
        console.error(error);
        // The log no longer has the position: build the index again.
        if (mustStartAgain(error)) search.clear();
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
