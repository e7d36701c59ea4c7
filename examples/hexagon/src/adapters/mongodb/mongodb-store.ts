import { type ClientSession, MongoClient, ObjectId } from 'mongodb';
import { type ErrorCode, found } from '../../domain/errors.ts';
import { type Note, noteDefaults } from '../../domain/note.ts';
import type { Owner } from '../../domain/owner.ts';
import type { Store } from '../../ports/store.ts';

/** In MongoDB, the id of a document is named `_id`. */
type Document<R> = Omit<R, 'id'> & { readonly _id: string };
type Options = { session?: ClientSession };

/** Picks the fields of a note, because its document can have others. Missing ones have their defaults. */
function toNote(document: Document<Note>): Note {
  const { _id, version, ownerId, title, text, pinned } = { ...noteDefaults, ...document };
  return { id: _id, version, ownerId, title, text, pinned };
}

/** Connects to a replica set. The database is the one in the URL unless it is given. */
export async function openMongodbStore(url: string, databaseName?: string): Promise<Store> {
  // Acknowledged writes survive the loss of the primary, and reads return only such writes.
  const client = new MongoClient(url, { readConcernLevel: 'majority', w: 'majority' });
  const database = client.db(databaseName);
  const noteDocuments = database.collection<Document<Note>>('notes');
  const ownerDocuments = database.collection<Document<Omit<Owner, 'noteCount'>>>('owners');
  await noteDocuments.createIndex({ ownerId: 1, _id: 1 });

  /**
   * Repeats the work when another transaction has written one of its documents. Reading a document is not
   * a conflict, so transactions that must not overlap have to write a common document.
   */
  function transaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
    return client.withSession((session) => session.withTransaction(work));
  }

  async function findNote(id: string, options: Options = {}): Promise<Note> {
    return toNote(found(await noteDocuments.findOne({ _id: id }, options), 'note-not-found'));
  }

  async function findOwner(id: string, code: ErrorCode, options: Options = {}): Promise<Owner> {
    const { name, quota } = found(await ownerDocuments.findOne({ _id: id }, options), code);
    const noteCount = await noteDocuments.countDocuments({ ownerId: id }, options);
    return { id, name, quota, noteCount };
  }

  /** Reads an owner, and makes this transaction conflict with all others that lock or delete the owner. */
  async function lockOwner(id: string, session: ClientSession): Promise<Owner> {
    await ownerDocuments.updateOne({ _id: id }, { $set: { lock: new ObjectId() } }, { session });
    return findOwner(id, 'unknown-owner', { session });
  }

  async function write({ id, ...fields }: Note, session: ClientSession): Promise<Note> {
    await noteDocuments.replaceOne({ _id: id }, fields, { session, upsert: true });
    return { id, ...fields };
  }

  // A standalone server has no transactions. Fail now rather than at the first write.
  await transaction((session) => ownerDocuments.findOne({}, { session }));

  return {
    notes: {
      get: (id) => findNote(id),
      async list({ ownerId, after = '', limit }) {
        const filter = { ...(ownerId !== undefined && { ownerId }), _id: { $gt: after } };
        return noteDocuments.find(filter).sort({ _id: 1 }).limit(limit).map(toNote).toArray();
      },
      create: (ownerId, decide) =>
        transaction(async (session) => write(decide(await lockOwner(ownerId, session)), session)),
      update: (id, decide) =>
        transaction(async (session) => write(decide(await findNote(id, { session })), session)),
      move: (id, ownerId, decide) =>
        transaction(async (session) => {
          const note = await findNote(id, { session });
          return write(decide(note, await lockOwner(ownerId, session)), session);
        }),
      delete: (id, check) =>
        transaction(async (session) => {
          check(await findNote(id, { session }));
          await noteDocuments.deleteOne({ _id: id }, { session });
        }),
    },
    owners: {
      get: (id) => findOwner(id, 'owner-not-found'),
      async create({ id, name, quota }) {
        await ownerDocuments.insertOne({ _id: id, name, quota });
      },
    },
    close: () => client.close(),
  };
}
