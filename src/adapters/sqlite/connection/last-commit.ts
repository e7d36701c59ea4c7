import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { checkLayout } from '../layout.ts';
import { block, Connection, retryMs } from './connection.ts';
import { DriverError, damaged, hasCode, SqliteStoreError } from './errors.ts';

// SQLite applies a write-ahead log (WAL) to whatever file is beside it, and goes on using a file that another one was
// copied over (https://sqlite.org/howtocorrupt.html, section 1.4). So every commit of the store records its newest event
// in the table `lastCommit`. Its row in the file itself, read without the WAL, is that of the last checkpoint; its row
// read with the WAL is the newest. If the table `events`, read with the WAL, lacks the event of either, the WAL belongs
// to another file. A commit without an event, such as one of a declaration, can't be told from the commit before it, and
// commits of a host's own tables record nothing.

/** Identifies a commit by the newest event in the log. */
export interface Commit {
  readonly sequence: number;
  /** A random number, as text, because it can be larger than JavaScript's integers. */
  readonly mark: string;
}

/** Returns the last commit in a data file itself, without its WAL; undefined if it has none or cannot be read. */
export function lastCheckpointedCommit(file: string): Commit | undefined {
  try {
    // SQLite reads an immutable file without locks and without its WAL.
    const location = `${pathToFileURL(file)}?immutable=1`;
    const connection = new Connection(() => new DatabaseSync(location, { readOnly: true }));
    try {
      type Row = [sequence: number, mark: string];
      const row = connection.get<Row>('SELECT sequence, CAST(mark AS TEXT) FROM lastCommit');
      return row && { sequence: row[0], mark: row[1] };
    } finally {
      connection.close();
    }
  } catch (error) {
    if (!(error instanceof DriverError)) throw error;
    return undefined;
  }
}

/**
 * While another process copies its WAL into the file, its first page can name more pages than the file has, and a read fails.
 * That takes some milliseconds, but more on a busy machine. An open store must not block for long; opening can.
 */
const maxTries = { open: 8, opening: 100 };

/**
 * Changes `lastCommit`, in the open transaction.
 *
 * @param inFile the last commit that was seen in the file itself, if the caller has read it. `events` lacks it if a backup
 * was restored and is not in the file yet.
 */
export function recordCommit(connection: Connection, inFile?: Commit): void {
  // Changed twice: SQLite leaves out a page whose content stays the same, and the WAL of each commit must have this row.
  connection.run('UPDATE lastCommit SET sequence = -1');
  const newest =
    '(sequence, mark) = (SELECT sequence, mark FROM events ORDER BY sequence DESC LIMIT 1)';
  if (inFile === undefined) connection.run(`UPDATE lastCommit SET ${newest}`);
  else {
    connection.run(
      `UPDATE lastCommit SET ${newest},
        inFile = coalesce((SELECT sequence FROM events WHERE sequence = ? AND mark = ?), 0)`,
      inFile.sequence,
      inFile.mark,
    );
  }
}

/** Runs work in a transaction that records its commit. */
export function writeTransaction(connection: Connection, work: () => void): void {
  connection.transaction('IMMEDIATE', () => {
    work();
    recordCommit(connection);
  });
}

/**
 * Returns false if the WAL was written for another file. Blocks the event loop for 35 ms before that; for half a
 * second at opening.
 *
 * @param last a commit that was in the file before
 */
export function walBelongsTo(
  file: string,
  connection: Connection,
  last?: Commit,
  tries = maxTries.open,
): boolean {
  for (let left = tries; left > 0; left--) {
    if (left < tries) block(retryMs);
    if (walBelongsNow(file, connection, last)) return true;
  }
  return false;
}

function walBelongsNow(file: string, connection: Connection, last: Commit | undefined): boolean {
  const sql = 'SELECT 1 FROM events WHERE sequence = ? AND mark = ?';
  const isKnown = ({ sequence, mark }: Commit) => connection.get(sql, sequence, mark) !== undefined;
  try {
    // Before the file is read, because other processes can commit and copy the WAL into the file meanwhile.
    const newest = 'SELECT inFile FROM lastCommit JOIN events USING (sequence, mark)';
    const [minSequence] = connection.get<[number]>(newest) ?? [];
    if (minSequence === undefined) return false;
    const inFile = lastCheckpointedCommit(file);
    // The tables of a new file can still be in the WAL.
    if (inFile === undefined) return last === undefined && minSequence === 0;
    if (inFile.sequence < minSequence || !isKnown(inFile)) return false;
    // An earlier commit than before is from an older file, or from a restored backup.
    return last === undefined || inFile.sequence >= last.sequence || !isKnown(last);
  } catch (error) {
    if (hasCode(error, 'corrupt', 'notADatabase')) return false;
    throw error;
  }
}

/** @throws SqliteStoreError if there is a WAL, and it was written for another file */
export function checkWalBelongs(file: string, timeout?: number): void {
  if (!statSync(`${file}-wal`, { throwIfNoEntry: false })?.size) return;
  // Read-only: when the last connection that can write closes, SQLite copies the WAL into the file.
  const connection = new Connection(() => new DatabaseSync(file, { readOnly: true, timeout }));
  try {
    if (checkLayout(connection, file) === undefined) return;
    if (walBelongsTo(file, connection, undefined, maxTries.opening)) return;
    if (lastCheckpointedCommit(file) === undefined) throw damaged(file);
    const message = `The data file ${file} and its write-ahead log ${file}-wal do not belong together. If the file is a backup that you put there, remove ${file}-wal and ${file}-shm; otherwise go back to a backup (rostrum restore).`;
    throw new SqliteStoreError('store-damaged', message);
  } finally {
    connection.close();
  }
}
