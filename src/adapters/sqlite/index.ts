/** The embedded store: everything in one SQLite file, durable before it is acknowledged. */
import type { DeclaredFields, NoDeclaredFields } from '../../domain/fields/declared-fields.ts';
import type { Store } from '../../ports/store.ts';
import type { SqliteStoreOptions } from './options.ts';
import { openStore } from './store.ts';

export {
  backupSqlite,
  checkSqlite,
  restoreSqlite,
  type SqliteBackupOptions,
  type SqliteRestoreOptions,
} from './backup.ts';
export { SqliteStoreError, type SqliteStoreErrorCode } from './connection/errors.ts';
export type { SqliteStoreOptions } from './options.ts';

/**
 * Opens a data file, or creates it. Several stores may have the same file open, in one process or in several on
 * one machine.
 *
 * @throws SqliteStoreError if the file cannot be used
 * @throws DeclarationError if the file declares a field otherwise, or if stored records break a declaration
 * @throws TypeError or RangeError for invalid options
 */
export function openSqliteStore<const Declared extends DeclaredFields = NoDeclaredFields>(
  options: SqliteStoreOptions<Declared>,
): Store<Declared>;
export function openSqliteStore(options: SqliteStoreOptions): Store {
  return openStore(options);
}
