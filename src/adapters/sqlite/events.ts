import { RostrumError, storeUnavailable } from '../../domain/errors.ts';
import type { Collection, Id, Version } from '../../domain/record.ts';
import type { EventLog, EventPage, EventPosition, RecordEvent } from '../../ports/event-log.ts';
import type { OpenFile } from './connection/open-file.ts';

/** How many events are kept. */
const kept = 1_000_000;

/** How often older events are removed, counted in events of this process, and how many at most at once. */
const trimmed = { every: 64, most: 128 };

/** How many events a read looks through for those of one collection: a millisecond or two. */
const searched = 10_000;

/** How collections and types are stored: as their place in these lists. */
const collections = ['users', 'posts'] as const;
const types = ['created', 'updated', 'deleted'] as const;

const insert =
  'INSERT INTO events (mark, collection, type, version, id) VALUES (random(), ?, ?, ?, ?)';

const insertPosts = `INSERT INTO events (mark, collection, type, version, id)
  SELECT random(), ${collections.indexOf('posts')}, ?, version + ?, id FROM posts WHERE authorId = ?`;

const trim = `DELETE FROM events WHERE sequence <= min(
  (SELECT max(sequence) FROM events) - ${kept}, (SELECT min(sequence) FROM events) + ${trimmed.most - 1})`;

/** A number of 64 bits is read as text. */
const place = 'sequence, CAST(mark AS TEXT)';

type Place = readonly [sequence: number, mark: string];
type Row = readonly [...Place, collection: number, type: number, version: Version, id: Id];

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
    return this.#file.read(() => {
      if (after === undefined) return { events: [], next: this.#end() };
      // One moment for the position and what is behind it: other processes remove events.
      return this.#file.connection.transaction('DEFERRED', () => {
        const start = this.#sequenceOf(after);
        const rows = this.#behind(start, limit, collection);
        const isFull = collection === undefined || rows.length === limit;
        const last = isFull ? rows.at(-1) : this.#lastUntil(start + searched);
        return { events: rows.map(eventOf), next: last === undefined ? after : positionOf(last) };
      });
    });
  }

  #behind(start: number, limit: number, collection?: Collection): readonly Row[] {
    const select = `SELECT ${place}, collection, type, version, id FROM events WHERE sequence > ?`;
    const { connection } = this.#file;
    if (collection === undefined) {
      return connection.all(`${select} ORDER BY sequence LIMIT ?`, start, limit);
    }
    const sql = `${select} AND sequence <= ? AND collection = ? ORDER BY sequence LIMIT ?`;
    return connection.all(sql, start, start + searched, collections.indexOf(collection), limit);
  }

  /** @throws RostrumError `events-expired` */
  #sequenceOf(position: EventPosition): number {
    const sequence = Number(/^\d{1,15}(?=\.)/.exec(position)?.[0] ?? -1);
    const sql = `SELECT ${place} FROM events WHERE sequence = ?`;
    const row = this.#file.connection.get<Place>(sql, sequence);
    if (row === undefined || positionOf(row) !== position) {
      throw new RostrumError('events-expired', {});
    }
    return sequence;
  }

  #end(): EventPosition {
    const last = this.#lastUntil(Number.MAX_SAFE_INTEGER);
    // The table is made with a row, and its last row stays.
    if (last === undefined) throw storeUnavailable('none', new Error('The log has no row.'));
    return positionOf(last);
  }

  #lastUntil(sequence: number): Place | undefined {
    const sql = `SELECT ${place} FROM events WHERE sequence <= ? ORDER BY sequence DESC LIMIT 1`;
    return this.#file.connection.get<Place>(sql, sequence);
  }
}

function positionOf([sequence, mark]: Place | Row): EventPosition {
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
