import type { EventLog, EventPage, EventPosition } from '../../ports/event-log.ts';
import { RostrumError } from '../errors.ts';

/** How often the end of the log is looked at while a reader waits, in milliseconds. */
const pollMs = 250;

/** How many readers may wait at a time. */
const maxWaiting = 1000;

/** What a reader waits for. */
export interface EventWait {
  readonly limit: number;
  readonly after: EventPosition;
  readonly waitMs: number;
  /** Ends the wait early. */
  readonly signal: AbortSignal | undefined;
  /** Whether a page has what the reader wants. */
  readonly isEnough: (page: EventPage) => boolean;
}

/**
 * The end of a store's log, looked at once for all readers that wait for it.
 *
 * A reader notes how often there was news before it reads, and sleeps only while that is still so:
 * no event falls between its read and its sleep.
 */
export class EventTail {
  readonly #log: EventLog;
  readonly #sleepers = new Set<() => void>();
  /** The reads that are under way, by what was noted before them and what they ask for. */
  readonly #reads = new Map<string, Promise<EventPage>>();
  #waiting = 0;
  #news = 0;
  /** The end of the log; known while a reader waits. */
  #end: Promise<EventPosition> | undefined;
  #timer: number | undefined;

  constructor(log: EventLog) {
    this.#log = log;
  }

  read(limit: number, after?: EventPosition): Promise<EventPage> {
    return this.#log.read(limit, after);
  }

  /**
   * Reads on from a position until a page is enough, or the wait ends.
   *
   * @returns the last page that was read
   * @throws RostrumError `overloaded` where too many wait
   */
  async wait({ limit, after, waitMs, signal, isEnough }: EventWait): Promise<EventPage> {
    if (this.#waiting >= maxWaiting) throw new RostrumError('overloaded', {});
    this.#waiting += 1;
    let isOver = signal?.aborted ?? false;
    let wake = () => {};
    const end = () => {
      isOver = true;
      wake();
    };
    const timer = setTimeout(end, waitMs);
    signal?.addEventListener('abort', end);
    try {
      await this.#begin();
      let page: EventPage = { events: [], next: after };
      for (;;) {
        const noted = this.#news;
        page = await this.#share(noted, limit, page.next);
        if (isOver || isEnough(page)) return page;
        // Behind events that are not for this reader there may be more.
        if (page.events.length > 0 || noted !== this.#news) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
          this.#sleepers.add(resolve);
        });
        this.#sleepers.delete(wake);
        if (isOver) return page;
      }
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#rest();
    }
  }

  /** Readers that noted the same and ask for the same page at once share one read. */
  #share(noted: number, limit: number, after: EventPosition): Promise<EventPage> {
    const name = `${noted} ${limit} ${after}`;
    let read = this.#reads.get(name);
    if (read === undefined) {
      const forget = () => this.#reads.delete(name);
      read = this.#log.read(limit, after);
      read.then(forget, forget);
      this.#reads.set(name, read);
    }
    return read;
  }

  /** Learns the end of the log, before the first reader reads. */
  async #begin(): Promise<void> {
    if (this.#end === undefined) {
      const end = this.#log.read(1).then(({ next }) => next);
      this.#end = end;
      end.then(
        () => this.#pollLater(end),
        () => {
          if (this.#end === end) this.#end = undefined;
        },
      );
    }
    await this.#end;
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#end = undefined;
  }

  #pollLater(end: Promise<EventPosition>): void {
    if (this.#end === end) this.#timer = setTimeout(() => this.#poll(end), pollMs);
  }

  async #poll(end: Promise<EventPosition>): Promise<void> {
    const known = await end;
    // The end comes before the news: readers that wake up see all that lies before it.
    const { next, isNews } = await this.#behind(known).catch(() => ({ next: known, isNews: true }));
    if (this.#end !== end) return;
    this.#end = Promise.resolve(next);
    if (isNews) this.#wake();
    this.#pollLater(this.#end);
  }

  /**
   * The end of the log, and whether there may be an event before it behind the one that was known. A
   * look that fails is news: each reader is told by its own read.
   */
  async #behind(end: EventPosition): Promise<{ next: EventPosition; isNews: boolean }> {
    const page = await this.#log.read(1, end).catch(() => undefined);
    if (page?.events.length === 0) return { next: page.next, isNews: false };
    return { next: (await this.#log.read(1)).next, isNews: true };
  }

  #wake(): void {
    this.#news += 1;
    for (const wake of this.#sleepers) wake();
  }
}
