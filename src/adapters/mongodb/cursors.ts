import { type Db, type Document, Long } from 'mongodb';
import type { Call } from './connection/call.ts';

interface Cursor {
  readonly id: unknown;
  readonly ns: string;
  readonly firstBatch?: readonly Buffer[];
  readonly nextBatch?: readonly Buffer[];
}

/**
 * Options for commands that read records. Their documents stay undecoded until the store needs them: as objects, large
 * ones take many times their size.
 */
const undecoded = { fieldsAsRaw: { firstBatch: true, nextBatch: true } } as const;

/** The average size of documents in recent replies, by kind of read. It falls slowly after large ones. */
const recentSizes = new Map<string, number>();

/**
 * Runs a `find` or an `aggregate` as a raw command, because the driver's own cursors take up to 2.4 times the processor
 * time. Returns its documents, undecoded, in batches of at most 16 MB. Usually the first one has all documents; after
 * large ones, it holds about 1.5 times `bytes`, and at least two documents. Closes the cursor if the caller stops early.
 */
export async function* readBatches(
  db: Db,
  call: Call,
  collection: string,
  first: Document,
  expected: { readonly documents: number; readonly bytes: number; readonly isProjected?: boolean },
): AsyncGenerator<readonly Buffer[]> {
  const kind = `${collection} ${expected.isProjected === true}`;
  let average = recentSizes.get(kind) ?? 1;
  // The server accepts `getMore` only in the session that opened the cursor.
  const session = db.client.startSession();
  const send = async (command: Document): Promise<Cursor> => {
    const fitting = Math.max(2, Math.ceil((1.5 * expected.bytes) / average));
    const batchSize = Math.min(expected.documents, fitting);
    const batch = 'aggregate' in command ? { cursor: { batchSize } } : { batchSize };
    const { cursor } = await call.run(({ maxTimeMS, signal }) => {
      const limited = command === first ? { ...command, maxTimeMS } : command;
      return db.command({ ...limited, ...batch }, { ...undecoded, session, signal });
    });
    return cursor;
  };
  let cursor: Cursor | undefined;
  try {
    for (let command = first; ; ) {
      cursor = await send(command);
      const batch = cursor.firstBatch ?? cursor.nextBatch ?? [];
      const size = batch.reduce((sum, document) => sum + document.length, 0);
      average = Math.max(1, size / Math.max(1, batch.length));
      recentSizes.set(kind, Math.max(average, 0.9 * (recentSizes.get(kind) ?? 1)));
      yield batch;
      const id = Long.fromValue(cursor.id as Long);
      if (id.isZero()) return;
      command = { getMore: id, collection };
    }
  } finally {
    if (cursor !== undefined) closeCursor(db, cursor);
    session.endSession().catch(() => {});
  }
}

/** Closes a cursor, if it is open. If this fails, the server closes it when its session expires. */
export function closeCursor(db: Db, { id, ns }: Pick<Cursor, 'id' | 'ns'>): void {
  const cursor = Long.fromValue(id as Long);
  if (cursor.isZero()) return;
  const collection = ns.slice(db.databaseName.length + 1);
  db.command({ killCursors: collection, cursors: [cursor] }).catch(() => {});
}
