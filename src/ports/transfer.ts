import type { Post } from '../domain/post.ts';
import type { Id, Version, Versioned } from '../domain/record.ts';
import type { User } from '../domain/user.ts';

/**
 * Moves whole stores: for a store that no other process writes to meanwhile. A store without it can be
 * served, but neither copied nor exported.
 */
export interface Transfer {
  readonly users: RecordTransfer<User>;
  readonly posts: RecordTransfer<Post>;

  /**
   * Marks the store as one that is being filled, durably, until {@link end}: what it holds may be half of
   * something, so a server refuses to serve it. Calling it again changes nothing.
   */
  begin(): Promise<void>;

  /** Removes the mark. Without a mark it does nothing. */
  end(): Promise<void>;

  /** Returns true when the store is marked. */
  isFilling(): Promise<boolean>;
}

export interface ScanRequest {
  /** Records, at least 1. */
  readonly limit: number;
  /** Bytes of UTF-8 of the records' `json`; at least one record is returned, if there is one. */
  readonly bytes: number;
  /** The id behind which to begin. From the beginning when absent. */
  readonly after?: Id | undefined;
}

/** The id of a deleted record, and the last version that the record had. */
export interface DeletedId {
  readonly id: Id;
  readonly lastVersion: Version;
}

export interface RecordTransfer<R> {
  /**
   * Returns the first records behind an id, by id in the order of code points. It ends as a page does,
   * at `limit` or before `bytes`, and is empty when no record follows.
   */
  scan(request: ScanRequest): Promise<readonly Versioned<R>[]>;

  /**
   * Stores records as they are, with their ids, versions and times. A record takes the place of the one
   * with its id. No version is ever given twice: a record whose id had a later version here, or was
   * deleted at this version or a later one, is stored at one more than that last version. Receipts are
   * not touched.
   *
   * Each record is stored whole or not at all, and all of them are when the call is fulfilled. A
   * call that throws may have stored some; calling again stores the rest. What has to hold between
   * records (email addresses, authors) holds here as well: an address that only a later record of the
   * same call frees is `email-taken`. Hand in some megabytes, or some hundreds of records, at once.
   *
   * @throws RostrumError `email-taken`, `field-taken`, or `invalid-record` for an unknown author
   */
  load(records: readonly Versioned<R>[]): Promise<void>;

  /** Ids of deleted records. */
  readonly deleted: {
    /**
     * Returns the first ids behind `after`, in the order of code points, of records that were deleted and
     * do not exist now.
     *
     * @param limit at least 1
     */
    scan(limit: number, after?: Id): Promise<readonly DeletedId[]>;

    /**
     * Stores ids of deleted records. An id whose record exists is left alone, and a last version never
     * becomes lower. It is no deletion: there is no event.
     */
    load(ids: readonly DeletedId[]): Promise<void>;
  };
}
