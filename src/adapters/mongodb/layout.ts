import {
  type Db,
  type IndexDescription,
  MongoNetworkTimeoutError,
  MongoServerError,
} from 'mongodb';
import type { Logger } from '../../ports/logger.ts';
import { indexes } from './collections.ts';
import { codes, MongodbStoreError } from './errors.ts';
import { migrate } from './migrations.ts';

/**
 * Brings a database to the current layout, creates the collections (so that no transaction has to), and builds the
 * missing indexes. Safe to repeat, and to run in many processes at once.
 *
 * @throws MongodbStoreError for a database that this version does not understand
 */
export async function ensureLayout(db: Db, logger: Logger): Promise<void> {
  const filter = { name: { $in: Object.keys(indexes) } };
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
  const wanted = Object.entries(indexes);
  await Promise.all(wanted.map(([collection, list]) => buildIndexes(db, collection, list, logger)));
}

/** Creates indexes and their collection. Sets no time limit, because indexing a large collection takes long. */
export async function buildIndexes(
  db: Db,
  collection: string,
  wanted: readonly IndexDescription[],
  logger: Logger,
): Promise<void> {
  const start = performance.now();
  for (;;) {
    try {
      const reply = await db.command({ createIndexes: collection, indexes: [...wanted] });
      const count = reply.numIndexesAfter - reply.numIndexesBefore;
      const seconds = Number(((performance.now() - start) / 1000).toFixed(1));
      if (count > 0) logger.info({ collection, count, seconds }, 'Built indexes.');
      return;
    } catch (error) {
      // The socket timed out: the next try waits for the same build.
      if (error instanceof MongoNetworkTimeoutError) continue;
      if (!(error instanceof MongoServerError)) throw error;
      if (error.code === codes.cannotCreateIndex) {
        throw new MongodbStoreError(
          `MongoDB cannot build an index on "${collection}": a sharded collection cannot have unique fields. (${error.errmsg})`,
        );
      }
      if (!codes.indexConflicts.has(Number(error.code))) throw error;
      throw new MongodbStoreError(
        `An index on "${collection}" conflicts with one that Rostrum needs. ` +
          `Drop it: Rostrum creates its own. (${error.errmsg})`,
      );
    }
  }
}
