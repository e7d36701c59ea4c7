import type { Id } from '../domain/record.ts';

/** Makes ids. No two are ever the same, in any process that uses the same store. */
export interface IdGenerator {
  next(): Id;
}
