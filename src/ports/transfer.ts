import type { Post } from '../domain/post.ts';
import type { Id, Versioned } from '../domain/record.ts';
import type { User } from '../domain/user.ts';

/**
 * Moves whole stores: for a store that no other process writes to meanwhile. A store that does not have
 * it can be served, but neither copied nor exported.
 */
export interface Transfer {
  readonly users: RecordTransfer<User>;
  readonly posts: RecordTransfer<Post>;
}

export interface ScanRequest {
  /** Records, at least 1. */
  readonly limit: number;
  /** Bytes of UTF-8 of the records' `json`; one record is returned at least, if there is one. */
  readonly bytes: number;
  /** The id behind which to begin; any text. From the beginning when absent. */
  readonly after?: Id | undefined;
}

export interface RecordTransfer<R> {
  /**
   * The first records behind an id, by id in the order of code points. It ends as a page does, at
   * `limit` or before `bytes`; none when no record follows.
   */
  scan(request: ScanRequest): Promise<readonly Versioned<R>[]>;

  /**
   * Stores records as they are, with their ids, versions and times. One that has the id of a
   * record that is there takes its place; one that has the id of a deleted record is stored all
   * the same. Receipts are not touched.
   *
   * Each record is stored whole or not at all, and all of them are when the call is fulfilled. A
   * call that throws may have stored some; made again, it comes to the same as made once. What has
   * to hold between records (emails, authors) holds here as well: an address that only a later
   * record of the same call frees is `email-taken`. Some megabytes, or some hundreds of records,
   * are what a caller should hand in at once.
   *
   * @throws RostrumError `email-taken`, or `invalid-record` for an unknown author
   */
  load(records: readonly Versioned<R>[]): Promise<void>;
}
