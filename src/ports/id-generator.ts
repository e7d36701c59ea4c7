import type { Id } from '../domain/record.ts';

/**
 * Makes ids that never repeat, in any process that uses the same store. If they ascend, lists keep records
 * with the same `createdAt` in the order of their creation; nothing else depends on it.
 */
export interface IdGenerator {
  next(): Id;
}
