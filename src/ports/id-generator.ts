import type { Id } from '../domain/record.ts';

/**
 * Makes ids. They never repeat, in any process that uses the same store. If they ascend, records with the
 * same `createdAt` are listed in the order in which they were created; nothing else depends on that.
 */
export interface IdGenerator {
  next(): Id;
}
