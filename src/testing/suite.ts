import { type SearchRow, searchRow } from '../domain/lists/search.ts';
import type { Collection, Entity, Id } from '../domain/records/record.ts';
import type { Guard, Repository } from '../ports/repository.ts';
import type { Store, StoreOptions } from '../ports/store.ts';
import type { RecordTransfer, Transfer } from '../ports/transfer.ts';
import { assert, quote, type StoreFailure, storeFailure } from './assertions.ts';
import { at, later, post, user } from './fixtures.ts';
import { Watch } from './watch.ts';

/** The functions of a test runner. Those of Mocha, Vitest and node:test work unchanged. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}

export interface StoreContract extends Runner {
  /**
   * Opens a new, empty store. Each test calls it once and closes the store. A random walk that fails opens
   * more stores, one after the other, to find the shortest part of it that fails.
   */
  readonly open: (options: StoreOptions) => Store | Promise<Store>;
  /** Says why the store has no `transfer`. The name of a test shows the reason. */
  readonly withoutTransfer?: string | undefined;
  /** Says why the store keeps no log of events. The name of a test shows the reason. */
  readonly withoutEvents?: string | undefined;
  /**
   * Opens a second handle on the data of a store that `open` returned, as another process would, with
   * the same options. With it, the races and random walks use both handles in turn.
   */
  readonly another?: ((store: Store, options: StoreOptions) => Store | Promise<Store>) | undefined;
  /**
   * Opens the data of a closed store again, as after a restart, perhaps with other declared fields. The
   * suite may call it several times for one store that `open` returned. With it, the group `reopen` runs.
   */
  readonly reopen?: ((store: Store, options: StoreOptions) => Store | Promise<Store>) | undefined;
  /**
   * Returns how many bytes of records a store that `open` returned has read from its database, including
   * records that did not match or were only counted. With it, a test checks that a page reads at most
   * eight times its `bytes`.
   */
  readonly bytesRead?: ((store: Store) => number) | undefined;
  /** The random walks, which are compared with the memory store: {@link defaultWalks} if absent. */
  readonly walks?: Walks | undefined;
}

export interface Walks {
  /** Each seed is a test. The same seed always makes the same calls. */
  readonly seeds: readonly number[];
  /** The number of calls for each seed. */
  readonly calls: number;
}

/** These take about a second on a store in memory. */
export const defaultWalks: Walks = { seeds: [1, 2, 3, 4], calls: 400 };

/** The users or the posts of a store, for tests of what both have in common. */
export interface Resource<R extends Entity> {
  readonly name: Collection;
  readonly records: Repository<R>;
  /**
   * Makes a record with its own values, except for the given fields. Every second user has no address;
   * posts come with and without an author, as drafts and published.
   */
  readonly make: (fields?: object) => R;
  readonly remove: (id: Id, guard?: Guard<R>) => Promise<boolean>;
  readonly transfer: RecordTransfer<R>;
}

/** The store as `open` returned it, for tests that open its data again. */
export interface Opened {
  readonly opened: Store;
  readonly watch: Watch;
}

/** Declares tests; each file of the suite gets one. */
export interface Suite {
  readonly contract: StoreContract;
  /** Declares a test on a fresh store. */
  test(sentence: string, body: (store: Store, context: Opened) => Promise<void>): void;
  /** Declares a test of the users, and the same test of the posts. */
  testEach(
    sentence: string,
    body: <R extends Entity>(resource: Resource<R>, store: Store, context: Opened) => Promise<void>,
  ): void;
}

/** Declared fields of each type, some named like inherited members or like search fields. */
export const declaredFields = {
  users: {
    city: 'text',
    age: 'number',
    active: 'boolean',
    constructor: 'text',
    nameKey: 'text',
    groups: 'text[]',
    code: { type: 'number', unique: true },
    badge: { type: 'number', unique: true },
  },
  posts: {
    language: 'text',
    pages: 'number',
    pinned: 'boolean',
    constructor: 'text',
    titleKey: 'text',
    tags: 'text[]',
    slug: { type: 'text', unique: true },
    path: { type: 'text', unique: true },
  },
} as const;

/** Returns the unique field of a collection, and values of its type. */
export function uniqueField({ name }: { readonly name: Collection }): {
  readonly field: string;
  readonly values: readonly (string | number)[];
} {
  return name === 'users'
    ? { field: 'code', values: [0.1 + 0.2, 7, 2 ** 53 - 1] }
    : { field: 'slug', values: ['hello', 'Hello', '😀'] };
}

/** @param another opens the second handle of tests that use two */
export function suiteOn(contract: StoreContract, another?: StoreContract['another']): Suite {
  const test: Suite['test'] = (sentence, body) => {
    contract.it(sentence, () => runTest(contract, another, body));
  };
  return {
    contract,
    test,
    testEach: (sentence, body) => {
      test(`users: ${sentence}`, (store, context) => body(usersOf(store), store, context));
      test(`posts: ${sentence}`, async (store, context) => {
        const author = user();
        await store.users.create(author);
        await body(postsOf(store, author.id), store, context);
      });
    },
  };
}

async function runTest(
  { open }: StoreContract,
  another: StoreContract['another'],
  body: Parameters<Suite['test']>[1],
): Promise<void> {
  const watch = new Watch();
  const options = { declaredFields };
  const handles: Store[] = [];
  let failure: StoreFailure | undefined;
  try {
    const opened = await watch.call('open', async () => open(options));
    handles.push(opened);
    const second = await watch.call('another', async () => another?.(opened, options));
    if (second) handles.push(second);
    await body(watch.over(opened, second), { opened, watch });
  } catch (error) {
    failure = watch.explain(error);
  }
  for (const store of handles.reverse()) {
    try {
      await store.close();
    } catch (cause) {
      const fault = `close ended in ${quote(cause)}; the test may have closed the store before`;
      failure ??= storeFailure(fault, cause);
    }
  }
  if (failure) throw failure;
}

let count = 0;

function usersOf(store: Store) {
  const { users } = store;
  return {
    name: 'users',
    records: users,
    make: (fields: object = {}) => user({ ...(count++ % 2 > 0 && { email: null }), ...fields }),
    remove: async (id: Id, guard?: Parameters<typeof users.delete>[3]) =>
      (await users.delete(id, 'refuse', later, guard)) !== undefined,
    get transfer() {
      return transferOf(store).users;
    },
  } as const;
}

function postsOf(store: Store, author: Id) {
  const { posts } = store;
  return {
    name: 'posts',
    records: posts,
    make: (fields: object = {}) => {
      const n = count++;
      const publishedAt = n % 2 > 0 ? null : at(n);
      return post({ authorId: n % 3 > 0 ? null : author, publishedAt, ...fields });
    },
    remove: (id: Id, guard?: Parameters<typeof posts.delete>[1]) => posts.delete(id, guard),
    get transfer() {
      return transferOf(store).posts;
    },
  } as const;
}

/** Returns the transfer of a store that must have one. */
export function transferOf({ transfer }: Store): Transfer {
  assert(transfer, 'it has no transfer, and its contract does not say why (withoutTransfer)');
  return transfer;
}

export function rowOf(collection: Collection, record: object): SearchRow {
  return searchRow(collection, record as never);
}

export function repositoryOf(store: Store, collection: Collection): Repository<Entity> {
  return store[collection] as unknown as Repository<Entity>;
}
