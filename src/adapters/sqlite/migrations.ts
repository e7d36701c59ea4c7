import type { Connection } from './connection.ts';
import { SqliteStoreError } from './errors.ts';
import { pragma } from './pragmas.ts';
import { migrations } from './schema.ts';

/** Tells our files from those of other programs: "Rstm" in ASCII. */
const applicationId = 0x5273746d;

/**
 * Refuses a file that is not ours or newer than we are. Only looks, so that such a file is not
 * changed in any way.
 *
 * @returns the version of its schema; 0 for a file with nothing in it yet
 */
export function checkSchema(connection: Connection, file: string): number {
  const version = Number(pragma(connection, 'user_version'));
  const owner = pragma(connection, 'application_id');
  const isEmpty = connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') === undefined;
  if (owner !== applicationId && !(owner === 0 && version === 0 && isEmpty)) {
    throw new SqliteStoreError(
      'store-foreign-database',
      `The file ${file} is a database of another program: choose another path.`,
    );
  }
  if (version > migrations.length) {
    throw new SqliteStoreError(
      'store-newer-schema',
      `The data file ${file} was written by a newer version of Rostrum (schema ${version}, this one knows ${migrations.length}): use that version.`,
    );
  }
  return version;
}

/** Brings the schema up to date, each step whole or not at all. */
export function migrate(connection: Connection, from: number): void {
  for (const [index, migration] of migrations.entries()) {
    if (index < from) continue;
    connection.exec('BEGIN IMMEDIATE');
    try {
      connection.exec(migration);
      connection.exec(`PRAGMA application_id = ${applicationId}`);
      connection.exec(`PRAGMA user_version = ${index + 1}`);
      connection.exec('COMMIT');
    } catch (error) {
      connection.rollBack();
      throw error;
    }
  }
}
