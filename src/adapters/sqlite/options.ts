import type { DeclaredFields } from '../../domain/fields/declared-fields.ts';
import { checkOptions } from '../../domain/options.ts';
import type { Logger } from '../../ports/logger.ts';
import type { StoreOptions } from '../../ports/store.ts';

// Separate from the code that imports the driver, so that the package's types do not need those of Node.

export interface SqliteStoreOptions<Declared extends DeclaredFields = DeclaredFields>
  extends StoreOptions<Declared> {
  /** The data file. It and its folder are created if they are missing. */
  readonly path: string;
  /** Receives faults of the file: damage, a full disk, failed commits. */
  readonly logger?: Logger | undefined;
  readonly writes?: Partial<WriteLimits> | undefined;
}

export interface WriteLimits {
  /** How many writes can wait: one more is `overloaded`. Default: 10,000. */
  readonly queuedWrites: number;
  /** How long opening or a write waits for another process's lock, in milliseconds. Default: 5,000. */
  readonly busyMs: number;
}

const defaultWriteLimits: WriteLimits = { queuedWrites: 10_000, busyMs: 5000 };

/**
 * Returns the limits to use.
 *
 * @throws TypeError for an unknown limit, RangeError for an invalid one
 */
export function writeLimits(given: Partial<WriteLimits> = {}): WriteLimits {
  checkOptions(given, Object.keys(defaultWriteLimits), 'writes');
  const limits = { ...defaultWriteLimits, ...given };
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isInteger(value) && value >= 0) continue;
    throw new RangeError(`${name} must be an integer of at least 0.`);
  }
  return limits;
}
