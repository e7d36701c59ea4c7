import { uuidV7 } from '../../adapters/system/uuid-v7.ts';
import type { Id } from '../../domain/record.ts';
import type { IdGenerator } from '../../ports/id-generator.ts';

const stock = 1000;

/** Ids that grow, so that records of one millisecond are listed in the order of their file. */
export function orderedIds(): IdGenerator {
  let ids: Id[] = [];
  let last = '';
  return {
    next() {
      while (ids.length === 0) {
        const made = Array.from({ length: stock }, () => uuidV7.next());
        // Until the next millisecond some are smaller.
        ids = made.filter((id) => id > last).sort((a, b) => (a < b ? 1 : -1));
      }
      last = ids.pop() ?? last;
      return last;
    },
  };
}
