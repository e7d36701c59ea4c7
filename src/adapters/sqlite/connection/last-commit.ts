import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { EventPosition } from '../../../ports/event-log.ts';
import { checkLayout } from '../layout.ts';
import { Connection } from './connection.ts';
import { DriverError, damaged, hasCode, SqliteStoreError } from './errors.ts';

// SQLite applies a log to whatever file is beside it, and goes on reading a file that another one was copied over
// (https://sqlite.org/howtocorrupt.html, section 1.4). So every commit of the store writes its newest event to the table
// `lastCommit`. Its row in the file, read without the log, is that of the last checkpoint. If the events of the log don't
// contain it, the log belongs to another file.

/** The newest event of a commit: its number and its position. */
export type Commit = readonly [sequence: number, position: EventPosition];

/** Returns the last commit in a data file itself, without its log; undefined if it has none or cannot be read. */
export function lastCommitIn(file: string): Commit | undefined {
  try {
    // SQLite reads an immutable file without locks and without its log.
    const location = `${pathToFileURL(file)}?immutable=1`;
    const connection = new Connection(() => new DatabaseSync(location, { readOnly: true }));
    try {
      return connection.get("SELECT sequence, sequence || '.' || mark FROM lastCommit");
    } finally {
      connection.close();
    }
  } catch (error) {
    if (!(error instanceof DriverError)) throw error;
    return undefined;
  }
}

/** While another process copies its log into the file, a read of the file itself can find only half of it. */
const maxTries = 8;
const retryMs = 5;

const isEvent = "sequence = ? AND sequence || '.' || mark = ?";

/**
 * Changes `lastCommit`, in the open transaction.
 *
 * @param inFile the last commit that was seen in the file itself. The log does not have it if a backup was
 * restored and is not in the file yet.
 */
export function recordCommit(connection: Connection, inFile: Commit = [0, '']): void {
  connection.run(
    `UPDATE lastCommit SET
      (sequence, mark) = (SELECT sequence, mark FROM events ORDER BY sequence DESC LIMIT 1),
      inFile = coalesce((SELECT sequence FROM events WHERE ${isEvent}), 0)`,
    ...inFile,
  );
}

/**
 * Returns false if the log was written for another file.
 *
 * @param last a commit that was in the file before
 */
export function logBelongsTo(connection: Connection, file: string, last?: Commit): boolean {
  for (let tries = 0; tries < maxTries; tries++) {
    if (tries > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
    if (logBelongsToNow(connection, file, last)) return true;
  }
  return false;
}

function logBelongsToNow(connection: Connection, file: string, last?: Commit): boolean {
  const hasCommit = (commit: Commit) =>
    connection.get(`SELECT 1 FROM events WHERE ${isEvent}`, ...commit) !== undefined;
  try {
    // Before the file is read, because other processes can commit and copy the log into the file meanwhile.
    const [inFile = 0] = connection.get<[number]>('SELECT inFile FROM lastCommit') ?? [];
    const commit = lastCommitIn(file);
    if (commit === undefined) return inFile === 0;
    if (commit[0] < inFile || !hasCommit(commit)) return false;
    // An earlier commit than before is from an older file, or from a restored backup.
    return last === undefined || commit[0] >= last[0] || !hasCommit(last);
  } catch (error) {
    if (hasCode(error, 'corrupt', 'notADatabase')) return false;
    throw error;
  }
}

/** @throws SqliteStoreError if there is a log, and it was written for another file */
export function checkWal(file: string, timeout?: number): void {
  if (!statSync(`${file}-wal`, { throwIfNoEntry: false })?.size) return;
  // Read-only: when the last connection that can write closes, SQLite copies the log into the file.
  const connection = new Connection(() => new DatabaseSync(file, { readOnly: true, timeout }));
  try {
    if (checkLayout(connection, file) === undefined || logBelongsTo(connection, file)) return;
    if (lastCommitIn(file) === undefined) throw damaged(file);
    const message = `The data file ${file} and its log ${file}-wal do not belong together. If the file is a backup that you put there, remove ${file}-wal and ${file}-shm; otherwise go back to a backup (rostrum restore).`;
    throw new SqliteStoreError('store-damaged', message);
  } finally {
    connection.close();
  }
}
