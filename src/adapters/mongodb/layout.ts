import { randomUUID } from 'node:crypto';
import {
  type Db,
  type IndexDescription,
  MongoNetworkTimeoutError,
  MongoServerError,
} from 'mongodb';
import type { Id } from '../../domain/records/record.ts';
import type { Logger } from '../../ports/logger.ts';
import { collectionIndexes, type MetaDocument, metaCollection } from './collections.ts';
import { codes, MongodbStoreError } from './errors.ts';
import { limits } from './limits.ts';

/**
 * Brings a database to the current layout, creates the collections (so that no transaction has to), and builds the
 * missing indexes. Safe to repeat, and to run in many processes at once.
 *
 * @throws MongodbStoreError for a database that this version does not understand
 */
export async function prepareLayout(db: Db, logger: Logger): Promise<void> {
  const filter = { name: { $in: Object.keys(collectionIndexes) } };
  const found = await db.listCollections(filter, { nameOnly: false }).toArray();
  for (const { name, type, options = {} } of found) {
    // A default collation would sort text in another order.
    if (type === 'collection' && !options.collation && !options.capped) continue;
    throw new MongodbStoreError(
      `"${name}" is not a plain collection (it is a view, is capped, or has a collation). ` +
        'Remove it and let Rostrum create its own, or use another database.',
    );
  }
  // After the check above, so that a database with such a collection is not marked.
  await migrate(db);
  const all = Object.entries(collectionIndexes);
  await Promise.all(all.map(([collection, list]) => buildIndexes(db, collection, list, logger)));
}

/** Creates indexes and their collection. Sets no time limit, because indexing a large collection takes long. */
export async function buildIndexes(
  db: Db,
  collection: string,
  indexes: readonly IndexDescription[],
  logger: Logger,
): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      // By default, the server would wait for every voting member, even one that is down.
      const options = { commitQuorum: 'majority', writeConcern: { w: 'majority' } };
      const command = { createIndexes: collection, indexes: [...indexes], ...options };
      const reply = await db.command(command);
      const count = reply.numIndexesAfter - reply.numIndexesBefore;
      const seconds = Number(((performance.now() - start) / 1000).toFixed(1));
      if (count > 0) logger.info({ collection, count, seconds }, 'Built indexes.');
      return;
    } catch (error) {
      // The socket timed out: the next try waits for the same build.
      if (error instanceof MongoNetworkTimeoutError) continue;
      if (!(error instanceof MongoServerError)) throw error;
      if (!codes.indexRejected.has(Number(error.code))) throw error;
      throw new MongodbStoreError(
        `MongoDB cannot build an index on "${collection}" that Rostrum needs. If another index has its name or its keys, drop that ` +
          `index; in a sharded collection, declare no unique field. (${error.errmsg})`,
      );
    }
  }
}

/**
 * Changes the data from one layout to the next. Keep it short: until it ends, no process can open the database. Must be
 * safe to repeat: if a process ends midway, another one starts again.
 */
export type Migration = (db: Db) => Promise<void>;

/** The oldest layout that can be migrated, and the steps from there: the first one leads to the next layout. */
const firstLayout = 2;
const migrations: readonly Migration[] = [
  textsToDates, // to layout 3
];
const currentLayout = firstLayout + migrations.length;

/** Converts the text times of layout 2 to dates. Skips converted records, so it can be repeated. */
async function textsToDates(db: Db): Promise<void> {
  const toDates = (...names: string[]) =>
    Object.fromEntries(names.map((name) => [name, { $toDate: `$${name}` }]));
  const changes = {
    users: toDates('createdAt', 'updatedAt'),
    posts: toDates('createdAt', 'updatedAt', 'publishedAt'),
  };
  for (const [name, $set] of Object.entries(changes)) {
    const collection = db.collection<{ _id: Id; createdAt: unknown }>(name);
    const limit = limits.documentsPerCommand;
    for (;;) {
      const left = collection.find(
        { createdAt: { $type: 'string' } },
        { projection: { _id: 1 }, limit },
      );
      const ids = (await left.toArray()).map(({ _id }) => _id);
      if (ids.length === 0) break;
      await collection.updateMany({ _id: { $in: ids } }, [{ $set }]);
    }
  }
}

/**
 * Brings a database to the current layout, step by step and in one process at a time. Marks a new database.
 *
 * @param lockMs how long a step stays locked if its process ends
 * @throws MongodbStoreError for a database that this version does not understand
 */
