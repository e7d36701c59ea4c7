import type { PoolConfig } from 'pg';
import {
  type Post,
  postSortKey,
  postSorts,
  RostrumError,
  type Store,
  type StoreOptions,
  type UserRepository,
  userSortKey,
  userSorts,
  withoutAuthor,
} from 'rostrum/ports';
import { Conditions } from './conditions.ts';
import { Connections } from './connections.ts';
import { recordsOf, versioned } from './records.ts';
import { schema } from './schema.ts';

/** Opens a store in the schema `rostrum` of a database, and makes there what is missing. */
export async function openPostgresqlStore(
  pool: PoolConfig,
  { customFilters }: StoreOptions = {},
): Promise<Store> {
  const connections = new Connections(pool);
  const close = () => connections.close();
  await connections
    .change((query) => query(schema))
    .catch((error: unknown) => {
      return close().then(() => Promise.reject(error));
    });
  const ofUsers = recordsOf(connections, 'users', userSorts, userSortKey, customFilters?.users);
  const ofPosts = recordsOf(connections, 'posts', postSorts, postSortKey, customFilters?.posts);

  const users: UserRepository = {
    ...ofUsers.repository,
    delete: (id, mode, at, guard) =>
      connections.change(async (query) => {
        // From here on no post comes to name the user: its reference waits for this lock.
        const user = await ofUsers.find(query, id, 'for update');
        if (user === undefined) return undefined;
        guard?.(user);
        const locked = 'select 1 from rostrum.posts where "authorId" = $1 for update';
        const posts = Number(
          (await query(`select count(*) from (${locked}) as p`, [id]))[0]?.count,
        );
        if (mode === 'refuse' && posts > 0) throw new RostrumError('user-has-posts', { posts });
        if (mode === 'delete') await query('delete from rostrum.posts where "authorId" = $1', [id]);
        // As many at a time as a store may have in memory.
        for (let left = mode === 'keep' ? posts : 0; left > 0; ) {
          const conditions = new Conditions().equal('"authorId"', id);
          const rows = await ofPosts.page(query, conditions, { limit: 1000, bytes: 2 ** 20 });
          for (const { record, version } of versioned<Post>(rows)) {
            await ofPosts.replace(query, withoutAuthor(record, at), version + 1);
          }
          left -= rows.length;
        }
        await query('delete from rostrum.users where id = $1', [id]);
        return { posts };
      }),
  };

  return {
    users,
    posts: ofPosts.repository,
    transfer: { users: ofUsers.repository, posts: ofPosts.repository },
    customFilters,
    ready: async () => void (await connections.read('select 1')),
    close,
    [Symbol.asyncDispose]: close,
  };
}
