/// <reference lib="esnext.disposable" preserve="true" />
import type { CustomFilters } from '../domain/declared-fields.ts';
import type { EventLog } from './event-log.ts';
import type { PostRepository } from './post-repository.ts';
import type { Transfer } from './transfer.ts';
import type { UserRepository } from './user-repository.ts';

/** What a deployment chooses that a store has to know when it is opened. */
export interface StoreOptions<Filters extends CustomFilters = CustomFilters> {
  /**
   * Custom fields that lists can be filtered and sorted by, and that can be unique. A store builds its
   * indexes for them when it is opened, and the set may differ each time. It derives their values from the
   * JSON of a record, so that stores with other declarations work on the same data. It does not open, and
   * names the field and two ids, when stored records already break a `unique`, or have more than 64 elements
   * in a `text[]`.
   */
  readonly customFilters?: Filters | undefined;
}

/** Keeps the records: two repositories, and the connection or file behind them. */
export interface Store<Filters extends CustomFilters = CustomFilters> extends AsyncDisposable {
  readonly users: UserRepository;
  readonly posts: PostRepository;
  /** Moves the whole store; absent where it cannot be copied. */
  readonly transfer?: Transfer | undefined;
  /** Every change in one order; absent where the store keeps no log. */
  readonly events?: EventLog | undefined;
  /**
   * The custom fields that the store was opened with; none when absent. The core takes the filters that
   * it offers from here.
   */
  readonly customFilters?: Filters | undefined;

  /**
   * Fulfilled when the store can serve right now. Never waits behind other work.
   *
   * @throws RostrumError `store-unavailable`
   */
  ready(): Promise<void>;

  /**
   * Waits for the calls that are under way, then frees what the store holds. A store may limit how long
   * it waits. A call made after `close` ends in `store-unavailable` at once. Closing again does nothing,
   * at the same time too. `Symbol.asyncDispose` does the same.
   */
  close(): Promise<void>;
}