export async function migrate(
  db: Db,
  steps = migrations,
  lockMs: number = limits.lockMs,
): Promise<void> {
  const newestLayout = firstLayout + steps.length;
  const meta = db.collection<MetaDocument>(metaCollection);
  for (;;) {
    const layout = await meta.findOne({ _id: 'layout' });
    const version = layout === null ? await markNew(db, newestLayout) : Number(layout.version);
    if (version === newestLayout) return;
    const step = steps[version - firstLayout];
    if (step === undefined) {
      const reason =
        version < firstLayout
          ? 'an older version of Rostrum. Export it with that version (rostrum export), and import it into a new database with this one (rostrum import --keep-ids --field …).'
          : 'a later version of Rostrum. Run that version, or use another database.';
      throw new MongodbStoreError(`This database was made by ${reason}`);
    }
    const work = () => step(db).catch(throwUnchangeable);
    const isDone = await runLocked(db, work, { lockMs, from: version, to: version + 1 });
    if (!isDone) throw new Error('Another process is migrating this database.');
  }
}

/** @throws MongodbStoreError if a document cannot be changed, for example because it breaks a validator */
function throwUnchangeable(error: unknown): never {
  if (!(error instanceof MongoServerError) || !codes.unchangeable.has(Number(error.code)))
    throw error;
  const id = error.errInfo?.failingDocumentId;
  const record = id === undefined ? 'a record' : `the record "${id}"`;
  throw new MongodbStoreError(
    `This database can't be brought to the current layout, because of ${record}: ${error.errmsg}`,
  );
}

/** Records the layout of a new database. Returns the recorded one, which another process may have written first. */
async function markNew(db: Db, newestLayout: number): Promise<number> {
  const meta = db.collection<MetaDocument>(metaCollection);
  for (const name of ['users', 'posts']) {
    if ((await db.collection(name).findOne()) === null) continue;
    // Another process may have marked the database since, and then written to it.
    if ((await meta.findOne({ _id: 'layout' })) !== null) break;
    throw new MongodbStoreError(
      `The collection "${name}" has documents from another program. Use another database.`,
    );
  }
  const mark = { $setOnInsert: { version: newestLayout } };
  const options = { upsert: true, returnDocument: 'after' } as const;
  return Number((await meta.findOneAndUpdate({ _id: 'layout' }, mark, options))?.version);
}

interface LockOptions {
  /** How long the lock lasts if its process ends, in milliseconds. */
  readonly lockMs?: number;
  /** The layout that the database must have; the current one if absent. */
  readonly from?: number;
  /** The layout that it has after the work; `from` if absent. */
  readonly to?: number;
}

/**
 * Runs work while no other process runs any, and then records the layout.
 *
 * @param work can call `renewLock`, which throws if the process was suspended for so long that another one has the lock
 * @returns false if another process is running work, or if the database does not have the layout `from`
 */
export async function runLocked(
  db: Db,
  work: (renewLock: () => Promise<void>) => Promise<void>,
  { lockMs = limits.lockMs, from = currentLayout, to = from }: LockOptions = {},
): Promise<boolean> {
  const meta = db.collection<MetaDocument>(metaCollection);
  const layout = { _id: 'layout', version: from } as const;
  const isFree = { $expr: { $lte: [{ $ifNull: ['$lockedUntil', '$$NOW'] }, '$$NOW'] } };
  const lockedBy = randomUUID();
  // By the server's clock, which all processes share.
  const lock = [{ $set: { lockedBy, lockedUntil: { $add: ['$$NOW', lockMs] } } }];
  const { matchedCount } = await meta.updateOne({ ...layout, ...isFree }, lock);
  if (matchedCount === 0) return false;
  const own = { ...layout, lockedBy };
  const renewLock = async () => {
    const { matchedCount } = await meta.updateOne(own, lock);
    if (matchedCount === 0) throw new Error('Another process has taken over the lock.');
  };
  const renewal = setInterval(() => renewLock().catch(() => {}), lockMs / 4);
  let version = from;
  try {
    await work(renewLock);
    version = to;
  } finally {
    clearInterval(renewal);
    const unlock = { lockedBy: true, lockedUntil: true } as const;
    await meta.updateOne(own, { $set: { version }, $unset: unlock });
  }
  return true;
}
