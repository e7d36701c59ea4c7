import type { Claim } from '../domain/claim.ts';
import type { Page, PageRequest } from '../domain/page.ts';
import type { Entity, Id, Versioned } from '../domain/record.ts';

/**
 * Decides a change: from what is stored to what shall be stored.
 *
 * Pure and synchronous, and leaves the `id` as it is. A store may call it again, when somebody
 * else changed the record meanwhile. What it throws ends the call and nothing is written. When it
 * returns the very object that it was given (`current.record`), nothing is written and the version
 * stays.
 */
export type Decide<R> = (current: Versioned<R>) => R;

/** Refuses, by throwing, what is about to happen to a record. Pure and synchronous. */
export type Guard<R> = (current: Versioned<R>) => void;

/** What became of a creation. */
export interface Creation<R> {
  /** The record as it was first made. */
  readonly stored: Versioned<R>;
  /** True when an earlier creation under the same claim made it, and this one made nothing. */
  readonly replayed: boolean;
}

/**
 * Keeps records of one kind. What holds for every repository:
 *
 * - Absence is `undefined` (or `false`), never an error.
 * - Ids, the keys of claims and what a filter names are compared exactly, code point by code point
 *   (email addresses by their key). Any string may be asked for; one that could be no id names
 *   nothing.
 * - What is returned, what is taken and what a {@link Decide} or a {@link Guard} is shown are
 *   values, never aliases: changing them changes nothing that is stored. A record comes back equal
 *   to the one that went in, own fields of any name and depth included; only the order of keys is
 *   not kept.
 * - Each call is atomic: it is seen whole or not at all, by every reader, and of calls that race
 *   each one sees what the one before it left.
 * - A change is acknowledged (its promise fulfilled) only when it is as durable as the store gets.
 *   Who reads after that sees it.
 * - Records are valid when they come in. A store does not validate them again, except for what
 *   only a store can know: ids and emails that are taken, authors that do not exist.
 * - Of errors, a store raises those that are named here, by the functions that `rostrum` exports,
 *   and lets through what a {@link Decide} or a {@link Guard} throws. Besides, any call may end in
 *   `store-unavailable` (whose `outcome` tells whether a change may have been made) or
 *   `overloaded`; after `close`, every call ends in `store-unavailable` with the outcome `none`.
 */
export interface Repository<R extends Entity, Filter, Order> {
  get(id: Id): Promise<Versioned<R> | undefined>;

  /**
   * One page of the records that the filter matches, in the order asked for: first by the sort
   * key (`userSortKey`, `postSortKey`; text by code point, null before all text), then by id
   * (by code point as well), both in the order's direction.
   *
   * - `after` is a place and not a record: the page begins with the first record behind it,
   *   whether or not the record that was there still is.
   * - `next` is the position of the page's last record, and absent when no record that the filter
   *   matches follows it. A page that has one is full: it has `limit` records.
   * - `total` counts all records that the filter matches, wherever the page begins.
   * - The cost of a page does not grow with its depth.
   *
   * So, walking from page to page, a record that is there all the while and keeps its sort key is
   * met exactly once, whatever is inserted or deleted meanwhile.
   */
  list(filter: Filter, page: PageRequest<Order>): Promise<Page<Versioned<R>>>;

  /**
   * Stores a new record, at version 1.
   *
   * With a claim, record and claim are stored in one commit. When the claim's key is already
   * claimed in this repository, nothing is written, and neither the record's fields nor its
   * conflicts matter any more: with the same fingerprint the call returns what the first one
   * made, at version 1, even if that was changed or deleted since; with another it throws. A
   * claim is forgotten from its `until` on (judged by the `from` of the claim that meets it), and
   * the key is free again. When that has come by the `from` of any claim, or by the store's own
   * clock, a store may drop it for good, also for who comes with an earlier `from`. A creation
   * that failed leaves no claim. Of racing creations under one key, one makes its record and the
   * others return that.
   *
   * Where several things are wrong, the first in this order is raised.
   *
   * @throws RostrumError `idempotency-key-reused`: the key was claimed with another fingerprint
   * @throws RostrumError `id-taken`: a record has this id
   */
  create(record: R, claim?: Claim): Promise<Creation<R>>;

  /**
   * What an earlier creation made under this claim, as `create` would return it; undefined when
   * the key is free. For a caller who has no valid record to create.
   *
   * @throws RostrumError `idempotency-key-reused`
   */
  replay(claim: Claim): Promise<Versioned<R> | undefined>;

  /**
   * Changes a record by a decision, in one atomic step: what is stored is what `decide` made of
   * the very version that it replaces. The version grows by one.
   *
   * @returns the record as it is now stored; undefined when there is none with this id, and
   * `decide` is not called
   */
  update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined>;

  /**
   * The first `limit` records behind an id (from the beginning, when there is none), by id in the
   * order of code points: for whoever moves a whole store. What is there throughout is met exactly
   * once by who walks on from the last id of each answer. `limit` is 1 to 1000.
   */
  scan(limit: number, after?: Id): Promise<readonly Versioned<R>[]>;

  /**
   * Stores records as they are, with their ids, versions and times. One that has the id of a
   * record that is there takes its place.
   *
   * Each record is stored whole or not at all, and all of them are when the call is fulfilled. A
   * call that throws may have stored some; made again, it comes to the same as made once. What has
   * to hold between records (emails, authors) holds at every moment here as well: an address that
   * only a later record of the same call frees is `email-taken`. Claims are not touched. Hundreds of
   * records at once are what a caller should hand in.
   */
  load(records: readonly Versioned<R>[]): Promise<void>;
}
