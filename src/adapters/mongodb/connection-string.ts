import { MongoClient, type MongoClientOptions } from 'mongodb';
import { limits } from './limits.ts';

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

const lostOnFailover = 'a change of the primary would fail requests';

/** What every operation gets: a URL may say it in the same words only. */
const guarantees: readonly (readonly [setting: string, value: string, why: string])[] = [
  ['w', 'majority', 'a smaller write concern loses acknowledged records when a primary fails'],
  ['journal', 'true', 'without the journal a power cut loses acknowledged records'],
  ['readConcernLevel', 'majority', 'another read concern may show records that are rolled back'],
  ['readPreference', 'primary', 'a secondary may not show yet what was acknowledged'],
  ['retryWrites', 'true', lostOnFailover],
  ['retryReads', 'true', lostOnFailover],
];

/** Times that Rostrum sets, so that every request ends within its bound. */
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
  readonly client: MongoClient;
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
    throw new MongodbUrlError('url', `it does not have the form ${form}.`);
  }
  const [, path = '', query = ''] = match;
  for (const [name, value] of new URLSearchParams(query)) checkSetting(name.toLowerCase(), value);
  const database = readDatabase(path);
  return { client: makeClient(url), database };
}

function checkSetting(name: string, value: string): void {
  const known = name === 'j' ? 'journal' : name;
  const guarantee = guarantees.find(([setting]) => setting.toLowerCase() === known);
  if (guarantee !== undefined && value.toLowerCase() !== guarantee[1]) {
    const [setting, only, why] = guarantee;
    const fix = `leave "${setting}" out or set it to "${only}"`;
    throw new MongodbUrlError(setting, `${fix}: ${why}.`);
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
    // It is not percent-encoded as it should be: the same error.
  }
  throw new MongodbUrlError('database', 'its path is not a name that a database can have.');
}

function makeClient(url: string): MongoClient {
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
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: limits.commandMs },
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
