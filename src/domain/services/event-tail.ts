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
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined;
}

interface WaitingReader extends EventsRequest, PromiseWithResolvers<EventPage> {
  /** Where the next read begins. */
  next: EventPosition;
  /** True if the last read found no more events. */
  isAtEnd: boolean;
}

/** Reads the event log of a store, and waits for new events on behalf of all readers, in one loop. */
export class EventTail {
  readonly #log: EventLog;
  readonly #readers = new Set<WaitingReader>();
  /** Ends the pause of the loop. */
  #wake = () => {};
  #isReading = false;

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
    const next = request.after ?? (await this.#log.read(1)).next;
    if (signal?.aborted) return { events: [], next };
    if (this.#readers.size >= maxWaiting) throw new RostrumError('overloaded', {});
    const settled = Promise.withResolvers<EventPage>();
    const reader: WaitingReader = { ...request, ...settled, next, isAtEnd: false };
    const end = () => reader.resolve({ events: [], next: reader.next });
    const timer = setTimeout(end, waitMs);
    signal?.addEventListener('abort', end);
    this.#readers.add(reader);
    this.#wake();
    if (!this.#isReading) void this.#readForAll();
    try {
      return await reader.promise;
    } finally {
      this.#readers.delete(reader);
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    }
  }

  /** Reads for all waiting readers, one page after another, until none is left. */
  async #readForAll(): Promise<void> {
    this.#isReading = true;
    let timer: number | undefined;
    const poll = () => {
      for (const reader of this.#readers) reader.isAtEnd = false;
      this.#wake();
      timer = setTimeout(poll, pollMs);
    };
    poll();
    await pause(0);
    while (this.#readers.size > 0) {
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const behind = [...this.#readers].filter(({ isAtEnd }) => !isAtEnd);
      for (const [position, readers] of Map.groupBy(behind, ({ next }) => next)) {
        await this.#readFor(readers, position);
      }
      if (behind.length === 0) await woken;
    }
    clearTimeout(timer);
    this.#isReading = false;
  }

  /**
   * Reads one page for the readers at a position. Pauses after a full page for as long as it took, so that readers
   * far behind use half of a store's time at most.
   */
  async #readFor(readers: readonly WaitingReader[], position: EventPosition): Promise<void> {
    const start = Date.now();
    let isFull = false;
    try {
      const page = await this.#log.read(readSize, position);
      isFull = page.events.length === readSize;
      for (const [cutAt, group] of Map.groupBy(readers, (one) => cutOf(page, one))) {
        // Only the log can name the position of a cut, so the page is read again up to there.
        const cut = cutAt === undefined ? page : await this.#log.read(cutAt, position);
        for (const reader of group) give(reader, cut);
      }
    } catch (error) {
      for (const { reject } of readers) reject(error);
    }
    await pause(isFull ? Math.min(Date.now() - start, pollMs) : 0);
  }
}

/** Returns how many events of a page a reader can take; undefined for the whole page. */
function cutOf({ events }: EventPage, { collections, limit }: WaitingReader): number | undefined {
  const visible = events.flatMap(({ collection }, i) => (collections.has(collection) ? i : []));
  return visible[limit];
}

/** Settles a reader if the page has events for it. Otherwise the reader goes on behind the page. */
function give(reader: WaitingReader, page: EventPage): void {
  const visible = visibleEvents(page, reader.collections);
  if (visible.events.length > 0) reader.resolve(visible);
  reader.next = page.next;
  reader.isAtEnd = page.events.length === 0;
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
