/// <reference lib="esnext.disposable" preserve="true" />
import type { DeclaredFields } from '../domain/declared-fields.ts';
import type { EventLog } from './event-log.ts';
import type { PostRepository } from './post-repository.ts';
import type { Transfer } from './transfer.ts';
import type { UserRepository } from './user-repository.ts';

/** Settings of a deployment that a store needs when it is opened. */
export interface StoreOptions<Declared extends DeclaredFields = DeclaredFields> {
  /**
   * Custom fields that lists can be filtered and sorted by, and that may be unique. A store builds indexes
   * for them when it is opened, and they may differ each time. It derives their values from the JSON of a
   * record, so that stores with other declarations work on the same data. If stored records already violate
   * a `unique`, or have a value of another type (`brokenDeclarationMessage`), opening fails and names the field
   * and ids of such records.
   */
  readonly declaredFields?: Declared | undefined;
}

/** Stores the records: two repositories, and the connection or file behind them. */
export interface Store<Declared extends DeclaredFields = DeclaredFields> extends AsyncDisposable {
  readonly users: UserRepository;
  readonly posts: PostRepository;
  /** Moves the whole store; absent if it cannot be copied. */
  readonly transfer?: Transfer | undefined;
  /** Every change in one order; absent if the store keeps no log. */
  readonly events?: EventLog | undefined;
  /** The custom fields that the store was opened with, which are the core's filters; none if absent. */
  readonly declaredFields?: Declared | undefined;

  /**
   * Returns once the store has shown that it can serve. Never waits behind other work.
   *
   * @throws RostrumError `store-unavailable`
   */
  ready(): Promise<void>;

  /**
   * Waits for calls in progress, perhaps for a limited time, then frees the store's resources. A call made
   * after `close` ends in `store-unavailable` at once. Closing again, even concurrently, does nothing.
   * `Symbol.asyncDispose` does the same.
   */
  close(): Promise<void>;
}
