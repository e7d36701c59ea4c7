import { RostrumError } from '../../domain/errors.ts';
import type { Collection, Id, Version } from '../../domain/record.ts';
import type { EventLog, EventPage, EventPosition, RecordEvent } from '../../ports/event-log.ts';
import type { OpenFile } from './connection/open-file.ts';

/** How many events are kept. */
const kept = 1_000_000;

/** Older events are removed with every 64th event of this process, 128 at most at a time. */
const trimmed = { every: 64, most: 128 };

/** How many events a read looks through for those of one collection: a millisecond or two. */
const searched = 10_000;

/** Collections and types are stored as their place in these lists. */
const collections = ['users', 'posts'] as const;
const types = ['created', 'updated', 'deleted'] as const;

const insert =
  'INSERT INTO events (mark, collection, type, version, id) VALUES (random(), ?, ?, ?, ?)';

const insertPosts = `INSERT INTO events (mark, collection, type, version, id)
  SELECT random(), ${collections.indexOf('posts')}, ?, version + ?, id FROM posts WHERE authorId = ?`;

const trim = `DELETE FROM events WHERE sequence <= min(
  (SELECT max(sequence) FROM events) - ${kept}, (SELECT min(sequence) FROM events) + ${trimmed.most - 1})`;

/** A mark has 64 bits, so it is read as text. */
const select = 'SELECT sequence, CAST(mark AS TEXT), collection, type, version, id FROM events';

type Row = readonly [
  sequence: number,
  mark: string,
  collection: number,
  type: number,
  version: Version,
  id: Id,
];

/**
 * The newest events, in a table, in the order of their commits. Each is written in the transaction of its
 * change.
 *
 * A position is the number of a row and its mark, which is random, and is good while the row exists. A
 * backup that is put back gives the numbers behind its own a second time, with other marks.
 */
export class SqliteEvents implements EventLog {
  readonly #file: OpenFile;
  /** How many events this process has added since it last removed older ones. */
  #added = trimmed.every;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  add(type: RecordEvent['type'], collection: Collection, id: Id, version: Version): void {
    const { connection } = this.#file;
    connection.run(insert, collections.indexOf(collection), types.indexOf(type), version, id);
    this.#added += 1;
    if (this.#added < trimmed.every) return;
    this.#added = 0;
    connection.run(trim);
  }

  /** Adds what is about to happen to each post of an author. */
  addPostsOf(authorId: Id, type: 'updated' | 'deleted'): void {
    const growth = type === 'updated' ? 1 : 0;
    this.#file.connection.run(insertPosts, types.indexOf(type), growth, authorId);
  }

  read(limit: number, after?: EventPosition, collection?: Collection): Promise<EventPage> {
    const { connection } = this.#file;
    return this.#file.read(() =>
      // One transaction, because other processes remove events.
      connection.transaction('DEFERRED', () => {
        if (after === undefined) return { events: [], next: this.#lastUntil() };
        const start = Number(/^\d{1,15}(?=\.)/.exec(after)?.[0] ?? -1);
        const row = connection.get<Row>(`${select} WHERE sequence = ?`, start);
        if (row === undefined || positionOf(row) !== after) {
          throw new RostrumError('events-expired', {});
        }
        const end = start + (collection === undefined ? limit : searched);
        const rows = connection.all<Row>(
          `${select} WHERE sequence > ? AND sequence <= ? AND collection IN (?, ?) ORDER BY sequence LIMIT ?`,
          ...[
            start,
            end,
            ...collections.map((one) => collections.indexOf(collection ?? one)),
            limit,
          ],
        );
        const last = rows.at(-1);
        const next = last && rows.length === limit ? positionOf(last) : this.#lastUntil(end);
        return { events: rows.map(eventOf), next };
      }),
    );
  }

  /** The table is made with a row, and its last row stays. */
  #lastUntil(sequence = Number.MAX_SAFE_INTEGER): EventPosition {
    const sql = `${select} WHERE sequence <= ? ORDER BY sequence DESC LIMIT 1`;
    return positionOf(this.#file.connection.get<Row>(sql, sequence) as Row);
  }
}

function positionOf([sequence, mark]: Row): EventPosition {
  return `${sequence}.${mark}`;
}

function eventOf([, , collection, type, version, id]: Row): RecordEvent {
  return {
    type: types[type] as RecordEvent['type'],
    collection: collections[collection] as Collection,
    id,
    version,
  };
}
