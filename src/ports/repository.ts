import type { ListQuery, Page } from '../domain/lists/list.ts';
import type { Receipt } from '../domain/records/receipt.ts';
import type { Id, Version, Versioned } from '../domain/records/record.ts';

/**
 * Decides a change: takes the stored record and returns the record to store.
 *
 * Pure and synchronous; it never changes the `id`. A store may call it again if another call changed the
 * record meanwhile. If it throws, the call fails with that error and nothing is written. If it returns the
 * object that it was given (`current.record`), nothing is written and the version stays.
 */
export type Decide<R> = (current: Versioned<R>) => R;

/** Throws to prevent the deletion of a record. Pure and synchronous. */
export type Guard<R> = (current: Versioned<R>) => void;

/** The record that a creation stored, at its first version. */
export interface Creation<R> extends Versioned<R> {
  /** True if an earlier creation under the same receipt stored it, and this call stored nothing. */
  readonly replayed: boolean;
}

/** What the caller knows about a creation. A store may ignore it, or use it to do less. */
export interface CreationHints {
  /** True if the id is new, as those of an `IdGenerator` are: no record has ever had it. */
  readonly isNewId?: boolean | undefined;
}

/**
 * Stores users or posts. Rules for every repository:
 *
 * - If a record is missing, the method returns `undefined` (`false` for the deletion of a post) and does not
 *   throw.
 * - Ids, receipt keys and the values of conditions are compared exactly, code point by code point. Every
 *   text that reaches a store is well-formed Unicode without NUL.
 * - Arguments, results and the arguments of a {@link Decide} or a {@link Guard} are values, never aliases:
 *   modifying them changes nothing that is stored. A record comes back equal to the one that was stored,
 *   with custom fields of any name and depth; only the order of keys may differ. The caller may reuse its
 *   arguments as soon as the method returns. The core adds members to the {@link Versioned} that `create`
 *   or `update` returned, so these must be extensible.
 * - Every method returns a promise, and rejects it instead of throwing.
 * - Each call is atomic. Readers see all of it or none of it, and calls that race take effect one after
 *   another. If calls race for an id or a unique value, one of them wins.
 * - A change is acknowledged (its promise fulfilled) only when it is as durable as the store can make it.
 *   Every later read sees it.
 * - Arguments are valid: records, queries, modes, instants. A declared field is null, absent or a value of
 *   its type. A store checks only what a store alone can know: whether an id or a unique value is taken,
 *   and whether an author exists.
 * - Memory: a call can hold 16 MiB of records, or one larger record. Filter by indexes, not by reading every
 *   record.
 * - The errors of each method are named at the method. Any call may also end in `store-unavailable` (its
 *   `outcome` tells whether a change may have been made), in `overloaded`, or in `refused` if a rule of the
 *   host's own database, or a limit of the store, rejects the change. After `close`, every call ends in
 *   `store-unavailable` with the outcome `none`.
 * - Errors thrown by a {@link Decide} or a {@link Guard} reach the caller unchanged. So do errors of the
 *   driver that mean none of the above.
 */
export interface Repository<R> {
  get(id: Id): Promise<Versioned<R> | undefined>;

  /**
   * Returns one page of the records that match all conditions, sorted as `QueryOrder` and
   * `comparePositions` say.
   *
   * - It is one atomic read. A page ends at `limit` records, or before the record whose `json` would
   *   take the page over `bytes`, but has at least one record (`cutPage` does this).
   * - `after` is a position and not a record: the page begins with the first record after it, whether or
   *   not the record at the position still exists.
   * - `next` is the position of the page's last record. It is absent when no matching record follows.
   * - `total` counts all records that match, wherever the page begins.
   * - The cost of a page does not grow with its depth.
   *
   * So reading page after page returns every record that exists throughout, with an unchanged sort key,
   * exactly once, whatever is inserted or deleted meanwhile.
   */
  list(query: ListQuery): Promise<Page<R>>;

  /**
   * Stores a new record: at version 1, or at one more than the last version of a deleted record with
   * this id, so that no ETag of that record ever fits this one (RFC 9110, section 8.8.1).
   *
   * With a receipt, record and receipt are stored in one commit. If this repository has a receipt with the
   * same key and fingerprint, nothing is written, conflicts are not checked, and the call returns the
   * record as the first call stored it, at its version, even if it has been changed or deleted since.
   *
   * A stored receipt has expired once its `until` is not after the `from` of a new receipt with its key. You
   * can delete a receipt once `until` has passed, by any receipt's `from` or by your own clock. A creation
   * that failed leaves no receipt. Of racing creations under one key, one stores its record and the others
   * return that record.
   *
   * If several of these errors apply, the first one is thrown. A record without an address, or without a
   * value of a unique field, never conflicts.
   *
   * @throws RostrumError `idempotency-key-reused`: the key was used with another fingerprint
   * @throws RostrumError `id-taken`: a record with this id exists
   * @throws RostrumError `email-taken` (`emailTaken()`): another user has the same `emailKey` (`searchRow`)
   * @throws RostrumError `field-taken` (`fieldTaken(name)`): another record has the same value of a field
   * that is declared as unique
   * @throws RostrumError `invalid-record` (`unknownAuthor()`): a post names an author, and no user has that id
   */
  create(record: R, receipt?: Receipt, hints?: CreationHints): Promise<Creation<R>>;

  /**
   * Returns the version of the record with this id, or the last version of a deleted record with this id;
   * undefined if this store never had one.
   */
  lastVersion(id: Id): Promise<Version | undefined>;

  /**
   * Changes a record in one atomic step: no other change comes between the read, `decide` and the write.
   * The version grows by one.
   *
   * @returns the record as it is now stored; undefined if no record has this id, and then `decide` is not
   * called
   * @throws RostrumError `email-taken`, `field-taken`, `invalid-record`, as {@link create} does
   */
  update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined>;
}
