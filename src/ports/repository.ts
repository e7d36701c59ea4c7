import type { ListQuery, Page } from '../domain/list.ts';
import type { Receipt } from '../domain/receipt.ts';
import type { Id, Version, Versioned } from '../domain/record.ts';

/**
 * Decides a change: takes what is stored and returns what shall be stored.
 *
 * Pure and synchronous; it leaves the `id` as it is. A store may call it again when another call changed
 * the record meanwhile. If it throws, the call ends with that error and nothing is written. If it returns
 * the very object that it was given (`current.record`), nothing is written and the version stays.
 */
export type Decide<R> = (current: Versioned<R>) => R;

/** Throws to prevent what is about to happen to a record. Pure and synchronous. */
export type Guard<R> = (current: Versioned<R>) => void;

/** The record that a creation stored, at the version that it was created at. */
export interface Creation<R> extends Versioned<R> {
  /** True when an earlier creation under the same receipt stored it, and this call stored nothing. */
  readonly replayed: boolean;
}

/**
 * Keeps users or posts. What holds for every repository:
 *
 * - A missing record is `undefined` (`false` for the deletion of a post), never an error.
 * - Ids, receipt keys and the values of conditions are compared exactly, code point by code point. All
 *   texts that reach a store are well-formed Unicode without NUL.
 * - What is taken, returned, or shown to a {@link Decide} or a {@link Guard} is a value, never an alias:
 *   changing it changes nothing that is stored. A record comes back equal to the one that went in, with
 *   custom fields of any name and depth; only the order of keys may differ. The caller may reuse its
 *   arguments as soon as the method returns.
 * - Every call returns a promise: no method throws before it returns.
 * - Each call is atomic. Readers see all of it or none of it, and of calls that race, each sees what the
 *   one before it left.
 * - A change is acknowledged (its promise fulfilled) only when it is as durable as the store gets.
 *   Every later read sees it.
 * - Arguments are valid: records, queries, modes, instants. A store checks only what a store alone can
 *   know: ids and email addresses that are taken, authors that do not exist.
 * - However many records there are, and however large each of them is, a call holds at most eight
 *   times {@link ListQuery}.bytes of them in memory, or one record.
 * - A store throws only the errors named here, plus anything thrown by a {@link Decide} or
 *   {@link Guard}. Any call may also end in `store-unavailable` (its `outcome` tells whether a change may
 *   have been made), in `overloaded`, or in `refused` where a rule of the host's own database rejects the
 *   change. After `close`, every call ends in `store-unavailable` with the outcome `none`.
 */
export interface Repository<R> {
  get(id: Id): Promise<Versioned<R> | undefined>;

  /**
   * Returns one page of the records that match all conditions, in the order asked for. Records are
   * sorted by the order's field of the {@link searchRow}, then by id, both in the order's direction. Text
   * sorts by code point, and null before all text.
   *
   * - It is one atomic read. A page ends at `limit` records, or before the record that would bring the
   *   `json` of all over `bytes`, but has at least one record (`cutPage` does this).
   * - `after` is a position and not a record: the page begins with the first record behind it, whether
   *   or not the record that was there still exists.
   * - `next` is the position of the page's last record. It is absent when no matching record follows.
   * - `total` counts all records that match, wherever the page begins.
   * - Records that do not match, or are only counted, are found by columns or indexes beside their
   *   JSON: they count towards the eight times `bytes` too.
   * - The cost of a page does not grow with its depth.
   *
   * So a walk from page to page meets every record that exists throughout and keeps its sort key exactly
   * once, whatever is inserted or deleted meanwhile.
   */
  list(query: ListQuery): Promise<Page<R>>;

  /**
   * Stores a new record: at version 1, or at one more than the last version of a deleted record with
   * this id, so that no ETag of that record ever fits this one (RFC 9110, section 8.8.1).
   *
   * With a receipt, record and receipt are stored in one commit. When this repository has a receipt with
   * that key and the same fingerprint, nothing is written, no conflict matters, and the call returns
   * what the first one stored, at its version, even if that was changed or deleted since. With another
   * fingerprint it throws.
   *
   * A receipt expires at its `until`, judged by the `from` of the receipt that meets it; then the key is
   * free again. Once the `until` has passed by the `from` of any receipt, or by the store's own
   * clock, a store may drop the receipt. A creation that failed leaves no receipt. Of racing creations
   * under one key, one stores its record and the others return that.
   *
   * Where several things are wrong, the first in this order is thrown.
   *
   * @throws RostrumError `idempotency-key-reused`: the key was used with another fingerprint
   * @throws RostrumError `id-taken`: there is a record with this id
   * @throws RostrumError `field-taken` (`fieldTaken(name)`): another record has the same value of a custom
   * field that is declared as unique; as `update` does, both after `email-taken` and before an unknown
   * author. A missing value is not a value. Of calls that race for a value, one wins.
   */
  create(record: R, receipt?: Receipt): Promise<Creation<R>>;

  /**
   * Returns the version of the record with this id, or the last version of a deleted record with this id;
   * undefined when this store never had one.
   */
  lastVersion(id: Id): Promise<Version | undefined>;

  /**
   * Changes a record by a decision, in one atomic step: what is stored is what `decide` made of the very
   * version that it replaces. The version grows by one.
   *
   * @returns the record as it is now stored; undefined when there is none with this id, and then `decide`
   * is not called
   */
  update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined>;
}
