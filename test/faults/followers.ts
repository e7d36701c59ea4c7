import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventName, type Load } from './load.ts';

interface Page {
  readonly events: readonly { type: string; id: string; version?: number }[];
  readonly next: string;
}

/** What followers met of a load. */
export interface FollowersReport {
  readonly followers: number;
  readonly acknowledged: number;
  readonly events: number;
  /** Events of changes whose outcome the client never learned. */
  readonly unknown: number;
  /** Acknowledged and not met; met and never asked for; met twice; before one of an earlier version. */
  readonly missed: number;
  readonly unasked: number;
  readonly twice: number;
  readonly outOfOrder: number;
  /** How many followers met the events in another order than the first one. */
  readonly otherOrder: number;
  /** Responses 503, and connections that broke. */
  readonly unavailable: number;
  readonly odd: readonly string[];
}

export function isFollowed(report: FollowersReport): boolean {
  const { missed, unasked, twice, outOfOrder, otherOrder, odd } = report;
  return missed + unasked + twice + outOfOrder + otherOrder + odd.length === 0;
}

/**
 * Clients that follow the events over HTTP, by pages of random lengths, each from the position that it
 * keeps. Now and then one dies before it keeps the next position, and begins there again.
 */
export class Followers {
  /** Where the server is by now. */
  address: string;
  #start = '';
  #unavailable = 0;
  readonly #odd: string[] = [];
  #running: Promise<string[][]> = Promise.resolve([]);
  #stopped = false;

  constructor(address: string) {
    this.address = address;
  }

  /** Begins at the end of the log, before any load. */
  async start(count: number): Promise<void> {
    this.#start = (await this.#read({})).next;
    this.#running = Promise.all(Array.from({ length: count }, () => this.#follow()));
  }

  /** Fulfilled when all have met what the load did, which has come to its end. */
  async stop({ events }: Load): Promise<FollowersReport> {
    this.#stopped = true;
    const lists = await this.#running;
    const [first = [], ...others] = lists;
    const met = new Set(first);
    const { acknowledged } = events;
    const asked = acknowledged.union(events.unknown);
    return {
      followers: lists.length,
      acknowledged: acknowledged.size,
      events: first.length,
      unknown: met.difference(acknowledged).intersection(asked).size,
      missed: acknowledged.difference(met).size,
      unasked: met.difference(asked).size,
      twice: first.length - met.size,
      outOfOrder: countOutOfOrder(first),
      otherOrder: others.filter((list) => list.join() !== first.join()).length,
      unavailable: this.#unavailable,
      odd: this.#odd.slice(0, 10),
    };
  }

  async #follow(): Promise<string[]> {
    const met: string[] = [];
    for (let after = this.#start; ; ) {
      // What was acknowledged before is there for the read that begins after.
      const isLast = this.#stopped;
      const limit = String(2 ** randomInt(10));
      const { events, next } = await this.#read({ after, limit, wait: isLast ? '0' : '5' });
      if (events.length === 0 && isLast) return met;
      if (randomInt(5) === 0) continue;
      for (const { type, id, version = null } of events) {
        met.push(eventName(type.startsWith('user') ? 'users' : 'posts', id, version));
      }
      after = next;
    }
  }

  /** Reads a page, again until there is one. */
  async #read(query: Record<string, string>): Promise<Page> {
    for (;;) {
      const signal = AbortSignal.timeout(20_000);
      const url = `${this.address}/api/v1/events?${new URLSearchParams(query)}`;
      const response = await fetch(url, { signal }).catch(() => undefined);
      const text = await response?.text().catch(() => undefined);
      if (response?.status === 200 && text !== undefined) return JSON.parse(text) as Page;
      if (response === undefined || response.status === 503) this.#unavailable += 1;
      else this.#odd.push(`${response.status} ${text?.slice(0, 200)}`);
      await sleep(Number(response?.headers.get('retry-after') ?? '0.1') * 1000);
    }
  }
}

/** Events that come behind one of their record that is of a later version, or its deletion. */
function countOutOfOrder(list: readonly string[]): number {
  const versions = new Map<string, number>();
  return list.filter((event) => {
    const [collection, id, version] = event.split(' ');
    const before = versions.get(`${collection} ${id}`) ?? 0;
    const at = version === 'null' ? Number.POSITIVE_INFINITY : Number(version);
    versions.set(`${collection} ${id}`, at);
    return at <= before;
  }).length;
}
