/// <reference lib="esnext.disposable" preserve="true" />
import type { CustomFilters } from '../domain/custom-filters.ts';
import type { EventLog } from './event-log.ts';
import type { PostRepository } from './post-repository.ts';
import type { Transfer } from './transfer.ts';
import type { UserRepository } from './user-repository.ts';

/** What a deployment chooses that a store has to know when it is opened. */
export interface StoreOptions<Filters extends CustomFilters = CustomFilters> {
  /**
   * Custom fields that lists can be filtered by. A store makes its indexes for them when it is opened;
   * the set may be another one each time.
   */
  readonly customFilters?: Filters | undefined;
}

/** Where records are kept: the two repositories, and the life of what is behind them. */
export interface Store<Filters extends CustomFilters = CustomFilters> extends AsyncDisposable {
  readonly users: UserRepository;
  readonly posts: PostRepository;
  /** Moves the whole store; absent where it cannot be copied. */
  readonly transfer?: Transfer;
  /** Its changes in one order; absent where it keeps no log. */
  readonly events?: EventLog | undefined;
  /**
   * What it was opened with, which lists can be filtered by; none when absent. The core takes the
   * filters that it offers from here.
   */
  readonly customFilters?: Filters | undefined;

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
