import { RostrumError, storeUnavailable } from '../../domain/errors.ts';
import type { EventLog, EventPage, EventPosition, RecordEvent } from '../../ports/event-log.ts';
import type { Lifetime } from './repository.ts';

/** How many events are kept: about 10 MB. */
const kept = 65_536;

/** The last events of a store in memory. A position is the ring's own random number and a count. */
export class EventRing implements EventLog {
  readonly #name = Math.random().toString(36).slice(2);
  readonly #lifetime: Lifetime;
  readonly #events: RecordEvent[] = [];
  /** How many there were in all. */
  #count = 0;

  constructor(lifetime: Lifetime) {
    this.#lifetime = lifetime;
  }

  add(event: RecordEvent): void {
    this.#events[this.#count % kept] = event;
    this.#count += 1;
  }

  async read(limit: number, after?: EventPosition): Promise<EventPage> {
    if (this.#lifetime.closed) throw storeUnavailable('none');
    const from = after === undefined ? this.#count : this.#countOf(after);
    const to = Math.min(from + limit, this.#count);
    const events: RecordEvent[] = [];
    for (let n = from; n < to; n++) events.push({ ...(this.#events[n % kept] as RecordEvent) });
    return { events, next: `${this.#name}.${to}` };
  }

  #countOf(position: EventPosition): number {
    const [name, count = ''] = position.split('.', 2);
    const from = /^\d{1,15}$/.test(count) ? Number(count) : Number.NaN;
    const isKept = from >= this.#count - kept && from <= this.#count;
    if (name !== this.#name || !isKept) throw new RostrumError('events-expired', {});
    return from;
  }
}
