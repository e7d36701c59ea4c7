/// <reference lib="esnext.disposable" preserve="true" />
import type { DeclaredFields } from '../domain/fields/declared-fields.ts';
import type { EventLog } from './event-log.ts';
import type { PostRepository } from './post-repository.ts';
import type { Transfer } from './transfer.ts';
import type { UserRepository } from './user-repository.ts';

/** Settings of a deployment that a store needs when it is opened. */
export interface StoreOptions<Declared extends DeclaredFields = DeclaredFields> {
  /**
   * Fields with a type. Lists can be filtered and sorted by them, and their values may be unique. The core
   * passes only null and values of the type, within the limits that docs/custom-fields.md names.
   *
   * The declarations may differ each time that a store is opened. For a new one, opening checks the stored records: if one
   * has a value of another type (`brokenDeclarationMessage`), or two have the same value of a unique field
   * (`notUniqueMessage`), it fails with a message that names the field and the ids.
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
  /** The declared fields that the store was opened with; the core reads them here. None if absent. */
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
