import type { Document } from 'mongodb';
import { unknownAuthor } from '../../domain/errors.ts';
import {
  checkLoaded,
  type DeclaredField,
  type DeclaredFields,
  fieldsIn,
} from '../../domain/fields/declared-fields.ts';
import type { Post } from '../../domain/records/post.ts';
import {
  type Collection,
  type Id,
  type Version,
  versionToLoad,
} from '../../domain/records/record.ts';
import { utf8Bytes } from '../../domain/records/text.ts';
import type { User } from '../../domain/records/user.ts';
import type { DeletedId, RecordTransfer, Transfer } from '../../ports/transfer.ts';
import type { Connection } from './connection.ts';
import { type EncodedRecord, encode, replacement } from './documents.ts';
import { withRecordErrors } from './errors.ts';
import { deletedCollections, type MetaDocument, metaCollection } from './layout.ts';
import { limits } from './limits.ts';
import { readPage } from './lists.ts';
import { inTransaction, type Transaction } from './transactions.ts';

export function createTransfer(connection: Connection, declared: DeclaredFields): Transfer {
  const { db } = connection;
  const filling = { _id: 'filling' } as const;
  const write = async (work: (transaction: Transaction) => Promise<unknown>) => {
    await connection.call((call) => inTransaction(connection, call, work));
  };
  const mark = { q: filling, u: { $setOnInsert: { since: new Date() } }, upsert: true };
  return {
    users: transferOf<User>(connection, 'users', fieldsIn(declared.users)),
    posts: transferOf<Post>(connection, 'posts', fieldsIn(declared.posts)),
    begin: () => write((transaction) => transaction.update(metaCollection, [mark])),
    end: () => write((transaction) => transaction.delete(metaCollection, filling)),
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
  fields: readonly DeclaredField[],
): RecordTransfer<R> {
  const { db } = connection;
  return {
    async scan({ after, ...cut }) {
      const position = after === undefined ? undefined : { key: after, id: after };
      const order = { field: 'id', direction: 'asc' } as const;
      const query = { ...cut, conditions: [], order, after: position };
      const page = await connection.read((_, call) => readPage<R>(db, collection, query, call));
      return page.items;
    },
    async load(records) {
      // Copied at once, because the caller may change its records meanwhile.
      const loaded = records.map(({ record, version }) => {
        checkLoaded(fields, record);
        return { encoded: encode(collection, record), version };
      });
      const parts = partsOf(loaded, ({ encoded }) => utf8Bytes(encoded.json));
      await loadParts(connection, parts, (transaction, part) =>
        loadRecords(transaction, collection, part),
      );
    },
    deleted: {
      scan: (limit, after) =>
        connection.read(async ({ maxTimeMS }) => {
          const deleted = db.collection<DeletedDocument>(deletedCollections[collection]);
          const filter = after === undefined ? {} : { _id: { $gt: after } };
          const options = { sort: { _id: 1 }, limit, maxTimeMS } as const;
          const found = await deleted.find(filter, options).toArray();
          return found.map(({ _id, last }) => ({ id: _id, lastVersion: last }));
        }),
      async load(ids) {
        const parts = partsOf(structuredClone(ids), () => 0);
        await loadParts(connection, parts, (transaction, part) =>
          loadDeletedIds(transaction, collection, part),
        );
      },
    },
  };
}

interface DeletedDocument {
  readonly _id: Id;
  readonly last: Version;
}

/** Splits a list into parts, one per transaction. */
function* partsOf<T>(all: readonly T[], bytesOf: (one: T) => number): Generator<T[]> {
  let part: T[] = [];
  let bytes = 0;
  for (const one of all) {
    part.push(one);
    bytes += bytesOf(one);
    if (part.length < limits.loadRecords && bytes < limits.loadBytes) continue;
    yield part;
    [part, bytes] = [[], 0];
  }
  if (part.length > 0) yield part;
}

async function loadParts<T>(
  connection: Connection,
  parts: Iterable<T[]>,
  load: (transaction: Transaction, part: readonly T[]) => Promise<void>,
): Promise<void> {
  await connection.call(async (call) => {
    for (const part of parts) {
      await inTransaction(connection, call, (transaction) => load(transaction, part));
      call.extend();
    }
  });
}

async function loadRecords(
  transaction: Transaction,
  collection: Collection,
  loaded: readonly { readonly encoded: EncodedRecord; readonly version: Version }[],
): Promise<void> {
  const byId = { _id: { $in: loaded.map(({ encoded }) => encoded.id) } };
  const live = await versionsOf(transaction, collection, byId, 'version');
  const deleted = await versionsOf(transaction, deletedCollections[collection], byId, 'last');
  const updates = loaded.map(({ encoded, version }) => {
    const { id } = encoded;
    const next = versionToLoad(version, live.get(id), deleted.get(id));
    live.set(id, next);
    return { q: { _id: id }, u: replacement(encoded, next), upsert: true };
  });
  if (deleted.size > 0) await transaction.delete(deletedCollections[collection], byId);
  await withRecordErrors(transaction.update(collection, updates));
  const authors = loaded.map(({ encoded }) => encoded.authorId);
  if ((await transaction.touchAuthors(authors)).size > 0) throw unknownAuthor();
}

async function loadDeletedIds(
  transaction: Transaction,
  collection: Collection,
  ids: readonly DeletedId[],
): Promise<void> {
  const byId = { _id: { $in: ids.map(({ id }) => id) } };
  const live = await versionsOf(transaction, collection, byId, 'version');
  const updates = ids
    .filter(({ id }) => !live.has(id))
    .map(({ id, lastVersion }) => ({
      q: { _id: id },
      u: { $max: { last: lastVersion }, $setOnInsert: { isLoaded: true } },
      upsert: true,
    }));
  await transaction.update(deletedCollections[collection], updates);
}

async function versionsOf(
  transaction: Transaction,
  collection: string,
  filter: Document,
  field: 'version' | 'last',
): Promise<Map<Id, Version>> {
  const found = await transaction.find(collection, filter, { [field]: 1 });
  return new Map(found.map((document) => [document._id, document[field]]));
}
