import { searchOf } from './query.ts';
import type { Id, Version } from './records.ts';
import { type CallOptions, isTransient, type Send, sleep } from './transport.ts';

/** A change of one record. The record itself is there to be read. */
export interface RecordEvent {
  readonly type: `${'user' | 'post'}.${'created' | 'updated' | 'deleted'}`;
  readonly id: Id;
  /** The version that the change made; absent of a deletion. */
  readonly version?: Version;
}

export interface EventPage {
  readonly events: readonly RecordEvent[];
  /** The position to read on from. */
  readonly next: string;
}

export interface EventQuery {
  /** The `next` of the page before; the end of the log when absent. */
  readonly after?: string | undefined;
  /** Events on the page at most: 1 to 1000, 100 when absent. */
  readonly limit?: number | undefined;
  /** Seconds that the server may wait for an event: 0 to 25, 0 when absent. */
  readonly wait?: number | undefined;
}

/** The changes of all records, in one order. */
export interface Events {
  /** One page. Without `after` it is empty, and `next` is the end of the log. */
  read(query?: EventQuery, options?: CallOptions): Promise<EventPage>;
  /**
   * Page after page, for ever, each as soon as there is an event, and an empty one at least twice a
   * minute: store `next` when all of a page is dealt with. While the server is away or overloaded, it
   * goes on trying. It ends in another {@link ApiProblem} (`events-expired`: list all records again, and
   * follow from the end), or in the reason of its signal.
   */
  follow(
    query?: Omit<EventQuery, 'wait'>,
    options?: CallOptions,
  ): AsyncGenerator<EventPage, never, undefined>;
}

/** Milliseconds between the requests while the server is away: at first, and at most. */
const [shortestPauseMs, longestPauseMs] = [1000, 30_000];

/** @param timeoutMs that one request may take: it must not wait for longer */
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
          await sleep(Math.min(shortestPauseMs * 2 ** failures, longestPauseMs), options?.signal);
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
