import { hash, randomBytes } from 'node:crypto';
import { type Db, type Document, Long, MongoServerError, Timestamp } from 'mongodb';
import { isRostrumError, RostrumError } from '../../domain/errors.ts';
import type { Collection, Id } from '../../domain/record.ts';
import type { EventLog, EventPage, EventPosition, RecordEvent } from '../../ports/event-log.ts';
import type { Call } from './connection/call.ts';
import type { Connection } from './connection/connection.ts';
import { isOverdue } from './connection/errors.ts';
import { collectionNames, metaCollection } from './schema/collections.ts';

/** The name of a log, and a time that lies behind all that a majority has by now. */
interface Log {
  readonly name: string;
  readonly end: Timestamp;
}

/** A change, as the pipeline below tells of it. */
interface Change {
  readonly collection: string;
  readonly id: Id;
  readonly version: number | null;
  readonly operationType: string;
}

/**
 * The changes of records as the log of a replica set has them: nothing is written for events. Each read
 * is a change stream of one batch, and keeps no cursor.
 *
 * A position is the name of the log, a resume token, and a digest of both. The server takes tokens that
 * were changed or come from another database: the digest and the name see to that.
 */
export class MongodbEvents implements EventLog {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  read(limit: number, after?: EventPosition): Promise<EventPage> {
    return this.#connection.call(async (call) => {
      if (!this.#connection.hasTransactions) throw new RostrumError('events-unavailable', {});
      try {
        return await this.#read(call, limit, after);
      } catch (error) {
        const isStuck = error instanceof MongoServerError || isOverdue(error);
        if (isStuck && after !== undefined) {
          // Where the end cannot be read either, it is not the position that is at fault.
          await this.#read(call, 1, undefined);
          throw new RostrumError('events-expired', {}, { cause: error });
        }
        if (isStuck || !isRostrumError(error, 'store-unavailable')) throw error;
        // Once more, of another primary perhaps, as the driver does with commands that it knows.
        return await this.#read(call, limit, after);
      }
    });
  }

  #read(call: Call, limit: number, after: EventPosition | undefined): Promise<EventPage> {
    const { db } = this.#connection;
    return call.read(async ({ maxTimeMS }) => {
      const log = await logOf(db, maxTimeMS);
      const start =
        after === undefined
          ? { startAtOperationTime: log.end }
          : { resumeAfter: { _data: tokenOf(after, log) } };
      const batchSize = after === undefined ? 0 : limit;
      const { changes, token } = await readStream(db, { start, batchSize, maxTimeMS });
      return { events: changes.map(toEvent), next: positionOf(token, log) };
    });
  }
}

/** Which changes are events; no part of a record leaves the server. */
const pipeline: readonly Document[] = [
  {
    $match: {
      'ns.coll': { $in: Object.values(collectionNames) },
      $or: [
        { operationType: 'insert', 'fullDocument.record': { $exists: true } },
        { operationType: 'replace', 'fullDocument.pending': { $exists: false } },
        { 'updateDescription.updatedFields.version': { $exists: true } },
        { 'updateDescription.removedFields': 'record' },
        { operationType: { $in: ['drop', 'rename'] } },
      ],
    },
  },
  {
    $project: {
      operationType: true,
      collection: '$ns.coll',
      id: '$documentKey._id',
      // What is left of a deleted record has none.
      version: {
        $ifNull: ['$fullDocument.version', '$updateDescription.updatedFields.version', null],
      },
    },
  },
];

const majority = { level: 'majority' } as const;

interface Stream {
  readonly start: Document;
  readonly batchSize: number;
  readonly maxTimeMS: number;
}

async function readStream(db: Db, { start, batchSize, maxTimeMS }: Stream) {
  const { cursor } = await db.command({
    aggregate: 1,
    pipeline: [{ $changeStream: start }, ...pipeline],
    cursor: { batchSize },
    readConcern: majority,
    maxTimeMS,
  });
  const cursors = [Long.fromValue(cursor.id)];
  // One that stays, because this fails, is closed by the server ten minutes later.
  db.command({ killCursors: cursor.ns.slice(db.databaseName.length + 1), cursors }).catch(() => {});
  const changes = cursor.firstBatch as readonly Change[];
  return { changes, token: String(cursor.postBatchResumeToken._data) };
}

const resources = Object.keys(collectionNames) as Collection[];

/** @throws RostrumError `events-expired` where a whole collection went, as before a backup is restored */
function toEvent({ collection, id, version, operationType }: Change): RecordEvent {
  const resource = resources.find((one) => collectionNames[one] === collection);
  if (resource === undefined || /drop|rename/.test(operationType)) {
    throw new RostrumError('events-expired', {});
  }
  return { collection: resource, id, version: version && Number(version) };
}

/** The document of the log, made when it is first needed; a database that was put back gets another. */
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
      // Without a time the server begins behind writes that no list shows yet, and perhaps never will.
      const { t, i } = operationTime as Timestamp;
      return { name: String(found.name), end: new Timestamp({ t, i: i + 1 }) };
    }
    const name = randomBytes(9).toString('base64url');
    await db
      .collection<{ _id: string }>(metaCollection)
      .updateOne({ _id: 'log' }, { $setOnInsert: { name } }, { upsert: true });
  }
}

function positionOf(token: string, { name }: Log): EventPosition {
  const text = `${name}.${Buffer.from(token, 'hex').toString('base64url')}`;
  return `${text}.${hash('sha256', text, 'base64url').slice(0, 16)}`;
}

/** @throws RostrumError `events-expired` for any text but the positions of this log */
function tokenOf(position: EventPosition, log: Log): string {
  const [, text = ''] = position.split('.', 2);
  const token = Buffer.from(text, 'base64url').toString('hex').toUpperCase();
  if (positionOf(token, log) !== position) throw new RostrumError('events-expired', {});
  return token;
}
