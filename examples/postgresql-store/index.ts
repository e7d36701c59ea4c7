import type { PoolConfig } from 'pg';
import type { Store, StoreOptions } from 'rostrum/ports';
import { Connections } from './connections.ts';
import { PostgresqlPosts } from './posts.ts';
import { schema } from './schema.ts';
import { PostgresqlUsers } from './users.ts';

/** Where the database is, as `pg` is told it, and what every store is opened with. */
export interface PostgresqlOptions extends StoreOptions {
  readonly pool: PoolConfig;
}

/**
 * Opens a store in the schema `rostrum` of a database, which it makes where it is missing.
 *
 * @throws RostrumError `store-unavailable`
 */
export async function openPostgresqlStore(options: PostgresqlOptions): Promise<Store> {
  const { pool, customFilters } = options;
  const connections = new Connections(pool);
  try {
    const [database] = await connections.read('show server_encoding');
    if (database?.server_encoding !== 'UTF8') {
      throw new Error('The encoding of the database must be UTF8.');
    }
    await connections.change((query) => query(schema));
  } catch (error) {
    await connections.close();
    throw error;
  }
  const posts = new PostgresqlPosts(connections, customFilters?.posts);
  const users = new PostgresqlUsers(connections, posts, customFilters?.users);
  const close = () => connections.close();
  return {
    users,
    posts,
    transfer: { users, posts },
    customFilters,
    ready: async () => {
      await connections.read('select 1 from rostrum.users limit 1');
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
