import type { Db } from 'mongodb';
import type { Id } from '../../../domain/record.ts';
import type { Logger } from '../../../ports/logger.ts';
import { limits } from '../connection/limits.ts';
import { collectionNames, metaCollection, schemaVersion } from '../schema/collections.ts';
import { MongodbRefusal } from '../schema/refusal.ts';
import { checkCollections } from '../schema/schema.ts';
import { Lease, type Meta, type Resource } from './lease.ts';
import { checkPosts, migratePart, partsOf } from './records.ts';
import { codeOf, mayBeOurs, namespaceNotFound, shutOut } from './shut-out.ts';

/** Takes what an operator may want to know of a migration. */
export type Log = Pick<Logger, 'info' | 'warn'>;

// Users first: then no server of an earlier version deletes one whose posts it does not find.
const resources = ['users', 'posts'] as const satisfies readonly Resource[];

/** Indexes of version 1 that are no more. */
const outdated = { users: ['name', 'expires'], posts: ['title', 'expires'] } as const;

/**
 * Makes what an earlier version stored that of this one, or ends at once where nothing is left of it.
 * Killed at any point, it goes on there the next time; no other process reads or writes meanwhile.
 *
 * @param holder a name of this process, for the lease
 * @throws MongodbRefusal for a database that is of a later version, or of something else, or has posts
 * that cannot be migrated
 * @throws MigrationUnderWay while another process does it
 */
export async function migrate(db: Db, holder: string, log: Log): Promise<void> {
  const meta = db.collection<Meta>(metaCollection);
  const found = await meta.findOne({ _id: 'schema' });
  if (found !== null && !(found.version <= schemaVersion)) throw laterThan(found.version);
  if (found?.version === schemaVersion && found.migration === undefined) return;
  if (found === null) {
    await checkOwner(db);
    await meta.updateOne({ _id: 'schema' }, { $setOnInsert: { version: 1 } }, { upsert: true });
  }
  const lease = await Lease.take(meta, holder);
  if (lease === undefined) return;
  try {
    await run(db, lease, log);
  } catch (error) {
    await lease.leave().catch(() => {});
    throw error;
  }
  await lease.end();
}

async function run(db: Db, lease: Lease, log: Log): Promise<void> {
  if (lease.version < schemaVersion) {
    await checkCollections(db, [...resources, ...Object.values(collectionNames)]);
    await checkPosts(db.collection<{ _id: Id }>('posts'), lease);
    await lease.begin();
  }
  for (const resource of resources) {
    const lost = await shutOut(db, resource);
    if (lost > 0) log.warn({ resource, lost }, lossWarning);
    const records = db.collection<{ _id: Id }>(collectionNames[resource]);
    for (const index of outdated[resource]) {
      await codeOf(records.dropIndex(index), [namespaceNotFound, indexNotFound]);
    }
  }
  for (const resource of resources) await migrateRecords(db, resource, lease, log);
}

async function migrateRecords(db: Db, resource: Resource, lease: Lease, log: Log): Promise<void> {
  const collection = db.collection<{ _id: Id }>(collectionNames[resource]);
  const all = await collection.estimatedDocumentCount();
  const say = (done: number) => {
    const message = 'What an earlier version stored is made that of this one.';
    if (all > 0) log.info({ collection: collection.collectionName, done, all }, message);
    return Date.now();
  };
  let [done, said] = [0, say(0)];
  let writing: Promise<Id | undefined> = Promise.resolve(undefined);
  // While the server changes one part, it reads the next.
  for await (const part of partsOf(collection, resource, lease.after(resource))) {
    await lease.keep(resource, await writing);
    if (Date.now() - said > limits.migrationSayMs) said = say(done);
    writing = migratePart(collection, resource, part).then(() => part.at(-1)?._id);
    writing.catch(() => {});
    done += part.length;
  }
  await lease.keep(resource, await writing);
  say(done);
}

/** Lets a database in that does not say its version, unless it looks like that of another program. */
async function checkOwner(db: Db): Promise<void> {
  for (const name of await checkCollections(db, resources)) {
    if (await mayBeOurs(db.collection(name))) continue;
    throw new MongodbRefusal(
      `"${name}" is there and has something else than Rostrum stores. Use another database.`,
    );
  }
}

function laterThan(version: number): MongodbRefusal {
  return new MongodbRefusal(
    `A later version of Rostrum has written this database (its schema is ${version}, and this ` +
      `version of Rostrum knows ${schemaVersion}). Run that version, or use another database.`,
  );
}

const lossWarning =
  'As the migration began, a server of an earlier version made records whose id, email address or ' +
  'idempotency key was taken: they are lost.';

const indexNotFound = 27;
