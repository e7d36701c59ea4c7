import type { Id } from '../domain/records/record.ts';

/**
 * Makes ids that never repeat, in any process that uses the same store. If they ascend, lists keep records
 * with the same `createdAt` in the order of their creation; nothing else depends on it.
 *
 * An id is a well-formed text of 1 to 255 code points without control characters, other than `.`, `..` and
 * `me`. The core rejects any other.
 */
export interface IdGenerator {
  next(): Id;
}
