import { RostrumError } from '../../domain/errors.ts';
import type { Collection, Id } from '../../domain/records/record.ts';
import type { EventLog, EventPage, EventPosition, RecordEvent } from '../../ports/event-log.ts';
import type { DataFile } from './connection/data-file.ts';

const maxEvents = 1_000_000;

/** Older events are removed with every 64th call of `add`, at most 128 at a time. */
const trimming = { every: 64, max: 128 };

const insert =
  'INSERT INTO events (mark, type, collection, id, version) VALUES (random(), ?, ?, ?, ?)';
const insertPosts = `INSERT INTO events (mark, type, collection, id, version)
  SELECT random(), ?, 'posts', id, version + ? FROM posts WHERE authorId = ?`;
/** Never removes the event that `lastCommit` names in the file itself: {@link DataFile} recognizes the file by it. */
const trim = `DELETE FROM events WHERE sequence <= min((SELECT inFile FROM lastCommit) - 1,
  (SELECT max(sequence) FROM events) - ${maxEvents}, (SELECT min(sequence) FROM events) + ${trimming.max - 1})`;
const select = "SELECT sequence || '.' || mark, type, collection, id, version FROM events";

type Row = readonly [EventPosition, RecordEvent['type'], Collection, Id, version: number];

/**
 * A table of the newest events, in the order of their commits. Each event is written in the transaction of its
 * change.
 *
 * A position is a row number and the row's random mark. After a restore, numbers repeat with new marks, so old
 * positions expire.
 */
export class SqliteEvents implements EventLog {
  readonly #file: DataFile;
  /** How many calls of {@link add} are counted toward the next trim. The first call trims. */
  #addedSinceTrim = trimming.every;

  constructor(file: DataFile) {
    this.#file = file;
  }

  add(type: RecordEvent['type'], collection: Collection, id: Id, version: number): void {
    this.#file.connection.run(insert, type, collection, id, version);
    this.#addedSinceTrim += 1;
    if (this.#addedSinceTrim < trimming.every) return;
    this.#addedSinceTrim = 0;
    this.#file.connection.run(trim);
  }

  /** Adds an event for each post of an author, before the posts change. */
  addPostsOf(authorId: Id, type: 'updated' | 'deleted'): void {
    this.#file.connection.run(insertPosts, type, type === 'updated' ? 1 : 0, authorId);
  }

  read(limit: number, after?: EventPosition): Promise<EventPage> {
    const { connection } = this.#file;
    return this.#file.read(() => {
      if (after === undefined) {
        const end = connection.get<Row>(`${select} ORDER BY sequence DESC LIMIT 1`);
        // The table is never empty.
        return { events: [], next: String(end?.[0]) };
      }
      const sequence = Number(/^\d{1,15}(?=\.)/.exec(after)?.[0] ?? -1);
      // One statement for the position and the events after it, because other processes remove events.
      const sql = `${select} WHERE sequence >= ? ORDER BY sequence LIMIT ?`;
      const [start, ...rows] = connection.all<Row>(sql, sequence, limit + 1);
      if (start?.[0] !== after) throw new RostrumError('events-expired', {});
      const events = rows.map(([, type, collection, id, version]) => {
        return { type, collection, id, version };
      });
      return { events, next: rows.at(-1)?.[0] ?? after };
    });
  }
}
