/// <reference lib="esnext.disposable" preserve="true" />
import type { PostRepository } from './post-repository.ts';
import type { Transfer } from './transfer.ts';
import type { UserRepository } from './user-repository.ts';

/** The types of own fields that a deployment may filter by. */
export type OwnFilterType = 'text' | 'number' | 'boolean';

/** What a deployment chooses that a store has to know when it is opened. */
export interface StoreOptions {
  /**
   * Own fields that lists can be filtered by, by their names. No filter names them yet; a store may
   * make its indexes for them.
   */
  readonly ownFilters?: {
    readonly users?: Readonly<Record<string, OwnFilterType>> | undefined;
    readonly posts?: Readonly<Record<string, OwnFilterType>> | undefined;
  };
}

/** Where records are kept: the two repositories, and the life of what is behind them. */
export interface Store extends AsyncDisposable {
  readonly users: UserRepository;
  readonly posts: PostRepository;
  /** For whoever moves the whole store. */
  readonly transfer?: Transfer;

  /**
   * Fulfilled when the store can serve right now.
   *
   * @throws RostrumError `store-unavailable`
   */
  ready(): Promise<void>;

  /**
   * Waits for the changes that were called for before, then frees what the store holds. They end as
   * if nothing had happened; a store may say for how long it waits. Closing again does nothing, at
   * the same time too. `Symbol.asyncDispose` does the same.
   */
  close(): Promise<void>;
}
