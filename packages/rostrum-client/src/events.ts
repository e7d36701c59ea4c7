import { searchOf } from './query.ts';
import type { Id, Version } from './records.ts';
import { type CallOptions, isTransient, type Send, sleep } from './transport.ts';

/** A change of one record. It does not contain the record. */
export interface RecordEvent {
  readonly type: `${'user' | 'post'}.${'created' | 'updated' | 'deleted'}`;
  readonly id: Id;
  /** The version that the change made, or the version that was deleted. */
  readonly version: Version;
}

export interface EventPage {
  readonly events: readonly RecordEvent[];
  /** The position after these events: the next page's `after`. */
  readonly next: string;
}

export interface EventQuery {
  /** The previous page's `next`; the end of the log by default. */
  readonly after?: string | undefined;
  /** The maximum number of events on the page: 1 to 1000, 100 by default. */
  readonly limit?: number | undefined;
  /** How long the server waits for an event, in seconds: 0 to 25, 0 by default. */
  readonly wait?: number | undefined;
}

/** The log of changes to all records, in order. */
export interface Events {
  /** Reads one page. Without `after` it is empty, and `next` is the end of the log. */
  read(query?: EventQuery, options?: CallOptions): Promise<EventPage>;
  /**
   * Yields pages forever: as soon as there are events, or an empty page at least twice a minute.
   * Store `next` after you have processed a page. Transient failures are retried without end. Any
   * other {@link ApiProblem} is thrown, as is the reason of an aborted signal. After
   * `events-expired`, list all records again and follow from the end of the log.
   */
  follow(
    query?: Omit<EventQuery, 'wait'>,
    options?: CallOptions,
  ): AsyncGenerator<EventPage, never, undefined>;
}

/** The first and the longest pause while the server is unavailable, in milliseconds. */
const [firstPauseMs, longestPauseMs] = [1000, 30_000];

/** @param timeoutMs the time limit of one request; the server waits for less */
export function eventsBy(send: Send, timeoutMs = 30_000): Events {
  const longestWait = Math.max(0, Math.min(25, Math.floor(timeoutMs / 1000) - 5));

  async function read(query: EventQuery = {}, { signal }: CallOptions = {}): Promise<EventPage> {
    const path = `/events${searchOf(query)}`;
    return (await send({ method: 'GET', path, signal })).body as EventPage;
  }

  return {
    read,
    async *follow(query = {}, options) {
      let { after } = query;
      let failures = 0;
      for (;;) {
        const wait = after === undefined ? 0 : longestWait;
        const page = await read({ ...query, after, wait }, options).catch((error: unknown) => {
          if (!isTransient(error)) throw error;
        });
        if (page === undefined) {
          await sleep(Math.min(firstPauseMs * 2 ** failures, longestPauseMs), options?.signal);
          failures += 1;
          continue;
        }
        failures = 0;
        after = page.next;
        yield page;
      }
    },
  };
}
