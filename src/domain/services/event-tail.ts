import type { EventLog, EventPage, EventPosition } from '../../ports/event-log.ts';
import { RostrumError } from '../errors.ts';
import type { Collection } from '../records/record.ts';

/** Interval between two checks for new events while a reader waits, in milliseconds. */
const pollMs = 250;

/** Limit of readers that can wait at the same time. */
const maxWaiting = 1000;

/** Events that are read at a time: a reader skips those of other collections. */
const readSize = 1000;

export interface EventsRequest {
  readonly limit: number;
  readonly after?: EventPosition | undefined;
  /** The page has events of these collections only. */
  readonly collections: ReadonlySet<Collection>;
}

interface EventsWait extends EventsRequest {
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Reads the event log of a store, and waits for new events on behalf of all readers. */
export class EventTail {
  readonly #log: EventLog;
  #waiting = 0;
  /** The reads for waiting readers: those at the same position share one. */
  readonly #reads = new Map<string, Promise<EventPage>>();
  /** Settled once these reads have ended: one page is read at a time. */
  #last: Promise<unknown> = Promise.resolve();
  /** Settled when all readers at the end of the log read again. */
  #tick: Promise<unknown> | undefined;

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Reads up to `limit` events, and returns those of the given collections. */
  async read({ limit, after, collections }: EventsRequest): Promise<EventPage> {
    return visibleEvents(await this.#log.read(limit, after), collections);
  }

  /**
   * Reads like {@link read}. If there is no event to return, goes on until there is one or the wait ends.
   *
   * @throws RostrumError `overloaded` if too many readers wait
   */
  async readOrWait({ waitMs, signal, ...request }: EventsWait): Promise<EventPage> {
    const { limit, collections } = request;
    let next = request.after ?? (await this.#log.read(1)).next;
    if (signal?.aborted) return { events: [], next };
    if (this.#waiting >= maxWaiting) throw new RostrumError('overloaded', {});
    this.#waiting += 1;
    const { promise, resolve, reject } = Promise.withResolvers<EventPage>();
    let isWaiting = true;
    const readOn = async () => {
      while (isWaiting) {
        const page = await this.#readShared(readSize, next);
        const visible = page.events.flatMap((event, i) =>
          collections.has(event.collection) ? i : [],
        );
        // Only the log can name the position of a cut, so the page is read again up to there.
        const cut =
          visible[limit] === undefined ? page : await this.#readShared(visible[limit], next);
        if (visible.length > 0) return resolve(visibleEvents(cut, collections));
        next = page.next;
        if (page.events.length === 0) await this.#nextTick();
      }
    };
    const end = () => resolve({ events: [], next });
    const timer = setTimeout(end, waitMs);
    signal?.addEventListener('abort', end);
    readOn().catch(reject);
    try {
      return await promise;
    } finally {
      isWaiting = false;
      this.#waiting -= 1;
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    }
  }

  /**
   * Reads a page after the reads that wait. Pauses after a full one for as long as it took, so that readers far behind
   * use half of a store's time at most.
   */
  #readShared(limit: number, position: EventPosition): Promise<EventPage> {
    const name = `${limit} ${position}`;
    const shared = this.#reads.get(name);
    if (shared !== undefined) return shared;
    let start = 0;
    const read = this.#last.then(() => {
      start = Date.now();
      return this.#log.read(limit, position);
    });
    const page = read.finally(() => this.#reads.delete(name));
    this.#reads.set(name, page);
    this.#last = page.then(
      ({ events }) => pause(events.length === readSize ? Math.min(Date.now() - start, pollMs) : 0),
      () => {},
    );
    return page;
  }

  #nextTick(): Promise<unknown> {
    this.#tick ??= pause(pollMs).finally(() => {
      this.#tick = undefined;
    });
    return this.#tick;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Returns copies of the events that a reader is allowed to see: readers share the page. */
function visibleEvents(
  { events, next }: EventPage,
  collections: ReadonlySet<Collection>,
): EventPage {
  const visible = events.filter(({ collection }) => collections.has(collection));
  return { events: visible.map((event) => ({ ...event })), next };
}
