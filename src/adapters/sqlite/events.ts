import { RostrumError, storeUnavailable } from '../../domain/errors.ts';
import type { Collection, Id, Version } from '../../domain/record.ts';
import type { EventLog, EventPage, EventPosition, RecordEvent } from '../../ports/event-log.ts';
import type { Connection } from './connection/connection.ts';
import { reading } from './connection/reading.ts';

/** How many events are kept. */
const kept = 1_000_000;

/** Older ones go with every so many events of this process, so many at a time at most. */
const trimmed = { every: 64, most: 128 };

/** How the events of a collection are kept; these two numbers take no space in a row. */
const kinds = { users: 0, posts: 1 } as const satisfies Record<Collection, number>;
const collections = ['users', 'posts'] as const satisfies readonly Collection[];

const insert = 'INSERT INTO events (mark, kind, version, id) VALUES (random(), ?, ?, ?)';

/** @param version what the post gets as its version, as an expression */
const insertPosts = (version: string) => `INSERT INTO events (mark, kind, version, id)
  SELECT random(), ${kinds.posts}, ${version}, id
  FROM posts INDEXED BY posts_author_created WHERE author_id = ?`;

/** The first row of the log, and its last one, are looked up in no time. */
const trim = `DELETE FROM events WHERE sequence <= min(
  (SELECT max(sequence) FROM events) - ${kept}, (SELECT min(sequence) FROM events) + ${trimmed.most - 1})`;

/** A number of 64 bits is read as text. */
const mark = 'CAST(mark AS TEXT)';
const last = `SELECT sequence, ${mark} FROM events ORDER BY sequence DESC LIMIT 1`;

/** One statement for the position and what is behind it: between two, others may remove some of it. */
const from = `SELECT sequence, ${mark}, kind, version, id FROM events
  WHERE sequence >= ? ORDER BY sequence LIMIT ?`;

type Place = readonly [sequence: number, mark: string];
type Row = readonly [...Place, kind: 0 | 1, version: Version | null, id: Id];

/**
 * The last events, in a table, in the order in which they are committed. What adds to it runs in the
 * transaction of the change.
 *
 * A position is the number and the mark of a row, a random one, and is good while that row is there. A
 * copy of the file that was put back gives the numbers behind its own a second time, with other marks.
 */
export class SqliteEvents implements EventLog {
  readonly #connection: Connection;
  /** How many this process has added since older ones were removed. */
  #added = trimmed.every;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  add(collection: Collection, id: Id, version: Version | null): void {
    this.#connection.run(insert, kinds[collection], version, id);
    this.#added += 1;
    if (this.#added < trimmed.every) return;
    this.#added = 0;
    this.#connection.run(trim);
  }

  /** Adds what becomes of each post of an author who is about to be deleted. */
  addPostsOf(authorId: Id, change: 'update' | 'delete'): void {
    const version = change === 'delete' ? 'NULL' : 'record_version + 1';
    this.#connection.run(insertPosts(version), authorId);
  }

  async read(limit: number, after?: EventPosition): Promise<EventPage> {
    return reading(() => {
      if (after === undefined) return { events: [], next: this.#end() };
      const [sequence = ''] = /^\d{1,15}(?=\.)/.exec(after) ?? [];
      const rows = this.#connection.all<Row>(from, Number(sequence), limit + 1);
      const [first, ...behind] = rows;
      if (first === undefined || positionOf(first) !== after) {
        throw new RostrumError('events-expired', {});
      }
      return { events: behind.map(eventOf), next: positionOf(behind.at(-1) ?? first) };
    });
  }

  #end(): EventPosition {
    const row = this.#connection.get<Place>(last);
    // The table is made with a row, and the last one stays.
    if (row === undefined) throw storeUnavailable('none', new Error('The log has no row.'));
    return positionOf(row);
  }
}

function positionOf([sequence, random]: Place | Row): EventPosition {
  return `${sequence}.${random}`;
}

function eventOf([, , kind, version, id]: Row): RecordEvent {
  return { collection: collections[kind], id, version };
}
