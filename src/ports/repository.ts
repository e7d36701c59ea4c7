import type { Page, PageRequest } from '../domain/list.ts';
import type { Receipt } from '../domain/receipt.ts';
import type { Id, Versioned } from '../domain/record.ts';

/**
 * Decides a change: from what is stored to what shall be stored.
 *
 * Pure and synchronous, and leaves the `id` as it is. A store may call it again, when another
 * call changed the record meanwhile. What it throws ends the call and nothing is written. When it
 * returns the very object that it was shown (`current.record`), nothing is written and the version
 * stays.
 */
export type Decide<R> = (current: Versioned<R>) => R;

/** Refuses, by throwing, what is about to happen to a record. Pure and synchronous. */
export type Guard<R> = (current: Versioned<R>) => void;

/** The record that a creation made, as it was first made, at version 1. */
export interface Creation<R> extends Versioned<R> {
  /** True when an earlier creation under the same receipt made it, and this one made nothing. */
  readonly replayed: boolean;
}

/**
 * Keeps users or posts. What holds for every repository:
 *
 * - Absence is `undefined` (`false` of a post's deletion), never an error.
 * - Ids, the keys of receipts and what a filter names are compared exactly, code point by code point
 *   (email addresses by `emailKey`, and the start of a text by `textKey` or `emailPrefixKey`). Any
 *   text may be asked for, with NUL or half of a surrogate pair in it too. A text that no record can have matches nothing, and bounds a span or a
 *   position like any other text.
 * - What is returned, what is taken and what a {@link Decide} or a {@link Guard} is shown are
 *   values, never aliases: changing them changes nothing that is stored. A record comes back equal
 *   to the one that went in, custom fields of any name and depth included; only the order of keys is
 *   not kept. What a call is given is taken as it is then: its caller may change it at once.
 * - Every call returns a promise, which an error rejects: none throws before it returns.
 * - Each call is atomic: it is seen whole or not at all, by every reader, and of calls that race
 *   each one sees what the one before it left.
 * - A change is acknowledged (its promise fulfilled) only when it is as durable as the store gets.
 *   Every later read sees it.
 * - What comes in is valid: records, requests, modes, instants; a filter on custom fields names those
 *   that the store was opened with, with values of their types. A store does not validate it again,
 *   except for what only a store can know: ids and emails that are taken, authors that do not exist.
 * - However many records there are, and however large each of them is, a call holds no more of them
 *   in memory than eight times {@link PageRequest}.bytes, or one record.
 * - Of errors, a store raises those that are named here, and lets through what a {@link Decide} or
 *   a {@link Guard} throws. Besides, any call may end in `store-unavailable` (whose
 *   `outcome` tells whether a change may have been made) or `overloaded`; after `close`, every call
 *   ends in `store-unavailable` with the outcome `none`.
 */
export interface Repository<R, Filter, Sort extends string> {
  get(id: Id): Promise<Versioned<R> | undefined>;

  /**
   * One page of the records that the filter matches, in the order asked for. They are sorted by the
   * sort key (`userSortKey`, `postSortKey`), then by id, both in the order's direction. Text sorts
   * by code point, and null before all text.
   *
   * - It is one atomic read. It ends at `limit` records, or before the record that would bring the
   *   `json` of all over `bytes`, but has one record at least (`cutPage` does it).
   * - `after` is a position and not a record: the page begins with the first record behind it,
   *   whether or not the record that was there still is.
   * - `next` is the position of the page's last record, and absent when no record that the filter
   *   matches follows it.
   * - `total` counts all records that the filter matches, wherever the page begins.
   * - Records that a filter passes over, or that only `total` counts, are found beside their text
   *   (by columns or indexes): they count for the eight times `bytes` as those of the page do.
   * - The cost of a page does not grow with its depth.
   *
   * So, walking from page to page, a record that is there all the while and keeps its sort key is
   * met exactly once, whatever is inserted or deleted meanwhile.
   */
  list(request: PageRequest<Filter, Sort>): Promise<Page<R>>;

  /**
   * Stores a new record, at version 1. An id names one record for good: one whose record was
   * deleted is taken as well, so that no ETag of that record ever fits another (RFC 9110, 8.8.1).
   *
   * With a receipt, record and receipt are stored in one commit. When this repository has a receipt
   * with that key, nothing is written, and no conflict matters. With the same fingerprint the call returns what the first one made, at version 1,
   * even if that was changed or deleted since. With another fingerprint it throws.
   *
   * A receipt is forgotten from its `until` on, judged by the `from` of the receipt that meets it; then
   * the key is free again. Once the `until` has come by the `from` of any receipt, or by the store's
   * own clock, a store may drop the receipt for good, also for a receipt with an earlier `from`. A
   * creation that failed leaves no receipt. Of racing creations under one key, one makes its record
   * and the others return that.
   *
   * Where several things are wrong, the first in this order is raised.
   *
   * @throws RostrumError `idempotency-key-reused`: the key was used with another fingerprint
   * @throws RostrumError `id-taken`: as {@link isIdTaken} says; the id generator is broken
   */
  create(record: R, receipt?: Receipt): Promise<Creation<R>>;

  /** Whether a record has this id, or had it before it was deleted from this store. */
  isIdTaken(id: Id): Promise<boolean>;

  /**
   * Changes a record by a decision, in one atomic step: what is stored is what `decide` made of
   * the very version that it replaces. The version grows by one.
   *
   * @returns the record as it is now stored; undefined when there is none with this id, and
   * `decide` is not called
   */
  update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined>;
}
