import { postSortKey, postSorts, userSortKey, userSorts } from '../../domain/page.ts';
import type { Store } from '../../ports/store.ts';
import { Lifetime } from './lifetime.ts';
import { MemoryPostRepository } from './post-repository.ts';
import { Table } from './table.ts';
import { MemoryUserRepository } from './user-repository.ts';

/**
 * A store that keeps everything in this process's memory and forgets it when it ends: for tests
 * and throw-away servers.
 */
export function createMemoryStore(): Store {
  const lifetime = new Lifetime();
  const tables = {
    users: new Table(userSorts, userSortKey),
    posts: new Table(postSorts, postSortKey),
  };
  const close = async () => lifetime.end();
  return {
    users: new MemoryUserRepository(lifetime, tables),
    posts: new MemoryPostRepository(lifetime, tables),
    ready: async () => lifetime.check(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
