import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { utf8Bytes } from '../../../src/domain/text.ts';
import type {
  Creation,
  Entity,
  EntityFilter,
  EventLog,
  Guard,
  Id,
  PostRepository,
  Receipt,
  RecordTransfer,
  Repository,
  Store,
  StoreOptions,
  Transfer,
  User,
  UserRepository,
  Versioned,
} from '../../../src/ports/index.ts';
import { idsOf, pageOf, recordsOf } from '../../../src/testing/lists.ts';

/** One thing that a store gets wrong, and the tests of the suite that have to notice. */
export interface Fault {
  /** What is wrong, as a sentence about the store. */
  readonly fault: string;
  /** A part of the names of the tests that have to fail, all of them. */
  readonly breaks: string;
  /** What the messages of these tests say. */
  readonly says?: RegExp;
  readonly plan: Plan;
}

/** What a faulty store does otherwise than the memory store that it is made of. */
export interface Plan {
  readonly users?: (inner: UserRepository, store: Store) => Partial<UserRepository>;
  readonly posts?: (inner: PostRepository, store: Store) => Partial<PostRepository>;
  readonly transfer?: <R>(inner: RecordTransfer<R>) => Partial<RecordTransfer<R>>;
  readonly events?: (inner: EventLog) => EventLog;
  readonly customFilters?: Store['customFilters'];
}

/** How many bytes of records each planted store has read of what it is made of. */
const bytesOf = new WeakMap<Store, Counter>();

export function bytesRead(store: Store): number {
  return bytesOf.get(store)?.bytes ?? Number.NaN;
}

export function openPlanted(plan: Plan, options: StoreOptions): Store {
  return handleOn(createMemoryStore(options), plan);
}

/** A store with a fault that is made of this one; another one has the same data. */
export function handleOn(memory: Store, plan: Plan): Store {
  const { users, posts, transfer = () => ({}), events = (log) => log } = plan;
  const counter = { bytes: 0 };
  const moves = memory.transfer as Transfer;
  const inner = {
    ...memory,
    users: {
      ...repositoryOf(memory.users, counter),
      ...transferOf(moves.users, counter),
      delete: (...a: Parameters<UserRepository['delete']>) => memory.users.delete(...a),
    },
    posts: {
      ...repositoryOf(memory.posts, counter),
      ...transferOf(moves.posts, counter),
      delete: (...a: Parameters<PostRepository['delete']>) => memory.posts.delete(...a),
    },
  };
  const store = {
    users: { ...inner.users, ...users?.(inner.users, inner) },
    posts: { ...inner.posts, ...posts?.(inner.posts, inner) },
    transfer: {
      users: { ...inner.users, ...transfer(inner.users) },
      posts: { ...inner.posts, ...transfer(inner.posts) },
    },
    events: memory.events && events(memory.events),
    customFilters: 'customFilters' in plan ? plan.customFilters : memory.customFilters,
    ready: () => memory.ready(),
    close: () => memory.close(),
    [Symbol.asyncDispose]: () => memory.close(),
  };
  bytesOf.set(store, counter);
  return store;
}

interface Counter {
  bytes: number;
}

function counted<V extends readonly Versioned<unknown>[]>(items: V, counter: Counter): V {
  for (const { json } of items) counter.bytes += utf8Bytes(json);
  return items;
}

function repositoryOf<R, F, S extends string>(
  inner: Repository<R, F, S>,
  counter: Counter,
): Repository<R, F, S> {
  return {
    get: (...a) => inner.get(...a),
    list: async (...a) => {
      const page = await inner.list(...a);
      return { ...page, items: counted(page.items, counter) };
    },
    create: (...a) => inner.create(...a),
    isIdTaken: (...a) => inner.isIdTaken(...a),
    update: (...a) => inner.update(...a),
  };
}

function transferOf<R>(inner: RecordTransfer<R>, counter: Counter): RecordTransfer<R> {
  return {
    scan: async (...a) => counted(await inner.scan(...a), counter),
    load: (...a) => inner.load(...a),
  };
}

/** The same fault in both repositories. */
export function inBoth(
  change: <R extends Entity, F extends EntityFilter, S extends string>(
    inner: Repository<R, F, S>,
  ) => Partial<Repository<R, F, S>>,
): Plan {
  return { users: (inner) => change(inner), posts: (inner) => change(inner) };
}

/** The same fault in the deletion of users and of posts. */
export function inDeletions(
  change: <R extends Entity>(
    id: Id,
    guard: Guard<R> | undefined,
    proceed: (guard?: Guard<R>) => Promise<boolean>,
    inner: Pick<Repository<R, never, never>, 'get'>,
  ) => Promise<boolean>,
): Plan {
  return {
    users: (inner) => ({
      delete: async (id, mode, at, guard) => {
        const proceed = async (g?: Guard<User>) =>
          (await inner.delete(id, mode, at, g)) !== undefined;
        return (await change(id, guard, proceed, inner)) ? { posts: 0 } : undefined;
      },
    }),
    posts: (inner) => ({
      delete: (id, guard) => change(id, guard, (g) => inner.delete(id, g), inner),
    }),
  };
}

type List<R extends Entity> = Pick<Repository<R, EntityFilter, 'createdAt'>, 'list'>;

/** Every record of a list, the oldest first. */
export async function allOf<R extends Entity>(records: object): Promise<readonly Versioned<R>[]> {
  const request = { limit: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
  return (await pageOf(records as List<R>, request)).items;
}

export type AnyFilter = EntityFilter & Readonly<Record<string, unknown>>;

/** A store that filters by a member of the filter in its own way. */
export function filtering(
  matches: (record: Entity, filter: AnyFilter) => boolean,
  ...members: readonly string[]
): Plan {
  return inBoth((inner) => ({
    list: async ({ filter, ...request }) => {
      const asked = filter as AnyFilter;
      if (members.every((name) => asked[name] === undefined)) {
        return inner.list({ ...request, filter });
      }
      const isAmong = (id: Id) => members.includes('ids') || (asked.ids?.includes(id) ?? true);
      const found = recordsOf(await allOf(inner)).filter(
        (record) => isAmong(record.id) && matches(record, asked),
      );
      const rest = Object.entries(asked).filter(([name]) => !members.includes(name));
      const ids = { ids: idsOf(found) };
      return inner.list({ ...request, filter: { ...Object.fromEntries(rest), ...ids } as never });
    },
  }));
}

/** Lets all other calls go on: the gap of every check-then-act. */
export function elsewhere(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What was made under a receipt; undefined when its key is free, and it stays so. */
export async function earlierOf<R>(
  records: Pick<Repository<R, never, never>, 'create'>,
  receipt: Receipt,
): Promise<Creation<R> | undefined> {
  const free = new Error('the key is free');
  const unmade = {
    get id(): never {
      throw free;
    },
  };
  return records.create(unmade as R, receipt).catch((error) => {
    if (error !== free) throw error;
    return undefined;
  });
}
