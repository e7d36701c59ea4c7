// Serves searches of the posts of a Rostrum server, with GET /search?q=words:
//
//   API=http://127.0.0.1:3000/api/v1 TOKEN=… node search-server.ts
//
// TOKEN has the scope posts:read:all. PORT is 3001 by default, and FILE, for the index, search.db.

import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, isApiProblem, type Post } from 'rostrum-client';
import { indexPosts, mustStartAgain } from './search-index.ts';
import { SqliteSearch } from './sqlite-search.ts';

/**
 * Answers with a page of posts, and with `next`, which is the `after` of the next page. Reads the posts with the
 * credentials of the request, so the response has only posts that this caller is allowed to see.
 */
export function searchHandler(api: string, search: SqliteSearch): RequestListener {
  async function answer({ method, url = '', headers }: IncomingMessage) {
    const address = URL.parse(url, 'http://localhost');
    if (method !== 'GET' || address?.pathname !== '/search') {
      return { status: 404, body: { error: 'Send GET /search?q=words.' } };
    }
    const query = (address.searchParams.get('q') ?? '').slice(0, 200);
    const after = Number(address.searchParams.get('after') ?? Number.NaN);
    const { ids, next = null } = search.find(query, Number.isSafeInteger(after) ? { after } : {});
    const [, token] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? [];
    const found = new Map<string, Post>();
    try {
      // Asks in any case, so that the API checks the credentials.
      const id = ids.length > 0 ? ids : ['none'];
      for await (const post of createClient({ url: api, token }).posts.all({ id })) {
        found.set(post.id, post);
      }
    } catch (error) {
      if (!isApiProblem(error)) throw error;
      return { status: error.status || 503, body: { error: error.message } };
    }
    return { status: 200, body: { posts: ids.flatMap((id) => found.get(id) ?? []), next } };
  }

  return async (request, response) => {
    const { status, body } = await answer(request).catch((error: unknown) => {
      console.error(error);
      return { status: 500, body: { error: 'The search failed.' } };
    });
    response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' });
    response.end(JSON.stringify(body));
  };
}

/** Keeps an index of all posts up to date, whatever happens to the server. */
async function keepIndex(url: string, token: string | undefined, search: SqliteSearch) {
  const client = createClient({ url, token });
  for (;;) {
    try {
      await indexPosts(client, search, search, new AbortController().signal);
    } catch (error) {
      console.error(error);
      if (mustStartAgain(error)) search.clear();
      await sleep(5000);
    }
  }
}

if (import.meta.main) {
  const { API = 'http://127.0.0.1:3000/api/v1', TOKEN, PORT = '3001', FILE } = process.env;
  const search = new SqliteSearch(FILE ?? 'search.db');
  void keepIndex(API, TOKEN, search);
  const server = createServer(searchHandler(API, search)).listen(Number(PORT), '127.0.0.1');
  server.on('listening', () => console.log(`GET http://127.0.0.1:${PORT}/search?q=words`));
}
