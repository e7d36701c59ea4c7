import type { EventLog, EventPage, EventPosition } from '../../ports/event-log.ts';
import { RostrumError } from '../errors.ts';
import type { Collection } from '../record.ts';

/** Interval between two checks for new events while a reader waits, in milliseconds. */
const pollMs = 250;

/** Limit of readers that wait at the same time. */
const maxWaiting = 1000;

/** Events per read while a waiting reader skips those of other collections. */
const skipSize = 1000;

export interface EventsRequest {
  readonly limit: number;
  readonly after?: EventPosition | undefined;
  /** The page has events of these collections only. */
  readonly collections: ReadonlySet<Collection>;
}

export interface EventsWait extends EventsRequest {
  readonly waitMs: number;
  /** Ends the wait early. */
  readonly signal?: AbortSignal | undefined;
}

interface QueuedRead extends PromiseWithResolvers<EventPage> {
  readonly limit: number;
  readonly after: EventPosition;
}

/**
 * Reads the event log of a store, and waits for new events on behalf of all readers.
 *
 * A waiting reader takes the promise of new events before it reads, and awaits that promise if it found
 * nothing. Events that are committed in between fulfil it, so the reader misses none of them.
 */
export class EventTail {
  readonly #log: EventLog;
  /** Reads that have not begun, oldest first. Equal reads share an entry. */
  readonly #queue = new Map<string, QueuedRead>();
  #isReading = false;
  #waiting = 0;
  /** Watches the end of the log while a reader waits. */
  #watch: EndWatch | undefined;

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
    const { promise: end, resolve } = Promise.withResolvers<'end'>();
    const stop = () => resolve('end');
    const timer = setTimeout(stop, waitMs);
    signal?.addEventListener('abort', stop);
    try {
      const after = request.after ?? (await this.#log.read(1)).next;
      const page = await Promise.race([this.#enqueue(request.limit, after), end]);
      if (page === 'end') return { events: [], next: after };
      const first = visibleEvents(page, request.collections);
      return first.events.length > 0 ? first : await this.#wait(page.next, request, end);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Reads on from a position until there is an event to return, or the wait ends. */
  async #wait(
    after: EventPosition,
    { limit, collections }: EventsRequest,
    end: Promise<'end'>,
  ): Promise<EventPage> {
    if (this.#waiting >= maxWaiting) throw new RostrumError('overloaded', {});
    this.#waiting += 1;
    this.#watch ??= new EndWatch(this.#log);
    const watch = this.#watch;
    let next = after;
    try {
      await Promise.race([watch.ready, end]);
      for (;;) {
        const growth = watch.growth;
        const page = await orEnd(this.#enqueue(skipSize, next), end);
        if (page === 'end') return { events: [], next };
        const indexes = page.events.flatMap((one, i) => (collections.has(one.collection) ? i : []));
        if (indexes.length > 0) {
          // To cut the page, read it again up to the cut: only the log can name that position.
          const cutAt = indexes[limit];
          return visibleEvents(cutAt ? await this.#enqueue(cutAt, next) : page, collections);
        }
        next = page.next;
        if (page.events.length > 0) continue;
        if ((await Promise.race([growth, end])) === 'end') return { events: [], next };
      }
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) {
        watch.stop();
        this.#watch = undefined;
      }
    }
  }

  #enqueue(limit: number, after: EventPosition): Promise<EventPage> {
    const name = `${limit} ${after}`;
    const read = this.#queue.get(name) ?? { limit, after, ...Promise.withResolvers<EventPage>() };
    this.#queue.set(name, read);
    if (!this.#isReading) void this.#readQueue();
    return read.promise;
  }

  /**
   * Reads for the queue, one request after another. Lets the event loop turn before each read. Pauses after
   * a full page for as long as it took, so that readers far behind use half of a store's time at most.
   */
  async #readQueue(): Promise<void> {
    this.#isReading = true;
    await pause(0);
    for (const [name, { limit, after, promise, resolve }] of this.#queue) {
      this.#queue.delete(name);
      const start = Date.now();
      resolve(readFrom(this.#log, limit, after));
      const page = await promise.catch(() => undefined);
      const isFull = page?.events.length === limit;
      await pause(isFull ? Math.min(Date.now() - start, pollMs) : 0);
    }
    this.#isReading = false;
  }
}

/** Checks four times a second whether a log has grown. */
class EndWatch {
  /** Fulfilled when the end of the log is known. Events committed later fulfil {@link growth}. */
  readonly ready: Promise<void>;
  readonly #log: EventLog;
  #growth = Promise.withResolvers<void>();
  #timer: number | undefined;
  #isStopped = false;

  constructor(log: EventLog) {
    this.#log = log;
    this.ready = readFrom(log, 1).then(({ next }) => this.#checkLater(next));
  }

  /** Fulfilled when there are new events. */
  get growth(): Promise<void> {
    return this.#growth.promise;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #checkLater(end: EventPosition): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => this.#check(end), pollMs);
  }

  async #check(end: EventPosition): Promise<void> {
    const page = await readFrom(this.#log, 1, end).catch(() => undefined);
    if (page?.events.length === 0) return this.#checkLater(page.next);
    // Find the new end before reporting the growth, so that the readers' own reads reach that end. A failed
    // check counts as growth, because each reader then meets the error in its own read.
    const { next } = await readFrom(this.#log, 1).catch(() => ({ next: end }));
    this.#growth.resolve();
    this.#growth = Promise.withResolvers();
    this.#checkLater(next);
  }
}

/** An async function, so that a store that throws at once rejects as well. */
async function readFrom(log: EventLog, limit: number, after?: EventPosition): Promise<EventPage> {
  return log.read(limit, after);
}

/** Returns the page, or 'end' if that comes first. */
async function orEnd(read: Promise<EventPage>, end: Promise<'end'>): Promise<EventPage | 'end'> {
  let first: EventPage | 'end' = 'end';
  const page = read.then((value) => {
    first = value;
  });
  // Until `end` is settled, it keeps what each of its races returned: if that were pages, they would fill the memory.
  await Promise.race([page, end]);
  return first;
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
