import type { Db } from 'mongodb';
import type { DeclaredFields } from '../../../domain/fields/declared-fields.ts';
import type { Logger } from '../../../ports/logger.ts';
import { declareFields } from '../declared-fields.ts';
import { MongodbStoreError } from '../errors.ts';
import { ensureLayout } from '../layout.ts';

/**
 * Connects to a database, and prepares it.
 *
 * @returns all declared fields of the database
 * @throws MongodbStoreError or DeclarationError if an operator has to change something first
 */
export async function openDatabase(
  db: Db,
  declaredFields: DeclaredFields,
  logger: Logger,
): Promise<DeclaredFields> {
  await db.client.connect();
  const { setName, msg, maxWireVersion, arbiters = [] } = await db.command({ hello: 1 });
  if (maxWireVersion < oldestWireVersion) {
    throw new MongodbStoreError('This MongoDB server is too old: Rostrum needs 5.0 or newer.');
  }
  const isSharded = msg === 'isdbgrid';
  if (!isSharded && setName === undefined) throw new MongodbStoreError(standalone);
  await ensureLayout(db, logger);
  const declared = await declareFields(db, declaredFields, logger);
  const topology = isSharded ? 'sharded cluster' : 'replica set';
  const fields = { database: db.databaseName, topology };
  logger.info(fields, 'Connected to MongoDB.');
  if (arbiters.length > 0) logger.warn({ ...fields, arbiters }, arbiterWarning);
  return declared;
}

/** MongoDB 5.0, the first version with snapshot reads. */
const oldestWireVersion = 13;

const standalone =
  'This MongoDB server is standalone, but Rostrum needs a replica set: start it with --replSet rs0, run ' +
  'rs.initiate() in mongosh once, and it is a replica set of one.';

const arbiterWarning =
  'This replica set has an arbiter, which votes but stores no data. While another member is down, changes, ' +
  'and reads after an election, can fail with 503. Replace it with a data-bearing member.';
