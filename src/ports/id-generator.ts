import type { Id } from '../domain/record.ts';

/**
 * Makes ids. No two are ever the same, in any process that uses the same store. Where they grow,
 * records with the same `createdAt` are listed in the order in which they were made; nothing else
 * depends on that.
 */
export interface IdGenerator {
  next(): Id;
}
