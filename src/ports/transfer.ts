import type { Post } from '../domain/records/post.ts';
import type { Id, Version, Versioned } from '../domain/records/record.ts';
import type { User } from '../domain/records/user.ts';

/**
 * Moves whole stores, while no other process writes to the target. A store without it can be served, but neither
 * copied nor exported.
 */
export interface Transfer {
  readonly users: RecordTransfer<User>;
  readonly posts: RecordTransfer<Post>;

  /**
   * Marks the store, durably, as being filled until {@link end}. Its data may be incomplete, so no server
   * serves it. Calling it again changes nothing.
   */
  begin(): Promise<void>;

  /** Removes the mark. Without a mark it does nothing. */
  end(): Promise<void>;

  /** Returns true if the store is marked. */
  isFilling(): Promise<boolean>;
}

export interface ScanRequest {
  /** The most records to return, at least 1. */
  readonly limit: number;
  /** The most bytes of UTF-8 that the records' `json` may have; one record is returned in any case. */
  readonly bytes: number;
  /** The id after which the scan begins; absent for the first records. */
  readonly after?: Id | undefined;
}

/** The id of a deleted record, and the last version that the record had. */
export interface DeletedId {
  readonly id: Id;
  readonly lastVersion: Version;
}

export interface RecordTransfer<R> {
  /**
   * Returns the first records after an id, by id in the order of code points. It ends like a page of a list
   * (`cutPage`), and is empty if no record follows.
   */
  scan(request: ScanRequest): Promise<readonly Versioned<R>[]>;

  /**
   * Stores records as they are, with their ids, versions and times. A record replaces the one with its id.
   * No version is ever used twice: a record whose id had a later version here, or was deleted at this
   * version or a later one, is stored at one more than that last version. A record loaded at the version
   * that is stored keeps it, so loading again changes nothing. Receipts are not touched.
   *
   * Each record is stored whole or not at all, and all of them when the promise is fulfilled. A call that
   * throws may have stored some; calling again stores the rest. The rules between records (email addresses,
   * unique values, authors) apply here as well: an address that only a later record of the same call frees is
   * `email-taken`. Pass at most a few megabytes, or a few hundred records, at a time.
   *
   * @throws RostrumError `email-taken`, `field-taken`, `invalid-record`, as `Repository.create` does;
   * `invalid-record` also for a value of another type than declared (`checkRecord`)
   */
  load(records: readonly Versioned<R>[]): Promise<void>;

  /** Ids of deleted records. */
  readonly deleted: {
    /**
     * Returns the first ids after `after`, in the order of code points, of records that were deleted and do
     * not exist now.
     *
     * @param limit at least 1
     */
    scan(limit: number, after?: Id): Promise<readonly DeletedId[]>;

    /**
     * Stores ids of deleted records. Skips an id whose record exists, and never lowers a last version. This
     * is not a deletion and produces no event.
     */
    load(ids: readonly DeletedId[]): Promise<void>;
  };
}
