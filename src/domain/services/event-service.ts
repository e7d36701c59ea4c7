import type { EventPage, EventPosition } from '../../ports/event-log.ts';
import { RostrumError } from '../errors.ts';
import { checkOptions } from '../options.ts';
import type { Collection } from '../records/record.ts';
import type { EventTail } from './event-tail.ts';

export const eventLimits = {
  /** The most events that a request can ask for. */
  max: 1000,
  /** The most events if a request names no limit. */
  default: 100,
  /** The longest wait for the first event, in milliseconds. */
  waitMs: 25_000,
} as const;

export interface FollowEventsRequest {
  /** The position to read on from: `next` of the last page. Defaults to the end of the log. */
  readonly after?: EventPosition | undefined;
  /** The most events on a page: 1 to 1000, by default 100. */
  readonly limit?: number | undefined;
  /** Ends the wait with an empty page, and `follow` after that page. */
  readonly signal?: AbortSignal | undefined;
}

export interface ReadEventsRequest extends FollowEventsRequest {
  /** Milliseconds to wait if there is no event yet: 0 to 25,000, by default 0. */
  readonly waitMs?: number | undefined;
}

/** The changes of all records in one order, for followers that keep their position. */
export interface EventService {
  /**
   * Returns the events after a position. Without a position it returns none, and `next` is the end of the
   * log. To start following: read once without a position, list all records, then read on from `next`.
   *
   * A caller gets the events of users with `users:read`, and of posts with `posts:read:all` or
   * `posts:write`. A page can be empty while `next` has moved on past the events of another collection.
   *
   * @throws RostrumError `events-expired` if the store cannot read on from the position: start over
   * @throws RostrumError `events-unavailable`, `overloaded`
   * @throws TypeError or RangeError for an invalid request
   */
  read(request?: ReadEventsRequest): Promise<EventPage>;

  /**
   * Yields page after page until the signal is aborted: as soon as there are events, and an empty page at
   * least twice a minute, so that the position does not expire. Store `next` once you have processed the
   * whole page.
   *
   * @throws like {@link read}
   */
  follow(request?: FollowEventsRequest): AsyncGenerator<EventPage>;
}

/**
 * @param tail undefined for a store without a log
 * @param collections whose events the caller gets
 */
export function eventService(
  tail: EventTail | undefined,
  collections: ReadonlySet<Collection>,
): EventService {
  async function read(request: ReadEventsRequest = {}): Promise<EventPage> {
    checkOptions(request, ['after', 'limit', 'waitMs', 'signal'], 'request');
    const { after, limit = eventLimits.default, waitMs = 0, signal } = request;
    checkInteger(limit, 1, eventLimits.max, 'limit');
    checkInteger(waitMs, 0, eventLimits.waitMs, 'option "waitMs"');
    if (after !== undefined && typeof after !== 'string') {
      throw new TypeError('The position "after" must be a string.');
    }
    if (collections.size === 0) throw new RostrumError('forbidden', { scope: 'users:read' });
    if (tail === undefined) throw new RostrumError('events-unavailable', {});
    const page = { limit, after, collections };
    const mayWait = waitMs > 0 && signal?.aborted !== true;
    return mayWait ? tail.readOrWait({ ...page, waitMs, signal }) : tail.read(page);
  }

  return {
    read: (request) => read(request),
    async *follow(request = {}) {
      checkOptions(request, ['after', 'limit', 'signal'], 'request');
      let { after } = request;
      while (request.signal?.aborted !== true) {
        const waitMs = after === undefined ? 0 : eventLimits.waitMs;
        const page = await read({ ...request, after, waitMs });
        after = page.next;
        yield page;
      }
    },
  };
}

/** @throws RangeError */
function checkInteger(value: unknown, min: number, max: number, what: string): void {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  throw new RangeError(`The ${what} must be an integer from ${min} to ${max}.`);
}
