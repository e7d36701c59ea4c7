/** The embedded store: everything in one SQLite file, durable before it is acknowledged. */
export { backupSqlite, type SqliteBackupOptions } from './backup.ts';
export { SqliteStoreError, type SqliteStoreErrorCode } from './errors.ts';
export { openSqliteStore, type SqliteStoreOptions } from './store.ts';
export type { WriteLimits } from './write-queue.ts';
