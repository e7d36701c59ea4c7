import { type ClientSession, MongoClient } from 'mongodb';
import { DomainError } from '../../domain/errors.ts';
import { type Note, noteDefaults } from '../../domain/note.ts';
import type { Owner } from '../../domain/owner.ts';
import type { Store } from '../../ports/store.ts';

/** In MongoDB, the id of a document is named `_id`. */
type Document<R> = Omit<R, 'id'> & { readonly _id: string };

const toDocument = ({ id, ...note }: Note): Document<Note> => ({ _id: id, ...note });
// Documents from before a field existed get its default.
const toNote = ({ _id, ...note }: Document<Note>): Note => ({ ...noteDefaults, ...note, id: _id });
const toOwner = ({ _id, ...owner }: Document<Owner>): Owner => ({ id: _id, ...owner });

/** Connects to a replica set. The database is the one in the URL unless it is given. */
export async function openMongodbStore(url: string, databaseName?: string): Promise<Store> {
  // Acknowledged writes survive the loss of the primary, and reads return only such writes.
  const client = new MongoClient(url, { readConcernLevel: 'majority', w: 'majority' });
  const database = client.db(databaseName);
  const noteDocuments = database.collection<Document<Note>>('notes');
  const ownerDocuments = database.collection<Document<Owner>>('owners');
  await noteDocuments.createIndex({ ownerId: 1, _id: 1 });

  /**
   * Repeats the work when another transaction has written one of its documents. Reading a document is not
   * a conflict, so transactions that must not overlap have to write a common document.
   */
  function transaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
    return client.withSession((session) => session.withTransaction(work));
  }

  async function findNote(id: string, options: { session?: ClientSession } = {}): Promise<Note> {
    const document = await noteDocuments.findOne({ _id: id }, options);
    if (document === null) throw new DomainError('note-not-found');
    return toNote(document);
  }

  /**
   * Changes an owner's number of notes, and returns the owner as it was before. The number is a field so
   * that transactions that add notes to one owner conflict. Counting the notes would only read them.
   */
  async function addToCount(id: string, change: 1 | -1, session: ClientSession): Promise<Owner> {
    const options = { session, returnDocument: 'before' } as const;
    const increment = { $inc: { noteCount: change } };
    const owner = await ownerDocuments.findOneAndUpdate({ _id: id }, increment, options);
    if (owner === null) throw new DomainError('unknown-owner');
    return toOwner(owner);
  }

  // A standalone server has no transactions. Fail now rather than at the first write.
  await transaction((session) => ownerDocuments.findOne({}, { session }));

  return {
    notes: {
      get: (id) => findNote(id),
      async list({ ownerId, after = '', limit }) {
        const filter = { ...(ownerId !== undefined && { ownerId }), _id: { $gt: after } };
        const found = await noteDocuments.find(filter).sort({ _id: 1 }).limit(limit).toArray();
        return found.map(toNote);
      },
      create: (ownerId, decide) =>
        transaction(async (session) => {
          const note = decide(await addToCount(ownerId, 1, session));
          await noteDocuments.insertOne(toDocument(note), { session });
          return note;
        }),
      update: (id, decide) =>
        transaction(async (session) => {
          const note = decide(await findNote(id, { session }));
          await noteDocuments.replaceOne({ _id: id }, toDocument(note), { session });
          return note;
        }),
      move: (id, ownerId, decide) =>
        transaction(async (session) => {
          const current = await findNote(id, { session });
          const note = decide(current, await addToCount(ownerId, 1, session));
          await addToCount(current.ownerId, -1, session);
          await noteDocuments.replaceOne({ _id: id }, toDocument(note), { session });
          return note;
        }),
      delete: (id, check) =>
        transaction(async (session) => {
          const note = await findNote(id, { session });
          check(note);
          await addToCount(note.ownerId, -1, session);
          await noteDocuments.deleteOne({ _id: id }, { session });
        }),
    },
    owners: {
      async get(id) {
        const owner = await ownerDocuments.findOne({ _id: id });
        if (owner === null) throw new DomainError('owner-not-found');
        return toOwner(owner);
      },
      async create({ id, ...owner }) {
        await ownerDocuments.insertOne({ _id: id, ...owner });
      },
    },
    close: () => client.close(),
  };
}
