import type { Collection } from '../../../src/domain/record.ts';
import {
  type Entity,
  type EventPage,
  type Id,
  type Post,
  type RecordEvent,
  type Repository,
  RostrumError,
  type Store,
} from '../../../src/ports/index.ts';
import { allOf, elsewhere, type Fault, type Plan } from './plant.ts';

/** Adds the events of a change to a log, at a moment of its own. */
type Tell = <T>(
  add: (...events: readonly RecordEvent[]) => void,
  events: readonly RecordEvent[],
  change: () => Promise<T>,
) => Promise<T>;

/** What a log of events gets wrong. */
export const events: Fault[] = [
  {
    fault: 'tells of a change before it is made',
    breaks: 'one order for all',
    says: /is told before its change is there/,
    plan: telling(async (add, all, change) => {
      add(...all);
      await elsewhere();
      return change();
    }),
  },
  {
    fault: 'tells of a change when it is acknowledged already',
    breaks: 'one order for all',
    says: /the event .* comes behind version/,
    plan: telling(async (add, all, change) => {
      const done = await change();
      setTimeout(() => add(...all), Math.random() * 50);
      return done;
    }),
  },
  {
    fault: 'tells of what it refuses',
    breaks: 'no event of what',
    says: /events/,
    plan: telling((add, all, change) => change().finally(() => add(...all))),
  },
  {
    fault: 'tells nothing of the posts that a deletion changes',
    breaks: 'one event of each post',
    says: /events/,
    plan: telling(async (add, all, change) => {
      const done = await change();
      add(...all.slice(-1));
      return done;
    }),
  },
  {
    fault: 'loses an event between two pages',
    breaks: 'reading on meets every event once',
    says: /events by a limit of 1 |no event came/,
    plan: {
      events: (inner) => ({
        read: async (limit, after) => {
          const page = await inner.read(after === undefined ? limit : limit + 1, after);
          return { ...page, events: page.events.slice(0, limit) };
        },
      }),
    },
  },
  {
    fault: 'hands out the events that it keeps',
    breaks: 'events are values',
    says: /read again/,
    plan: {
      events: (inner) => {
        const kept = new Map<string | undefined, Promise<EventPage>>();
        return {
          read: async (limit, after) => {
            const page = kept.get(after) ?? inner.read(limit, after);
            const { events } = await page;
            if (events.length > 0) kept.set(after, page);
            return page;
          },
        };
      },
    },
  },
  {
    fault: 'has another order for each reader',
    breaks: 'one order for all',
    says: /order of events|comes behind version/,
    plan: {
      events: (inner) => ({
        read: async (limit, after) => {
          const page = await inner.read(limit, after);
          return { ...page, events: page.events.toReversed() };
        },
      }),
    },
  },
  {
    fault: 'begins anew behind its end where it cannot read on',
    breaks: 'a position that is no position',
    says: /a call returned/,
    plan: {
      events: (inner) => ({
        read: (limit, after) => inner.read(limit, after).catch(() => inner.read(limit)),
      }),
    },
  },
];

/** What is told so far of a store, however many handles it has. */
const told = new WeakMap<object, RecordEvent[]>();

function toldOf(key: object | undefined): RecordEvent[] {
  if (key === undefined) throw new Error('The store has no log.');
  const all = told.get(key) ?? [];
  told.set(key, all);
  return all;
}

/** A store with a log of its own, to which each write adds by itself. */
function telling(tell: Tell): Plan {
  const tellOf = <T>(
    { events: log }: Store,
    all: readonly RecordEvent[],
    change: () => Promise<T>,
  ) => tell((...some) => toldOf(log).push(...some), all, change);
  const written = <R extends Entity>(
    collection: Collection,
    inner: Repository<R, never, never>,
    store: Store,
  ): Pick<Repository<R, never, never>, 'create' | 'update'> => ({
    create: (record, receipt) =>
      tellOf(store, [{ collection, id: record.id, version: 1 }], () =>
        inner.create(record, receipt),
      ),
    update: async (id, decide) => {
      const version = ((await inner.get(id))?.version ?? 0) + 1;
      return tellOf(store, [{ collection, id, version }], () => inner.update(id, decide));
    },
  });
  return {
    users: (inner, store) => ({
      ...written('users', inner, store),
      delete: async (id, mode, ...rest) => {
        const posts = await allOf<Post>(store.posts);
        const theirs = posts.filter(({ record }) => record.authorId === id);
        const ofPosts = theirs.map(({ record, version }): RecordEvent => {
          const next = mode === 'delete' ? null : version + 1;
          return { collection: 'posts', id: record.id, version: next };
        });
        return tellOf(store, [...ofPosts, gone('users', id)], () =>
          inner.delete(id, mode, ...rest),
        );
      },
    }),
    posts: (inner, store) => ({
      ...written('posts', inner, store),
      delete: (id, ...rest) => tellOf(store, [gone('posts', id)], () => inner.delete(id, ...rest)),
    }),
    events: (inner) => ({
      read: async (limit, after) => {
        const all = toldOf(inner);
        const from = after === undefined ? all.length : Number(after.slice(1));
        if (Number.isNaN(from)) throw new RostrumError('events-expired', {});
        const page = after === undefined ? [] : all.slice(from, from + limit);
        return { events: page, next: `n${from + page.length}` };
      },
    }),
  };
}

function gone(collection: Collection, id: Id): RecordEvent {
  return { collection, id, version: null };
}
