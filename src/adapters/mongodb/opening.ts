import { setTimeout as sleep } from 'node:timers/promises';
import type { MongoClient } from 'mongodb';
import type { Logger } from '../../ports/logger.ts';
import { limits } from './limits.ts';
import { ensureSchema, MongodbSchemaError } from './schema.ts';

export type Topology = 'standalone' | 'replica set' | 'sharded cluster';

export interface OpeningOptions {
  readonly logger: Logger | undefined;
  readonly signal: AbortSignal;
  /** Told why it is not open yet. */
  readonly onProblem: (problem: unknown) => void;
}

/** Connects and makes the indexes: tried again until it is done, or the signal comes. */
export async function opened(
  client: MongoClient,
  database: string,
  { logger, signal, onProblem }: OpeningOptions,
): Promise<Topology> {
  let said: string | undefined;
  for (;;) {
    try {
      return await open(client, database, logger);
    } catch (problem) {
      signal.throwIfAborted();
      onProblem(problem);
      const known = problem instanceof MongodbSchemaError;
      const line = known ? problem.message : 'MongoDB cannot be reached yet; trying again.';
      // Once, and not twice a second for as long as it lasts.
      if (line !== said) logger?.[known ? 'error' : 'warn']({ database, err: problem }, line);
      said = line;
    }
    await sleep(limits.reconnectMs, undefined, { signal });
  }
}

async function open(
  client: MongoClient,
  database: string,
  logger: Logger | undefined,
): Promise<Topology> {
  await client.connect();
  const db = client.db(database);
  const { setName, msg } = await db.command({ hello: 1 });
  const topology: Topology =
    msg === 'isdbgrid' ? 'sharded cluster' : setName ? 'replica set' : 'standalone';
  await ensureSchema(db);
  logger?.info({ database, topology }, 'Connected to MongoDB.');
  if (topology === 'standalone') logger?.warn({ database }, standaloneWarning);
  return topology;
}

const standaloneWarning =
  'This MongoDB server stands alone: it has no transactions, so a reader may see a user half ' +
  'deleted with their posts, and a write whose connection breaks is not tried again. Start it ' +
  'with --replSet rs0 and run rs.initiate() in mongosh once: a replica set of one has both.';
