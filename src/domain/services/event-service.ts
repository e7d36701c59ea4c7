import type { EventPage, EventPosition, RecordEvent } from '../../ports/event-log.ts';
import { RostrumError } from '../errors.ts';
import { checkOptions } from '../options.ts';
import type { Collection } from '../record.ts';
import type { EventTail } from './event-tail.ts';

/** What a page of events may be asked for. */
export const eventLimits = {
  /** Events on a page, at most. */
  max: 1000,
  /** Events, when the caller does not say. */
  default: 100,
  /** Milliseconds that a call may wait for the first of them. */
  waitMs: 25_000,
} as const;

export interface FollowEventsRequest {
  /** The position to read on from: the `next` of the page before. The end of the log when absent. */
  readonly after?: EventPosition | undefined;
  /** Events on a page at most: 1 to 1000, 100 when absent. */
  readonly limit?: number | undefined;
  /** Ends the call: one that waits then returns what there is. */
  readonly signal?: AbortSignal | undefined;
}

export interface ReadEventsRequest extends FollowEventsRequest {
  /** Milliseconds to wait for an event where there is none yet: 0 to 25,000, 0 when absent. */
  readonly waitMs?: number | undefined;
}

/** Every change of every record, in one order, for a follower that keeps its position. */
export interface EventService {
  /**
   * The events behind a position. Without one there are none, and `next` is the end of the log: to begin,
   * read so, then list all records, then read on from there.
   *
   * A caller is told of the collections that it may read whole.
   *
   * @throws RostrumError `events-expired`: the store cannot read on from there, so begin anew
   * @throws RostrumError `events-unavailable`, `overloaded`
   * @throws TypeError or RangeError for what cannot be asked for
   */
  read(request?: ReadEventsRequest): Promise<EventPage>;

  /**
   * Page after page, for ever: whenever there are events, and without any at least twice a minute, so that
   * the position does not grow old. A follower stores `next` when it has dealt with the whole page.
   *
   * @throws as {@link read}; it ends when its signal is aborted
   */
  follow(request?: FollowEventsRequest): AsyncGenerator<EventPage>;
}

/**
 * @param tail undefined for a store without a log
 * @param seen the collections that the caller is told of
 */
export function eventService(
  tail: EventTail | undefined,
  seen: ReadonlySet<Collection>,
): EventService {
  const isSeen = ({ collection }: RecordEvent) => seen.has(collection);

  async function read(request: ReadEventsRequest = {}): Promise<EventPage> {
    checkOptions(request, ['after', 'limit', 'waitMs', 'signal'], 'request');
    const { after, limit = eventLimits.default, waitMs = 0, signal } = request;
    check(limit, 1, eventLimits.max, 'limit');
    check(waitMs, 0, eventLimits.waitMs, 'wait');
    if (after !== undefined && typeof after !== 'string') {
      throw new TypeError('The position "after" must be a text.');
    }
    if (seen.size === 0) throw new RostrumError('forbidden', { scope: 'users:read' });
    if (tail === undefined) throw new RostrumError('events-unavailable', {});
    const page = await tail.read(limit, after);
    const isEnough = ({ events }: EventPage) => events.some(isSeen);
    const mayWait = waitMs > 0 && !isEnough(page) && signal?.aborted !== true;
    const last = mayWait
      ? await tail.wait({ limit, after: page.next, waitMs, signal, isEnough })
      : page;
    return { ...last, events: last.events.filter(isSeen) };
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
function check(value: unknown, least: number, most: number, what: string): void {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return;
  throw new RangeError(`The ${what} must be an integer from ${least} to ${most}.`);
}
