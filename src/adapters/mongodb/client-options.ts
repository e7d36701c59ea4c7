import type { MongoClient as Client, MongoClientOptions } from 'mongodb';
import { limits } from './limits.ts';
import { MongoClient } from './peers.ts';

/** A connection string that Rostrum will not run on. Its message never holds a password. */
export class MongodbUrlError extends Error {
  override readonly name = 'MongodbUrlError';
  readonly code = 'store-url-refused';
  /** The setting that is to be changed or left out; `url` when it is the string as a whole. */
  readonly setting: string;

  constructor(setting: string, reason: string) {
    super(`The MongoDB URL is refused: ${reason}`);
    this.setting = setting;
  }
}

/** What every operation gets, and what a URL may therefore say only in the same words. */
const guarantees: readonly { setting: string; names: string[]; value: string; why: string }[] = [
  {
    setting: 'w',
    names: ['w'],
    value: 'majority',
    why: 'a smaller write concern loses acknowledged records when a primary fails',
  },
  {
    setting: 'journal',
    names: ['journal', 'j'],
    value: 'true',
    why: 'without the journal a power cut loses acknowledged records',
  },
  {
    setting: 'readConcernLevel',
    names: ['readconcernlevel'],
    value: 'majority',
    why: 'another read concern may show records that are rolled back later, or cannot be had everywhere',
  },
  {
    setting: 'readPreference',
    names: ['readpreference'],
    value: 'primary',
    why: 'a secondary may not show yet what was acknowledged',
  },
  {
    setting: 'retryWrites',
    names: ['retrywrites'],
    value: 'true',
    why: 'a change of the primary would fail requests',
  },
  {
    setting: 'retryReads',
    names: ['retryreads'],
    value: 'true',
    why: 'a change of the primary would fail requests',
  },
];

/** Times that Rostrum sets itself, so that every request ends within its bound. */
const bounds = [
  'serverSelectionTimeoutMS',
  'connectTimeoutMS',
  'socketTimeoutMS',
  'waitQueueTimeoutMS',
  'heartbeatFrequencyMS',
  'timeoutMS',
  'wtimeoutMS',
  'wtimeout',
];

const defaultDatabase = 'rostrum';

/** A client that gives the guarantees and holds the bounds; it has not connected yet. */
export interface ClientSettings {
  readonly client: Client;
  readonly database: string;
}

/**
 * Reads a connection string.
 *
 * @throws MongodbUrlError for one that is wrong, or asks for less than the guarantees
 */
export function readUrl(url: string): ClientSettings {
  const match = /^mongodb(?:\+srv)?:\/\/(?:[^@/?]*@)?[^@/?]+(?:\/([^?]*))?(?:\?(.*))?$/s.exec(url);
  if (match === null) {
    const form = 'mongodb://user:password@host:27017/database, with the password percent-encoded';
    throw new MongodbUrlError('url', `it has not the form ${form}.`);
  }
  const [, path = '', query = ''] = match;
  for (const [name, value] of new URLSearchParams(query)) checkSetting(name.toLowerCase(), value);
  const database = readDatabase(path);
  return { client: makeClient(url), database };
}

function checkSetting(name: string, value: string): void {
  const one = guarantees.find(({ names }) => names.includes(name));
  if (one !== undefined && value.toLowerCase() !== one.value) {
    const fix = `leave "${one.setting}" out or set it to "${one.value}"`;
    throw new MongodbUrlError(one.setting, `${fix}: ${one.why}.`);
  }
  const bound = bounds.find((setting) => setting.toLowerCase() === name);
  if (bound !== undefined) {
    const why = 'Rostrum sets it, so that every request ends in bounded time';
    throw new MongodbUrlError(bound, `leave "${bound}" out: ${why}.`);
  }
  if (name === 'maxpoolsize' && !/^[1-9]\d{0,4}$/.test(value)) {
    throw new MongodbUrlError('maxPoolSize', '"maxPoolSize" must be a number from 1 to 99999.');
  }
}

function readDatabase(path: string): string {
  try {
    const name = decodeURIComponent(path) || defaultDatabase;
    // https://www.mongodb.com/docs/manual/reference/limits/#naming-restrictions
    if (!/[/\\. "$*<>:|?\0]/.test(name) && Buffer.byteLength(name) < 64) return name;
  } catch {
    // Not percent-encoded as it should be: the same answer.
  }
  throw new MongodbUrlError('database', 'its path is not a name that a database can have.');
}

function makeClient(url: string): Client {
  const given = new URLSearchParams(url.split('?').slice(1).join('?'));
  const names = new Set([...given.keys()].map((name) => name.toLowerCase()));
  const options: MongoClientOptions = {
    ...fixed,
    ...(names.has('maxpoolsize') ? {} : { maxPoolSize: limits.poolSize }),
    ...(names.has('appname') ? {} : { appName: 'rostrum' }),
  };
  try {
    return new MongoClient(url, options);
  } catch {
    throw new MongodbUrlError('url', `the driver says: ${driversReason(url, options)}`);
  }
}

const fixed: MongoClientOptions = {
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: limits.operationMs },
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

/** Asks the driver again without what may be secret, because its messages repeat the string. */
function driversReason(url: string, options: MongoClientOptions): string {
  const [address = '', query = ''] = url.split('?', 2);
  const open = new URLSearchParams(query);
  for (const name of [...open.keys()]) {
    if (/password|authmechanism|authsource|proxy/i.test(name)) open.delete(name);
  }
  try {
    new MongoClient(`${address.replace(/\/\/[^@]*@/, '//')}?${open}`, options);
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  return 'the credentials, or the options that go with them, are not right.';
}
