import { RostrumError } from '../../domain/errors.ts';
import type { EventPage, EventPosition, RecordEvent } from '../../ports/event-log.ts';

/** How many events are kept: about 10 MB. */
const capacity = 65_536;

/** The last events of a memory store. A position is the ring's random name and a number of events. */
export class EventRing {
  readonly #name = Math.random().toString(36).slice(2);
  readonly #events: RecordEvent[] = [];
  /** The number of events since the store was created. */
  #count = 0;

  add(event: RecordEvent): void {
    this.#events[this.#count % capacity] = event;
    this.#count += 1;
  }

  read(limit: number, after?: EventPosition): EventPage {
    const from = after === undefined ? this.#count : this.#countOf(after);
    const to = Math.min(from + limit, this.#count);
    const events: RecordEvent[] = [];
    for (let n = from; n < to; n++) events.push({ ...(this.#events[n % capacity] as RecordEvent) });
    return { events, next: `${this.#name}.${to}` };
  }

  #countOf(position: EventPosition): number {
    const from = Number(position.slice(this.#name.length + 1));
    const isOwn = position === `${this.#name}.${from}` && Number.isInteger(from) && from >= 0;
    const isKept = from >= this.#count - capacity && from <= this.#count;
    if (!(isOwn && isKept)) throw new RostrumError('events-expired', {});
    return from;
  }
}
