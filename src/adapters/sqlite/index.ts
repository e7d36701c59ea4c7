/** The embedded store: everything in one SQLite file, durable before it is acknowledged. */
export { backupSqlite, type SqliteBackupOptions } from './backup.ts';
export type { Database, OpenDatabase, SqlValue, Statement } from './database.ts';
export { SqliteStoreError, type SqliteStoreErrorCode } from './errors.ts';
export { openSqliteStore, type SqliteStoreOptions } from './open.ts';
export type { WriteLimits } from './write-queue.ts';
