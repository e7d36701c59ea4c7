import { type Collection, type Db, MongoServerError } from 'mongodb';
import { collectionNames, metaCollection } from '../schema/collections.ts';
import type { Resource } from './lease.ts';

/** What documents of version 1 have; `loaded` is of the first program that wrote it. */
const known = new Set([
  ...['_id', 'version', 'record', 'emailKey', 'claims', 'leaving', 'pending', 'joining'],
  ...['expires', 'loaded'],
]);

/** Whether records may be in a collection that no version is said of: its first document tells. */
export async function mayBeOurs(collection: Collection): Promise<boolean> {
  const first = await collection.findOne();
  return Object.keys(first ?? {}).every((key) => known.has(key));
}

/**
 * Takes a collection of version 1 from the servers that have it open: it gets another name, and a
 * view takes its place, of which every read and every write fails.
 *
 * @returns how many records were made in between and could not be brought along
 */
export async function shutOut(db: Db, resource: Resource): Promise<number> {
  const { databaseName } = db;
  const rename = async (to: string): Promise<number | undefined> => {
    // A command, because the driver's own waits for a majority before the view can be made.
    const [from, target] = [resource, to].map((name) => `${databaseName}.${name}`);
    const command = { renameCollection: from, to: target, writeConcern: { w: 1 } };
    return codeOf(db.admin().command(command), [namespaceNotFound, namespaceExists]);
  };
  while (!(await isBarred(db, resource))) {
    const code = await rename(collectionNames[resource]);
    // Before the view was made, a server has made the collection anew, with the record of a request.
    if (code === namespaceExists) await rename(`${strays(resource)}${Date.now()}`);
  }
  return bringStrays(db, resource);
}

/** Puts the view in a collection's place. False while a collection is there. */
async function isBarred(db: Db, resource: Resource): Promise<boolean> {
  const view = { viewOn: metaCollection, pipeline: failing };
  const code = await codeOf(db.createCollection(resource, view), [namespaceExists]);
  if (code === undefined) return true;
  const [found] = await db.listCollections({ name: resource }).toArray();
  return found?.type === 'view';
}

/** The document of the version is read, and fails; the error has the sentence. */
const sentence = 'A later version of Rostrum has taken these records over. It is the ';
const failing = [{ $replaceWith: { _id: { $toInt: { $concat: [sentence, '$_id'] } } } }];

const strays = (resource: Resource) => `${collectionNames[resource]}_stray_`;

async function bringStrays(db: Db, resource: Resource): Promise<number> {
  let lost = 0;
  const named = { name: { $regex: `^${strays(resource)}` } };
  for (const { name } of await db.listCollections(named, { nameOnly: true }).toArray()) {
    const stray = db.collection(name);
    const documents = await stray.find().toArray();
    const records = db.collection(collectionNames[resource]);
    if (documents.length > 0) {
      // One that is there already came the last time, or has an address or a key that is taken.
      await codeOf(records.insertMany(documents, { ordered: false }), [duplicateKey]);
      const ids = documents.map(({ _id }) => _id);
      lost += ids.length - (await records.countDocuments({ _id: { $in: ids } }));
    }
    await stray.drop();
  }
  return lost;
}

/** The code that some work fails with, of those that may be; undefined when it does not fail. */
export async function codeOf(
  work: Promise<unknown>,
  expected: readonly number[],
): Promise<number | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    const code = error instanceof MongoServerError ? Number(error.code) : undefined;
    if (code !== undefined && expected.includes(code)) return code;
    throw error;
  }
}

const duplicateKey = 11_000;
export const namespaceNotFound = 26;
const namespaceExists = 48;
