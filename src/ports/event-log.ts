import type { Collection, Id, Version } from '../domain/record.ts';

/** A change of one record. It has no field of it: the record is there to be read. */
export interface RecordEvent {
  readonly collection: Collection;
  readonly id: Id;
  /** The version that the change made: 1 of a creation. Null of a deletion. */
  readonly version: Version | null;
}

/** A position in a log: opaque, at most 512 visible ASCII characters. */
export type EventPosition = string;

export interface EventPage {
  /** Those behind the position, in the order of the log; none when there are none. */
  readonly events: readonly RecordEvent[];
  /** The position to read on from. */
  readonly next: EventPosition;
}

/**
 * Every change of every record, in one order.
 *
 * - A creation is version 1, a change is a later version, a deletion is null. Collection, id and version
 *   name an event, because an id is never given twice. Each post that the deletion of a user changes or
 *   deletes is an event of its own.
 * - What changes nothing, is refused, fails or is replayed is no event.
 * - An event commits with its change. It can be read within a second of the acknowledgement, and never
 *   before the change can no longer be lost. (A sharded cluster may take 15 s.)
 * - The events of one record come in the order of its versions. All readers see one order.
 * - Reading on from `next` meets every event behind it once.
 * - A store may forget old events. A position that it cannot read on from is `events-expired`.
 * - A record that `load` stores is an event when it is new, or at another version than before.
 */
export interface EventLog {
  /**
   * The events behind a position, at most `limit` of them; without a position, none, and the end of the
   * log as `next`. It never waits for events.
   *
   * @throws RostrumError `events-expired`, `events-unavailable`
   */
  read(limit: number, after?: EventPosition): Promise<EventPage>;
}
