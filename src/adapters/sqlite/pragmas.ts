import type { Connection } from './connection.ts';
import { SqliteStoreError } from './errors.ts';

/**
 * For how long SQLite itself waits for a lock. It blocks the whole process while it waits, so this
 * is short, and the write queue waits the rest (`WriteLimits.busyMs`).
 */
const busyMs = 20;

/** What the store's promises rest on, and what SQLite answers when it took. */
const needed = [
  // Readers see the last commit while a write goes on.
  ['journal_mode', 'WAL', 'wal'],
  // Each commit is synced before it returns; NORMAL would lose the last ones with the power.
  ['synchronous', 'FULL', 2],
  // No post without its author.
  ['foreign_keys', 'ON', 1],
  ['busy_timeout', String(busyMs), busyMs],
] as const;

const wished = [
  // 32 MiB of pages; SQLite's own 2 MiB do not hold the inner pages of a million records' indexes.
  ['cache_size', '-32768'],
  // After a peak the log gives its space back.
  ['journal_size_limit', String(64 * 1024 * 1024)],
] as const;

/** Sets up a connection and refuses one that is not as safe as it has to be. */
export function applyPragmas(connection: Connection, file: string): void {
  // The first thing, as setting the others may meet a lock.
  connection.exec(`PRAGMA busy_timeout = ${busyMs}`);
  for (const [name, value] of [...needed, ...wished]) connection.exec(`PRAGMA ${name} = ${value}`);
  for (const [name, value, expected] of needed) {
    if (pragma(connection, name) === expected) continue;
    throw new SqliteStoreError(
      'store-unsafe-settings',
      `SQLite did not take the setting ${name} = ${value} for the data file ${file}: use a local file system and a driver that allow it.`,
    );
  }
}

/** The present value of a setting. */
export function pragma(connection: Connection, name: string): unknown {
  const row = connection.get<Record<string, unknown>>(`PRAGMA ${name}`);
  return row && Object.values(row)[0];
}
