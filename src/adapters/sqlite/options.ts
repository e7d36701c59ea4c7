import type { CustomFilters } from '../../domain/declared-fields.ts';
import type { Logger } from '../../ports/logger.ts';
import type { StoreOptions } from '../../ports/store.ts';

// Apart from the code that imports the driver, so that the package's types do not need those of Node.

export interface SqliteStoreOptions<Filters extends CustomFilters = CustomFilters>
  extends StoreOptions<Filters> {
  /** The data file. It and its folder are made when they are missing. */
  readonly path: string;
  /** Gets a line for each fault, and for each index that is made. */
  readonly logger?: Logger | undefined;
  readonly writes?: Partial<WriteLimits> | undefined;
}

export interface WriteLimits {
  /** How many writes may wait: one more is `overloaded`. 10,000 when absent. */
  readonly queuedWrites: number;
  /** For how many milliseconds opening, or a write, waits for a lock of another process. 5,000 when absent. */
  readonly busyMs: number;
}

export const defaultWriteLimits: WriteLimits = { queuedWrites: 10_000, busyMs: 5000 };
