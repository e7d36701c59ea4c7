import type { PoolConfig } from 'pg';
import {
  addDeclarations,
  type CollectionField,
  type DeclaredFields,
  isRostrumError,
  notUnique,
  type Post,
  RostrumError,
  type Store,
  StoredRecordsCheck,
  type StoreOptions,
  type Transfer,
  type User,
  type UserRepository,
  withoutAuthor,
} from 'rostrum/ports';
import { Conditions } from './conditions.ts';
import { Connections, type Query } from './connections.ts';
import { recordsOf, versioned } from './records.ts';
import { declaredField, declareStatements, schema } from './schema.ts';

/** Opens a store in the schema `rostrum` of a database, and creates what is missing there. */
export async function openPostgresqlStore(
  pool: PoolConfig,
  options: StoreOptions = {},
): Promise<Store> {
  const connections = new Connections(pool);
  const close = () => connections.close();
  const ofUsers = recordsOf<User>(connections, 'users');
  const ofPosts = recordsOf<Post>(connections, 'posts');
  const declaredFields = await declare(connections, options.declaredFields).catch(async (error) => {
    await close();
    throw error;
  });

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
    async undeclare(collection, name) {
      await connections.change(async (query) => {
        for (const field of await declaredIn(query)) {
          const isWanted = field.collection === collection && field.name === name;
          if (isWanted) await query(declareStatements(field).remove);
        }
      });
    },
    ready: () => connections.ready(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Adds the declared fields that the database lacks, and completes those that are pending: a constraint that is not
 * valid yet is checked for changes only. Validating it reads all records, but locks none.
 *
 * @throws DeclarationError if stored records break a declaration
 */
async function declare(
  connections: Connections,
  added: DeclaredFields = {},
): Promise<DeclaredFields> {
  const { all, fields } = await connections.change(async (query) => {
    await query(schema);
    const found = addDeclarations(await declaredIn(query), added);
    for (const field of found.missing) await query(declareStatements(field).add);
    return { all: found.all, fields: await declaredIn(query) };
  });
  for (const field of fields) {
    const { validate, findBroken, createIndex, findEqual, remove } = declareStatements(field);
    try {
      await connections.change((query) => query(validate + createIndex));
    } catch (error) {
      const isBroken =
        isRostrumError(error, 'invalid-record') || isRostrumError(error, 'field-taken');
      if (!isBroken) throw error;
      const check = new StoredRecordsCheck([field]);
      for (const { json } of await connections.read(findBroken)) {
        check.add(field.collection, JSON.parse(String(json)));
      }
      const ids = (await connections.read(findEqual)).map(({ id }) => String(id));
      await connections.change((query) => query(remove));
      check.end();
      throw notUnique(field, ids);
    }
  }
  return all;
}

/** Returns the declared fields of the database: those that have a constraint. */
async function declaredIn(query: Query): Promise<readonly CollectionField[]> {
  const rows = await query(`select relname, conname, obj_description(c.oid, 'pg_constraint') as type
    from pg_constraint c join pg_class t on t.oid = conrelid
    where connamespace = 'rostrum'::regnamespace and starts_with(conname, 'declared_')
    order by conname`);
  return rows.map(({ relname, conname, type }) => {
    const [name, unique] = String(type).split(':');
    const field = { collection: relname, name: declaredField(String(conname)), type: name };
    return { ...field, isUnique: unique !== undefined } as CollectionField;
  });
}
