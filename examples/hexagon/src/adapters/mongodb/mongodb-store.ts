import { type Collection, type Db, MongoClient, type OperationOptions } from 'mongodb';
import { type Note, noteDefaults } from '../../domain/note.ts';
import { type Owner, ownerDefaults } from '../../domain/owner.ts';
import type { Versioned } from '../../domain/version.ts';
import type { Filter, Repositories, Repository, Store } from '../../ports/store.ts';

const openRepositories = (database: Db, options: OperationOptions = {}): Repositories => ({
  notes: openRepository<Note>(database.collection('notes'), noteDefaults, options),
  owners: openRepository<Owner>(database.collection('owners'), ownerDefaults, options),
});

/** Connects to a replica set. The database is the one in the URL unless it is given. */
export async function openMongodbStore(url: string, databaseName?: string): Promise<Store> {
  // Acknowledged writes survive the loss of the primary, and reads return only such writes.
  const client = new MongoClient(url, { readConcernLevel: 'majority', w: 'majority' });
  const database = client.db(databaseName);
  await database.collection('notes').createIndex({ ownerId: 1, _id: 1 });

  const store: Store = {
    ...openRepositories(database),
    /** Repeats the work when another transaction has written one of its documents. */
    transaction: (work) =>
      client.withSession((session) =>
        session.withTransaction(() => work(openRepositories(database, { session }))),
      ),
    close: () => client.close(),
  };
  // A standalone server has no transactions. Fail now rather than at the first write.
  await store.transaction(({ owners }) => owners.find(''));
  return store;
}

/** In MongoDB, the id of a document is named `_id`. */
type Document = { readonly _id: string };

function openRepository<R extends Versioned>(
  collection: Collection<Document>,
  defaults: Partial<R>,
  options: OperationOptions,
): Repository<R> {
  /** Documents from before a field was added get its default. */
  const toRecord = ({ _id, ...fields }: Document) =>
    ({ id: _id, ...fields, ...defaults, ...fields }) as unknown as R;
  const query = ({ id: _id, ...rest }: Filter<R>) => (_id === undefined ? rest : { ...rest, _id });
  const select = (filter: object) => collection.find(filter, options).map(toRecord);

  return {
    find: async (id) => (await select({ _id: id }).next()) ?? undefined,
    list: (filter, { after = '', limit }) =>
      select({ $and: [query(filter), { _id: { $gt: after } }] })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),
    async save({ id, ...fields }) {
      await collection.replaceOne({ _id: id }, fields, { ...options, upsert: true });
    },
    delete: async (filter) => void (await collection.deleteMany(query(filter), options)),
  };
}
