import { unknownAuthor } from '../../domain/errors.ts';
import { scanQuery } from '../../domain/lists/list.ts';
import type { Post } from '../../domain/records/post.ts';
import {
  type Collection,
  type Id,
  type Version,
  versionToLoad,
} from '../../domain/records/record.ts';
import type { User } from '../../domain/records/user.ts';
import type { Repository } from '../../ports/repository.ts';
import type { RecordTransfer, Transfer } from '../../ports/transfer.ts';
import { type MetaDocument, metaCollection, tombstoneCollections } from './collections.ts';
import type { Connection } from './connection/connection.ts';
import { documentOf, encodeRecord, replacement } from './documents.ts';
import { throwConstraintError } from './errors.ts';
import { inTransaction, type Transaction } from './transactions.ts';

export function createTransfer(
  connection: Connection,
  users: Repository<User>,
  posts: Repository<Post>,
): Transfer {
  const { db } = connection;
  const filling = { _id: 'filling' } as const;
  return {
    users: transferOf(connection, 'users', users),
    posts: transferOf(connection, 'posts', posts),
    async begin() {
      const mark = { q: filling, u: { $setOnInsert: { since: new Date() } }, upsert: true };
      await write(connection, (transaction) => transaction.update(metaCollection, [mark]));
    },
    async end() {
      await write(connection, (transaction) => transaction.delete(metaCollection, filling));
    },
    isFilling: () =>
      connection.read(async ({ maxTimeMS }) => {
        const meta = db.collection<MetaDocument>(metaCollection);
        return (await meta.findOne(filling, { maxTimeMS })) !== null;
      }),
  };
}

function transferOf<R extends User | Post>(
  connection: Connection,
  collection: Collection,
  repository: Repository<R>,
): RecordTransfer<R> {
  const { db } = connection;
  return {
    scan: async (request) => (await repository.list(scanQuery(request))).items,
    async load(records) {
      // Copied at once, because the caller may change its records meanwhile.
      const loaded = records.map(({ record, version }) => {
        return { encoded: encodeRecord(collection, record), version };
      });
      const ids = loaded.map(({ encoded }) => encoded.id);
      await write(connection, async (transaction) => {
        const existing = await transaction.versionsOf(collection, ids);
        const deleted = await transaction.takeTombstones(tombstoneCollections[collection], ids);
        const updates = loaded.map(({ encoded, version }) => {
          const { id } = encoded;
          const next = versionToLoad(version, existing.get(id), deleted.get(id));
          const isNew = !existing.has(id);
          existing.set(id, next);
          // A new document as a whole, so that its fields keep their order.
          const u = isNew ? documentOf(encoded, next) : replacement(encoded, next);
          return { q: { _id: id }, u, upsert: isNew };
        });
        await transaction.update(collection, updates).catch(throwConstraintError);
        const authors = loaded.map(({ encoded }) => encoded.authorId);
        if ((await transaction.lockAuthors(authors)).size > 0) throw unknownAuthor();
      });
    },
    deleted: {
      scan: (limit, after) =>
        connection.read(async ({ maxTimeMS }) => {
          const name = tombstoneCollections[collection];
          const tombstones = db.collection<{ _id: Id; lastVersion: Version }>(name);
          const filter = after === undefined ? {} : { _id: { $gt: after } };
          const options = { sort: { _id: 1 }, limit, maxTimeMS } as const;
          const found = await tombstones.find(filter, options).toArray();
          return found.map(({ _id, lastVersion }) => ({ id: _id, lastVersion }));
        }),
      async load(ids) {
        const copy = structuredClone(ids);
        await write(connection, async (transaction) => {
          const all = copy.map(({ id }) => id);
          const existing = await transaction.versionsOf(collection, all);
          const updates = copy
            .filter(({ id }) => !existing.has(id))
            .map(({ id, lastVersion }) => ({
              q: { _id: id },
              u: { $max: { lastVersion }, $setOnInsert: { isLoaded: true } },
              upsert: true,
            }));
          await transaction.update(tombstoneCollections[collection], updates);
        });
      },
    },
  };
}

function write<T>(
  connection: Connection,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return connection.call((call) => inTransaction(connection, call, work));
}
