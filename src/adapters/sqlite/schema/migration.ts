import type { Logger } from '../../../ports/logger.ts';
import type { Connection } from '../connection/connection.ts';
import {
  applicationId,
  checkSchema,
  deletedTable,
  eventTable,
  receiptTable,
  recordIndexes,
  recordTables,
  recordTriggers,
  schemaVersion,
} from './schema.ts';
import { fromVersion1 } from './version-1.ts';
import { checkPublishedAt, fromVersion4 } from './version-4.ts';

/** How often a long migration says how far it is. */
const reportMs = 2000;

/**
 * Brings a file of an earlier version, or an empty one, to the present schema, in the transaction
 * that is open: a process that is killed meanwhile leaves the file as it was, and the next one
 * begins anew. So the disk needs room for a second copy of the records, twice for a while: in the
 * log and in the file.
 *
 * @throws SqliteStoreError `store-not-migrated`
 */
export function migrate(connection: Connection, file: string, logger?: Logger): void {
  // Another process may have migrated the file since it was looked at.
  const version = checkSchema(connection, file);
  if (version === schemaVersion) return;
  if (version === 0) connection.exec(recordTables + receiptTable + deletedTable);
  else if (version < 5) migrateRecords(connection, version, file, logger);
  if (version < 5) connection.exec(recordIndexes + recordTriggers);
  // No release had version 5, which lacks this alone.
  connection.exec(eventTable);
  connection.exec(`PRAGMA application_id = ${applicationId}`);
  connection.exec(`PRAGMA user_version = ${schemaVersion}`);
  if (version > 0) logger?.info({}, 'The data file is migrated.');
}

function migrateRecords(
  connection: Connection,
  version: number,
  file: string,
  logger: Logger | undefined,
): void {
  const count = 'SELECT (SELECT count(*) FROM users) + (SELECT count(*) FROM posts)';
  const records = connection.get<[number]>(count)?.[0];
  logger?.info({ records }, `The data file is of version ${version}: it is being migrated.`);
  let [migrated, reported] = [0, performance.now()];
  const step = () => {
    migrated += 1;
    if (performance.now() - reported < reportMs) return;
    reported = performance.now();
    logger?.info({ migrated, records }, 'The records are being migrated.');
  };
  if (version < 2) fromVersion1(connection, step);
  // No release had versions 2 and 3, which lack this alone; some indexes of version 2 are slower.
  if (version < 4) connection.exec(deletedTable);
  migrated = 0;
  checkPublishedAt(connection, file);
  fromVersion4(connection, step);
  logger?.info({ records }, 'The records are migrated; their indexes are being made.');
}
