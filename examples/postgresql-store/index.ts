import type { PoolConfig } from 'pg';
import {
  brokenDeclarationMessage,
  type Collection,
  type DeclaredField,
  fieldsIn,
  isRostrumError,
  type Post,
  RostrumError,
  type Store,
  type StoreOptions,
  type Transfer,
  type User,
  type UserRepository,
  withoutAuthor,
} from 'rostrum/ports';
import { Conditions } from './conditions.ts';
import { Connections, type Query } from './connections.ts';
import { recordsOf, versioned } from './records.ts';
import { schema, uniqueStatements } from './schema.ts';

/** Opens a store in the schema `rostrum` of a database, and creates what is missing there. */
export async function openPostgresqlStore(
  pool: PoolConfig,
  { declaredFields }: StoreOptions = {},
): Promise<Store> {
  const connections = new Connections(pool);
  const close = () => connections.close();
  await connections
    .change(async (query) => {
      await query(schema);
      for (const name of ['users', 'posts'] as const) {
        for (const field of fieldsIn(declaredFields?.[name])) await declare(query, name, field);
      }
    })
    .catch((error: unknown) => {
      return close().then(() => Promise.reject(error));
    });
  const ofUsers = recordsOf<User>(connections, 'users');
  const ofPosts = recordsOf<Post>(connections, 'posts');

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

/** @throws Error when stored records break the declaration of a custom field */
async function declare(query: Query, name: Collection, field: DeclaredField): Promise<void> {
  const all = `select id, json from rostrum.${name}
    where json is not null and id > $1 order by id limit 1000`;
  let rows = await query(all, ['']);
  while (rows.length > 0) {
    for (const { json } of rows) {
      const message = brokenDeclarationMessage([field], name, JSON.parse(String(json)));
      if (message !== undefined) throw new Error(message);
    }
    rows = await query(all, [rows.at(-1)?.id]);
  }
  if (!field.isUnique) return;
  const { create, findTwo } = uniqueStatements(name, field);
  await query('savepoint before_index');
  try {
    await query(create);
  } catch (error) {
    if (!isRostrumError(error, 'field-taken')) throw error;
    await query('rollback to before_index');
    const ids = (await query(findTwo)).flatMap((row) => Object.values(row)).join(' and ');
    throw new Error(`"${field.name}" cannot be unique: the ${name} ${ids} have the same value.`);
  }
}
