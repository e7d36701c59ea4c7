import type { PostOrder, Store } from '../src/index.ts';
import { load } from './load.ts';
import { base, get } from './requests.ts';
import { median } from './rounds.ts';
import { startServing } from './serving.ts';
import { open, type Workspace } from './workspace.ts';

/** Which page is read over and over, and for how long at a time. */
export interface PageToRead {
  readonly order: PostOrder;
  readonly limit: number;
  /** Posts before it. */
  readonly skip: number;
  readonly ms: number;
}

/**
 * Finds the page; what it returns reads it again and again, one read after another, and says how
 * many milliseconds they took: the median, because on a machine that does other things as well
 * some of many reads have to wait.
 */
type Contestant = (page: PageToRead) => Promise<() => Promise<number>>;

export interface Contestants extends AsyncDisposable {
  readonly small: Contestant;
  readonly large: Contestant;
}

/** Pages at most this long lead to the one that is read. */
const stride = 1000;

/** Through the port of the store, one call after another. */
export async function portContestants(small: string, large: string): Promise<Contestants> {
  const stores = [await open(small), await open(large)] as const;
  return {
    small: readStore(stores[0]),
    large: readStore(stores[1]),
    async [Symbol.asyncDispose]() {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

function readStore({ posts }: Store): Contestant {
  return async ({ order, limit, skip, ms }) => {
    const walked = await walk(
      skip,
      async (some, from?: Parameters<typeof posts.list>[1]['after']) => {
        const { next } = await posts.list({}, { order, limit: some, after: from });
        return next;
      },
    );
    return async () => {
      const end = performance.now() + ms;
      const times: number[] = [];
      for (let now = performance.now(); now < end; ) {
        const start = now;
        await posts.list({}, { order, limit, after: walked });
        now = performance.now();
        times.push(now - start);
      }
      return median(times);
    };
  };
}

/** Over HTTP, from servers in processes of their own, on one connection. */
export async function httpContestants(
  workspace: Workspace,
  small: string,
  large: string,
): Promise<Contestants> {
  const servings = [
    await startServing(workspace, small, 0),
    await startServing(workspace, large, 0),
  ] as const;
  return {
    small: readServer(servings[0].at('rostrum').port),
    large: readServer(servings[1].at('rostrum').port),
    async [Symbol.asyncDispose]() {
      await Promise.all(servings.map((serving) => serving[Symbol.asyncDispose]()));
    },
  };
}

function readServer(port: number): Contestant {
  return async ({ order, limit, skip, ms }) => {
    const target = (some: number, from?: string) => {
      const sort = `${order.direction === 'desc' ? '-' : ''}${order.by}`;
      const query = new URLSearchParams({
        sort,
        limit: String(some),
        ...(from && { cursor: from }),
      });
      return `${base}?${query}`;
    };
    const walked = await walk(skip, async (some, from?: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${target(some, from)}`);
      const { next } = (await response.json()) as { next?: string | null };
      return next ?? undefined;
    });
    const request = get(target(limit, walked));
    return async () => (await load({ port, connections: 1, ms, request: () => request })).medianMs;
  };
}

/** The place behind so many posts, as a client gets there: from page to page. */
async function walk<Place>(
  skip: number,
  next: (limit: number, from?: Place) => Promise<Place | undefined>,
): Promise<Place | undefined> {
  let place: Place | undefined;
  for (let left = skip; left > 0; left -= stride) {
    place = await next(Math.min(left, stride), place);
    if (place === undefined) throw new Error('There are fewer posts than that.');
  }
  return place;
}
