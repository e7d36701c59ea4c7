import type { PoolConfig } from 'pg';
import {
  brokenDeclarationMessage,
  type Collection,
  type DeclaredField,
  fieldsIn,
  notUniqueMessage,
  type Post,
  type RecordTransfer,
  RostrumError,
  type Store,
  type StoreOptions,
  type Transfer,
  type User,
  type UserRepository,
  withoutAuthor,
} from 'rostrum/ports';
import { Conditions } from './conditions.ts';
import { Connections } from './connections.ts';
import { recordsOf, versioned } from './records.ts';
import { schema, uniqueStatements } from './schema.ts';

/** Opens a store in the schema `rostrum` of a database, and creates what is missing there. */
export async function openPostgresqlStore(
  pool: PoolConfig,
  { declaredFields }: StoreOptions = {},
): Promise<Store> {
  const connections = new Connections(pool);
  const close = () => connections.close();
  const fields = { users: fieldsIn(declaredFields?.users), posts: fieldsIn(declaredFields?.posts) };
  const ofUsers = recordsOf<User>(connections, 'users', fields.users);
  const ofPosts = recordsOf<Post>(connections, 'posts', fields.posts);
  try {
    await connections.change((query) => query(schema));
    await declare(connections, 'users', fields.users, ofUsers.repository);
    await declare(connections, 'posts', fields.posts, ofPosts.repository);
  } catch (error) {
    await close();
    throw error;
  }

  const users: UserRepository = {
    ...ofUsers.repository,
    delete: (id, mode, at, guard) =>
      connections.change(async (query) => {
        // From here on no post can come to name the user: its foreign key waits for this lock.
        const user = await ofUsers.find(query, id, 'for update');
        if (user === undefined) return undefined;
        guard?.(user);
        const locked = 'select 1 from rostrum.posts where "authorId" = $1 for update';
        const counted = await query(`select count(*) from (${locked}) as p`, [id]);
        const posts = Number(counted[0]?.count);
        if (mode === 'refuse' && posts > 0) throw new RostrumError('user-has-posts', { posts });
        if (mode === 'delete') await query(`${ofPosts.erase} where "authorId" = $1`, [id]);
        // In parts, because a user can have more posts than fit into memory.
        for (let left = mode === 'keep' ? posts : 0; left > 0; ) {
          const theirs = new Conditions().add({ field: 'authorId', op: 'eq', value: id });
          const rows = await ofPosts.page(query, theirs, { limit: 1000, bytes: 2 ** 20 });
          for (const { record, version } of versioned<Post>(rows)) {
            await ofPosts.replace(query, withoutAuthor(record, at), version + 1);
          }
          left -= rows.length;
        }
        await query(`${ofUsers.erase} where id = $1`, [id]);
        return { posts };
      }),
  };

  const transfer: Transfer = {
    users: ofUsers.repository,
    posts: ofPosts.repository,
    async begin() {
      const sql = 'insert into rostrum.filling values (1) on conflict do nothing';
      await connections.change((query) => query(sql));
    },
    async end() {
      await connections.change((query) => query('delete from rostrum.filling'));
    },
    async isFilling() {
      return (await connections.read('select 1 from rostrum.filling')).length > 0;
    },
  };

  return {
    users,
    posts: ofPosts.repository,
    transfer,
    declaredFields,
    ready: () => connections.ready(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Creates the indexes of unique fields.
 *
 * @throws Error if stored records break the declarations
 */
async function declare(
  connections: Connections,
  name: Collection,
  fields: readonly DeclaredField[],
  { scan }: Pick<RecordTransfer<User | Post>, 'scan'>,
): Promise<void> {
  const limits = { limit: 1000, bytes: 2 ** 20 };
  let found = fields.length > 0 ? await scan(limits) : [];
  while (found.length > 0) {
    for (const { record } of found) {
      const message = brokenDeclarationMessage(fields, name, record);
      if (message !== undefined) throw new Error(message);
    }
    found = await scan({ ...limits, after: found.at(-1)?.record.id });
  }
  for (const field of fields.filter(({ isUnique }) => isUnique)) {
    const { create, findTwo } = uniqueStatements(name, field);
    const [two] = await connections.read(findTwo);
    if (two) throw new Error(notUniqueMessage(field.name, name, Object.values(two).map(String)));
    await connections.change((query) => query(create));
  }
}
