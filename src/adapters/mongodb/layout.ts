import { type Db, MongoServerError } from 'mongodb';
import { MongodbRefusal } from './errors.ts';

/** Records are in `users` and `posts`, and the ids of deleted ones here. */
export const deletedIds = { users: 'deletedUsers', posts: 'deletedPosts' } as const;

export const receiptCollection = 'receipts';

/** What Rostrum knows about the database as a whole, one document for each fact. */
export const metaCollection = 'rostrum';

export interface MetaDocument {
  /** `layout`, `log` or `filling`. */
  readonly _id: string;
  readonly version?: number;
  readonly name?: string;
  readonly since?: Date;
}

/** The version of what is stored. It grows when an older Rostrum could no longer read or write it. */
const layoutVersion = 1;

const recordCollections = ['users', 'posts'];
const names: readonly string[] = [
  ...recordCollections,
  ...Object.values(deletedIds),
  receiptCollection,
  metaCollection,
];

/**
 * Marks a new database with the version of the layout, and creates the collections: a transaction cannot.
 * Safe to repeat, and from many processes at once.
 *
 * @throws MongodbRefusal for a database that this version does not understand
 */
export async function ensureLayout(db: Db): Promise<void> {
  const found = await db
    .listCollections({ name: { $in: [...names] } }, { nameOnly: false })
    .toArray();
  for (const { name, type, options = {} } of found) {
    // A default collation would sort text in another order.
    if (type === 'collection' && !options.collation && !options.capped) continue;
    throw new MongodbRefusal(
      `"${name}" is not a plain collection (but a view, capped, or with a collation). ` +
        'Remove it and let Rostrum create its own, or use another database.',
    );
  }
  // Read after the collections were listed: whoever creates them has written the mark before.
  await checkMark(db);
  const missing = names.filter((name) => !found.some((one) => one.name === name));
  await Promise.all(missing.map((name) => createCollection(db, name)));
}

async function checkMark(db: Db): Promise<void> {
  const meta = db.collection<MetaDocument>(metaCollection);
  const layout = await meta.findOne({ _id: 'layout' });
  if (layout?.version === layoutVersion) return;
  if (layout !== null) {
    throw new MongodbRefusal(
      'This database was made by a later version of Rostrum. Run that version, or use another database.',
    );
  }
  if (await isOfPreRelease(db)) {
    throw new MongodbRefusal(
      'This was made by a pre-release. Export it with the version that made it, then run import --keep-ids.',
    );
  }
  for (const name of recordCollections) {
    if ((await db.collection(name).findOne()) === null) continue;
    throw new MongodbRefusal(
      `The collection "${name}" holds documents of another program. Use another database.`,
    );
  }
  const mark = { $setOnInsert: { version: layoutVersion } };
  await meta.updateOne({ _id: 'layout' }, mark, { upsert: true });
}

/** A pre-release has left a mark of its own, or records without any mark. */
async function isOfPreRelease(db: Db): Promise<boolean> {
  const meta = db.collection<MetaDocument>(metaCollection);
  if ((await meta.findOne({ _id: 'schema' })) !== null) return true;
  const isRecord = { 'record.id': { $exists: true } };
  const found = recordCollections.map((name) => db.collection(name).findOne(isRecord));
  return (await Promise.all(found)).some((document) => document !== null);
}

async function createCollection(db: Db, name: string): Promise<void> {
  await db.createCollection(name).catch((error) => {
    const isThere = error instanceof MongoServerError && error.code === namespaceExists;
    if (!isThere) throw error;
  });
}

const namespaceExists = 48;
