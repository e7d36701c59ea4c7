import { addMs } from '../../domain/records/instant.ts';
import { type Receipt, repeatedReceipt } from '../../domain/records/receipt.ts';
import type { Collection, Version } from '../../domain/records/record.ts';
import type { Connection } from './connection/connection.ts';

/** How long an expired receipt is kept, for a clock that is set back. */
const purgeDelayMs = 60 * 60 * 1000;

/** Each new receipt removes up to four expired ones, so that they don't pile up. */
const purge = `DELETE FROM receipts WHERE rowid IN
  (SELECT rowid FROM receipts WHERE until <= ? ORDER BY until LIMIT 4)`;

/** A record as it was created. */
export interface RecordRow {
  readonly json: string;
  readonly version: Version;
}

/**
 * Returns the record that was created under a receipt; undefined if its key is free.
 *
 * @throws RostrumError `idempotency-key-reused`
 */
export function findReceipt(
  connection: Connection,
  collection: Collection,
  receipt: Receipt,
): RecordRow | undefined {
  const sql =
    'SELECT fingerprint, until, version, json FROM receipts WHERE collection = ? AND key = ?';
  type Row = [fingerprint: string, until: string, version: Version, json: string];
  const row = connection.get<Row>(sql, collection, receipt.key);
  if (row === undefined) return undefined;
  const [fingerprint, until, version, json] = row;
  return repeatedReceipt({ fingerprint, until, version, json }, receipt);
}

/** Stores a receipt whose key is free. */
export function addReceipt(
  connection: Connection,
  collection: Collection,
  { key, fingerprint, from, until }: Receipt,
  { version, json }: RecordRow,
): void {
  const insert = 'INSERT OR REPLACE INTO receipts VALUES (?, ?, ?, ?, ?, ?)';
  connection.run(insert, collection, key, fingerprint, until, version, json);
  connection.run(purge, addMs(from, -purgeDelayMs));
}
