import { hash, randomBytes } from 'node:crypto';
import { type Db, type Document, MongoServerError, Timestamp } from 'mongodb';
import { isRostrumError, RostrumError } from '../../domain/errors.ts';
import type { Id, Version } from '../../domain/records/record.ts';
import type { EventLog, EventPage, EventPosition, RecordEvent } from '../../ports/event-log.ts';
import { type MetaDocument, metaCollection, tombstoneCollections } from './collections.ts';
import type { Call } from './connection/call.ts';
import type { Connection } from './connection/connection.ts';
import { closeCursor } from './cursors.ts';
import { codes } from './errors.ts';

/** The log's name, and the first operation time after every majority-committed write. */
interface Log {
  readonly name: string;
  readonly end: Timestamp;
}

interface Change {
  readonly collection: string;
  readonly id: Id;
  readonly version: Version;
  readonly operationType: string;
}

/**
 * Record changes, read from the replica set's oplog: nothing is written for events. Each read is a change
 * stream with one batch, and keeps no cursor.
 *
 * A position is the log's name, a resume token, and a digest of both, because the server accepts modified tokens
 * and tokens from another database.
 */
export class MongodbEvents implements EventLog {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  read(limit: number, after?: EventPosition): Promise<EventPage> {
    return this.#connection.call(async (call) => {
      try {
        return await this.#read(call, limit, after);
      } catch (error) {
        // The server doesn't know the position, or takes too long to read from it to the oplog's end.
        const cause = isRostrumError(error) ? error.cause : error;
        const isTooLate = cause instanceof MongoServerError && cause.code === codes.maxTimeExpired;
        const mayBeExpired = error instanceof MongoServerError || isTooLate;
        if (!mayBeExpired || after === undefined) throw error;
        // If the log's end can't be read either, the position is not at fault.
        await this.#read(call, limit);
        throw new RostrumError('events-expired', {}, { cause: error });
      }
    });
  }

  #read(call: Call, limit: number, after?: EventPosition): Promise<EventPage> {
    const { db } = this.#connection;
    return call.read(async ({ maxTimeMS }) => {
      const log = await logOf(db, maxTimeMS);
      const start =
        after === undefined
          ? { startAtOperationTime: log.end }
          : { resumeAfter: { _data: tokenOf(after, log) } };
      const { cursor } = await db.command({
        aggregate: 1,
        pipeline: [{ $changeStream: start }, ...pipeline],
        cursor: { batchSize: after === undefined ? 0 : limit },
        readConcern: majority,
        maxTimeMS,
      });
      closeCursor(db, cursor);
      const changes = cursor.firstBatch as readonly Change[];
      const next = positionOf(String(cursor.postBatchResumeToken._data), log);
      return { events: changes.map(toEvent), next };
    });
  }
}

const inLive = { 'ns.coll': { $in: ['users', 'posts'] } };
const inTombstones = { 'ns.coll': { $in: Object.values(tombstoneCollections) } };
const updated = 'updateDescription.updatedFields.version';
const versions = ['$fullDocument.version', '$fullDocument.lastVersion', `$${updated}`];

/** Selects the changes that are events. No record data leaves the server. */
const pipeline: readonly Document[] = [
  {
    $match: {
      $or: [
        { ...inLive, operationType: { $in: ['insert', 'replace', 'drop', 'rename'] } },
        { ...inLive, [updated]: { $exists: true } },
        // As `$out` does.
        { operationType: 'rename', 'to.coll': { $in: ['users', 'posts'] } },
        // An id that `load` stored is not a deletion.
        { ...inTombstones, operationType: 'insert', 'fullDocument.isLoaded': { $exists: false } },
      ],
    },
  },
  {
    $project: {
      operationType: true,
      collection: '$ns.coll',
      id: '$documentKey._id',
      version: { $ifNull: versions },
    },
  },
];

const majority = { level: 'majority' } as const;

/** Throws `events-expired` if a collection was dropped or renamed, as when a backup is restored. */
function toEvent({ collection: name, id, version, operationType }: Change): RecordEvent {
  const isChange = ['insert', 'update', 'replace'].includes(operationType);
  if (!isChange) throw new RostrumError('events-expired', {});
  const isUser = name === 'users' || name === tombstoneCollections.users;
  const isDeleted = name !== 'users' && name !== 'posts';
  const type = isDeleted ? 'deleted' : operationType === 'insert' ? 'created' : 'updated';
  return { type, collection: isUser ? 'users' : 'posts', id, version };
}

/** Returns the log's name and end. Creates the log's document if it is missing. */
async function logOf(db: Db, maxTimeMS: number): Promise<Log> {
  for (;;) {
    const { cursor, operationTime } = await db.command({
      find: metaCollection,
      filter: { _id: 'log' },
      limit: 1,
      singleBatch: true,
      readConcern: majority,
      maxTimeMS,
    });
    const [found] = cursor.firstBatch;
    if (found !== undefined) {
      // By default, the stream would start after writes that no majority has yet. Lists don't show these, so a follower
      // would miss them.
      const { t, i } = operationTime as Timestamp;
      return { name: String(found.name), end: new Timestamp({ t, i: i + 1 }) };
    }
    const name = randomBytes(9).toString('base64url');
    await db
      .collection<MetaDocument>(metaCollection)
      .updateOne({ _id: 'log' }, { $setOnInsert: { name } }, { upsert: true });
  }
}

function positionOf(token: string, { name }: Log): EventPosition {
  const text = `${name}.${Buffer.from(token, 'hex').toString('base64url')}`;
  return `${text}.${hash('sha256', text, 'base64url').slice(0, 16)}`;
}

/** Returns the resume token in a position. Throws `events-expired` if it is not a position in this log. */
function tokenOf(position: EventPosition, log: Log): string {
  const [, text = ''] = position.split('.', 2);
  const token = Buffer.from(text, 'base64url').toString('hex').toUpperCase();
  if (positionOf(token, log) !== position) throw new RostrumError('events-expired', {});
  return token;
}
