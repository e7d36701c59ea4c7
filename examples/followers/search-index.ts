import { type Client, isApiProblem, type ListPage, type Post } from 'rostrum-client';

/** An index of documents. Both methods can be called again with the same arguments. */
interface SearchIndex {
  updateDocuments(documents: Post[]): PromiseLike<unknown>;
  deleteDocuments(ids: string[]): PromiseLike<unknown>;
}

/** Stores the position of a follower. */
interface Positions {
  load(): Promise<string | undefined>;
  save(position: string): Promise<void>;
}

/**
 * Keeps an index of all posts up to date, until the signal is aborted.
 *
 * @param client has the scope `posts:read:all` if the server asks for credentials
 */
export async function indexPosts(
  client: Pick<Client, 'events' | 'posts'>,
  index: SearchIndex,
  positions: Positions,
  signal: AbortSignal,
): Promise<void> {
  let after = await positions.load();
  if (after === undefined) {
    after = (await client.events.read()).next;
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { items, next }: ListPage<Post> = await client.posts.list({ cursor });
      await index.updateDocuments([...items]);
      cursor = next;
    }
    await positions.save(after);
  }
  for await (const { events, next } of client.events.follow({ after, limit: 100 }, { signal })) {
    const changed = events.filter(({ type }) => type.startsWith('post.'));
    const ids = [...new Set(changed.map(({ id }) => id))];
    const found = new Map<string, Post>();
    for await (const post of client.posts.all({ id: ids })) found.set(post.id, post);
    await index.updateDocuments([...found.values()]);
    await index.deleteDocuments(ids.filter((id) => !found.has(id)));
    await positions.save(next);
  }
}

/** True if the position has expired: remove the index and its position, and start again. */
export const mustStartAgain = (error: unknown) => isApiProblem(error, 'events-expired');
