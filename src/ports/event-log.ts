import type { Collection, Id, Version } from '../domain/records/record.ts';

/** A change of one record, without the record's fields: read the record to see them. */
export interface RecordEvent {
  readonly type: 'created' | 'updated' | 'deleted';
  readonly collection: Collection;
  readonly id: Id;
  /** The version that the change made, or the version that was deleted. */
  readonly version: Version;
}

/** A position in a log: opaque visible ASCII characters, at most 512 unless the store's ids are long. */
export type EventPosition = string;

export interface EventPage {
  /** The events after the position, in the order of the log. */
  readonly events: readonly RecordEvent[];
  /** The position to read on from. */
  readonly next: EventPosition;
}

/**
 * Every change of every record, in one order.
 *
 * - Type, collection, id and version identify an event. If the deletion of a user changes or deletes
 *   posts, each post has its own event.
 * - A call that changes nothing, is rejected, fails or is replayed produces no event.
 * - An event commits with its change. It can be read soon after the acknowledgement (within a second,
 *   unless the store documents a longer delay), and never before the change is durable.
 * - The events of one record come in the order of its versions. All readers see one order.
 * - Reading on from `next` returns every later event once.
 * - A store may drop old events. Reading from a position that was dropped throws `events-expired`.
 * - A record stored by `load` produces an event if it is new, or if its version changes.
 */
export interface EventLog {
  /**
   * Returns at most `limit` events after a position. Without a position, returns no events, and the end
   * of the log as `next`. Never waits for events.
   *
   * @throws RostrumError `events-expired` if the log cannot be read on from the position
   * @throws RostrumError `events-unavailable` if the database behind an open store keeps no log
   */
  read(limit: number, after?: EventPosition): Promise<EventPage>;
}
