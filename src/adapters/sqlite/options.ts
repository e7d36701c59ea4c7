import type { DeclaredFields } from '../../domain/fields/declared-fields.ts';
import type { Logger } from '../../ports/logger.ts';
import type { StoreOptions } from '../../ports/store.ts';

// Separate from the code that imports the driver, so that the package's types do not need those of Node.

export interface SqliteStoreOptions<Declared extends DeclaredFields = DeclaredFields>
  extends StoreOptions<Declared> {
  /** The data file. It and its folder are created if they are missing. */
  readonly path: string;
  /** Receives faults of the file: damage, a full disk, failed commits. */
  readonly logger?: Logger | undefined;
}
