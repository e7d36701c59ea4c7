import { systemClock, uuidV7 } from '../../src/adapters/system/index.ts';
import type { BarePost, BareStore } from './bare-store.ts';

/** Opens the store for a store URL of Rostrum. */
export async function openBareStore(url: string): Promise<BareStore> {
  if (url.startsWith('sqlite:')) return (await import('./sqlite.ts')).sqlite(url.slice(7));
  if (url.startsWith('mongodb:')) return (await import('./mongodb.ts')).mongodb(url);
  return memory();
}

function memory(): BareStore {
  const byId = new Map<string, string>();
  const inOrder: string[] = [];
  return {
    get: (id) => byId.get(id),
    newest: (limit) => inOrder.slice(-limit).reverse(),
    add(post) {
      const json = JSON.stringify(post);
      byId.set(post.id, json);
      inOrder.push(json);
      return json;
    },
  };
}

/** Returns a post for the input of a POST, with the same kind of ids and times as Rostrum. */
export function newPost(input: { readonly title: string }): BarePost {
  const createdAt = systemClock.now();
  return { id: uuidV7.next(), ...input, createdAt, updatedAt: createdAt };
}

/** Returns the body of a list, with the id after which the next page begins. */
export async function pageOf(store: BareStore, limit: number): Promise<string> {
  const found = await store.newest(limit + 1);
  const posts = found.slice(0, limit);
  const lastId = posts.at(-1)?.slice('{"id":'.length, '{"id":'.length + 38);
  return `{"posts":[${posts.join()}],"next":${found.length > limit ? lastId : 'null'}}`;
}
