import type { CustomFilters } from '../../domain/declared-fields.ts';
import type { Logger } from '../../ports/logger.ts';
import type { StoreOptions } from '../../ports/store.ts';

// Apart from the code that has the driver, so that the types of the package need none of Node's.

export interface SqliteStoreOptions<Filters extends CustomFilters = CustomFilters>
  extends StoreOptions<Filters> {
  /** The data file. It and its folder are made when they are missing. */
  readonly path: string;
  /** Told of writes that failed, and how far a migration is. */
  readonly logger?: Logger | undefined;
  readonly writes?: Partial<WriteLimits> | undefined;
}

/** What may wait. */
export interface WriteLimits {
  /** Writes that wait; one more is `overloaded`. */
  readonly queuedWrites: number;
  /** For how many milliseconds a call, or the opening, waits for a lock of another process. */
  readonly busyMs: number;
}

export const defaultWriteLimits: WriteLimits = { queuedWrites: 10_000, busyMs: 5000 };
