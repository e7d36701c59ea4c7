/// <reference lib="esnext.disposable" preserve="true" />
import type { DeclaredFields } from '../domain/fields/declared-fields.ts';
import type { Collection } from '../domain/records/record.ts';
import type { EventLog } from './event-log.ts';
import type { PostRepository } from './post-repository.ts';
import type { Transfer } from './transfer.ts';
import type { UserRepository } from './user-repository.ts';

/** The options that every store has. */
export interface StoreOptions<Declared extends DeclaredFields = DeclaredFields> {
  /**
   * Fields to declare, if the database does not declare them yet. Lists can be filtered and sorted by a declared
   * field, its values may be unique, and it is null, absent or a value of its type, within the limits that
   * docs/custom-fields.md names.
   *
   * A database keeps its declarations, and every process that has it open obeys them, whichever ones it was opened
   * with: a change that breaks one ends in `invalid-record` (`checkRecord`) or `field-taken`. Opening adds missing
   * ones while other processes go on:
   *
   * 1. Store the declaration as pending. From now on, no process stores a value of another type.
   * 2. Read all records (`StoredRecordsCheck`).
   * 3. Build the indexes, find equal values of a unique field (`notUnique`), and store that the declaration is active.
   *
   * If a record breaks a declaration, remove the pending declarations and throw a `DeclarationError`. If the process
   * ends in between, the next opening goes on with what is pending.
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
  /**
   * The declared fields of the database when it was opened: those that it had, and those that the options added. A
   * store that opens in the background knows them once `ready` has returned. The core reads them here.
   */
  readonly declaredFields?: Declared | undefined;

  /**
   * Removes a declaration and its indexes. The values stay in the records. A process that is running uses the
   * declaration until it opens the database again.
   */
  undeclare(collection: Collection, name: string): Promise<void>;

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
