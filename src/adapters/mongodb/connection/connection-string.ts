import { type Db, MongoClient, type MongoClientOptions } from 'mongodb';
import { limits } from '../limits.ts';

/** A connection string that the driver rejects. The message never contains a password. */
export class MongodbUrlError extends Error {
  override readonly name = 'MongodbUrlError';
  readonly code = 'store-bad-url';

  constructor(reason: string) {
    super(`Invalid MongoDB URL: ${reason.replace(/\.$/, '')}.`);
  }
}

const writeConcern = { w: 'majority', journal: true, wtimeoutMS: limits.commandMs } as const;

/** The options that the store's guarantees depend on. The driver prefers them to those of the connection string. */
const guarantees: MongoClientOptions = {
  writeConcern,
  readConcernLevel: 'majority',
  readPreference: 'primary',
  retryWrites: true,
  retryReads: true,
  serverSelectionTimeoutMS: limits.selectionMs,
  connectTimeoutMS: limits.connectMs,
  socketTimeoutMS: limits.socketMs,
  waitQueueTimeoutMS: limits.selectionMs,
  heartbeatFrequencyMS: limits.heartbeatMs,
};

/**
 * Reads a connection string. Returns the database that it names, whose client has not connected yet.
 *
 * @throws MongodbUrlError for an invalid string
 */
export function readUrl(url: string): Db {
  const options: MongoClientOptions = {
    ...guarantees,
    ...(/[?&]maxPoolSize=[1-9]/i.test(url) ? {} : { maxPoolSize: limits.poolSize }),
    ...(/[?&]appName=/i.test(url) ? {} : { appName: 'rostrum' }),
  };
  const hasDatabase = /^[^/]*\/\/[^/?]+\/[^?]/.test(url);
  try {
    const client = new MongoClient(url, options);
    // Set again: `j` and `wtimeout` in the string override the client's option.
    return client.db(hasDatabase ? undefined : 'rostrum', { writeConcern });
  } catch (error) {
    const { message, cause } = error as Error;
    // A message with a cause repeats a host, which can be a user name and a password without the "@" that ends them.
    throw new MongodbUrlError(cause ? 'it names a host or a port that is not valid' : message);
  }
}
