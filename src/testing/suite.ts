import type { EntityFilter } from '../domain/list.ts';
import type { Collection, Entity, Id } from '../domain/record.ts';
import type { Guard, Repository } from '../ports/repository.ts';
import type { Store, StoreOptions } from '../ports/store.ts';
import type { RecordTransfer, Transfer } from '../ports/transfer.ts';
import { check } from './assertions.ts';
import { later, post, user } from './fixtures.ts';
import { Watch } from './watch.ts';

/** What the suite needs of a test runner; Mocha's, Vitest's and node:test's fit as they are. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
}

export interface StoreContract extends Runner {
  /** Opens a fresh, empty store. It is called once for each test, which closes the store. */
  readonly open: (options: StoreOptions) => Store | Promise<Store>;
  /**
   * Concedes that readers may see the deletion of a user half done, and names the reason: a server
   * without transactions. The name of the one test that judges less shows it.
   */
  readonly tornCascades?: string | undefined;
  /** Concedes that the store has no `transfer`, and names the reason; a test's name shows it. */
  readonly withoutTransfer?: string | undefined;
  /** Concedes that the store keeps no log of events, and names the reason; a test's name shows it. */
  readonly withoutEvents?: string | undefined;
  /**
   * Opens a second handle on the data of a store that `open` returned, as another process would; the
   * suite closes it before the first one. The options are those of `open`. Where it is given, the
   * calls that race go to both in turn, and the names of their groups say so.
   */
  readonly another?: ((store: Store, options: StoreOptions) => Store | Promise<Store>) | undefined;
  /**
   * Opens the data of a store once more after it was closed, as after a restart, and perhaps with
   * filters on other custom fields. It may be called several times for one store that `open` returned;
   * the suite closes what it returns. Where it is given, the group `reopen` holds what comes back.
   */
  readonly reopen?: ((store: Store, options: StoreOptions) => Store | Promise<Store>) | undefined;
  /**
   * How many bytes of records a store that `open` returned has read so far, as its driver counts them:
   * those of records that a filter passes over, and that only `total` counts, as well. Where it is
   * given, a test holds that no page reads more than eight times its bytes.
   */
  readonly bytesRead?: ((store: Store) => number) | undefined;
}

/** The users or the posts of a store, as far as both are alike. */
export interface Resource<R extends Entity> {
  readonly name: Collection;
  readonly records: Repository<R, EntityFilter, 'createdAt' | 'updatedAt'>;
  readonly make: (fields?: object) => R;
  readonly remove: (id: Id, guard?: Guard<R>) => Promise<boolean>;
  readonly transfer: RecordTransfer<R>;
}

/** The store of a test as `open` returned it, for tests that open its data again. */
export interface Opened {
  readonly opened: Store;
  /** Watches what `reopen` returned as the first store is watched. */
  watched(store: Store): Store;
}

/** What a file of the suite declares its tests with. */
export interface Suite {
  readonly contract: StoreContract;
  /** Declares a test on a fresh store. */
  test(sentence: string, body: (store: Store, first: Opened) => Promise<void>): void;
  /** Declares two tests: one of the users, one of the posts. */
  both(
    sentence: string,
    body: <R extends Entity>(resource: Resource<R>, store: Store, first: Opened) => Promise<void>,
  ): void;
}

/** What every store is opened with: also names that objects inherit, and fields of the other list. */
export const customFilters = {
  users: { city: 'text', age: 'number', active: 'boolean', constructor: 'text', title: 'text' },
  posts: {
    language: 'text',
    words: 'number',
    pinned: 'boolean',
    constructor: 'text',
    email: 'text',
  },
} as const;

/** @param another opens the second of the two handles that the calls go to in turn */
export function suiteOn(contract: StoreContract, another?: StoreContract['another']): Suite {
  const { it, open } = contract;
  const test: Suite['test'] = (sentence, body) => {
    it(sentence, async () => {
      const watch = new Watch();
      try {
        await using opened = await open({ customFilters });
        await using second = await another?.(opened, { customFilters });
        const watched = (store: Store) => watch.over(store);
        await body(watch.over(opened, second), { opened, watched });
      } catch (error) {
        throw watch.explained(error);
      }
    });
  };
  return {
    contract,
    test,
    both: (sentence, body) => {
      test(`users: ${sentence}`, (store, first) => body(usersOf(store), store, first));
      test(`posts: ${sentence}`, (store, first) => body(postsOf(store), store, first));
    },
  };
}

function usersOf(store: Store) {
  const { users } = store;
  return {
    name: 'users',
    records: users,
    make: user,
    remove: async (id: Id, guard?: Parameters<typeof users.delete>[3]) =>
      (await users.delete(id, 'refuse', later, guard)) !== undefined,
    get transfer() {
      return transferOf(store).users;
    },
  } as const;
}

function postsOf(store: Store) {
  const { posts } = store;
  return {
    name: 'posts',
    records: posts,
    make: post,
    remove: (id: Id, guard?: Parameters<typeof posts.delete>[1]) => posts.delete(id, guard),
    get transfer() {
      return transferOf(store).posts;
    },
  } as const;
}

/** The transfer of a store that has to have one. */
export function transferOf({ transfer }: Store): Transfer {
  check(transfer, 'the store has no transfer; a contract may say why (withoutTransfer)');
  return transfer;
}
