import { type Db, MongoClient, type MongoClientOptions } from 'mongodb';
import { limits } from './limits.ts';

/** A connection string that Rostrum rejects. The message never contains a password. */
export class MongodbUrlError extends Error {
  override readonly name = 'MongodbUrlError';
  readonly code = 'store-bad-url';
  /** The setting to change or to leave out; `database` for the path, and `url` for the string as a whole. */
  readonly setting: string;

  constructor(setting: string, reason: string) {
    super(`Invalid MongoDB URL: ${reason}`);
    this.setting = setting;
  }
}

const failsOnElection = 'requests would fail when the primary changes';

/** The settings that the store's guarantees depend on. A connection string can repeat but not change them. */
const guarantees: readonly (readonly [setting: string, value: string, why: string])[] = [
  ['w', 'majority', 'a weaker write concern loses acknowledged records when a primary fails'],
  ['journal', 'true', 'without the journal a power cut loses acknowledged records'],
  ['readConcernLevel', 'majority', 'another read concern may show records that are rolled back'],
  ['readPreference', 'primary', 'a secondary can lag behind acknowledged writes'],
  ['retryWrites', 'true', failsOnElection],
  ['retryReads', 'true', failsOnElection],
];

/** The options of every client. */
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

/** The settings that limit the duration of a request. */
const timeLimitOptions = [
  ...Object.keys(fixed).filter((name) => name.endsWith('MS')),
  'timeoutMS',
  'wtimeoutMS',
  'wtimeout',
];

/**
 * Captures the path and the query. Accepts an `@` only after credentials: otherwise, the start of a password with a
 * `/` or `?` would be taken for a host.
 */
const form = /^mongodb(?:\+srv)?:\/\/(?:[^@/?]*@|(?!.*@))[^@/?]+(?:\/([^?]*))?(?:\?(.*))?$/s;

/**
 * Reads a connection string. Returns the database that it names, whose client has not connected yet.
 *
 * @throws MongodbUrlError for an invalid string, or a setting that weakens the guarantees
 */
export function readUrl(url: string): Db {
  const match = form.exec(url);
  if (match === null) {
    const example =
      'mongodb://user:password@host:27017/database, with the password percent-encoded';
    throw new MongodbUrlError('url', `it does not have the form ${example}.`);
  }
  const [, path = '', query = ''] = match;
  const given = [...new URLSearchParams(query)].map(([name, value]) => {
    return [name.toLowerCase() === 'j' ? 'journal' : name.toLowerCase(), value] as const;
  });
  for (const [name, value] of given) checkSetting(name, value);
  const names = given.map(([name]) => name);
  const options: MongoClientOptions = {
    ...fixed,
    ...(names.includes('maxpoolsize') ? {} : { maxPoolSize: limits.poolSize }),
    ...(names.includes('appname') ? {} : { appName: 'rostrum' }),
  };
  const database = readDatabase(path);
  try {
    return new MongoClient(url, options).db(database);
  } catch {
    throw new MongodbUrlError('url', `the driver says: ${driversReason(url, options)}`);
  }
}

function checkSetting(name: string, value: string): void {
  const guarantee = guarantees.find(([setting]) => setting.toLowerCase() === name);
  if (guarantee !== undefined && value.toLowerCase() !== guarantee[1]) {
    const [setting, only, why] = guarantee;
    throw new MongodbUrlError(setting, `leave "${setting}" out or set it to "${only}": ${why}.`);
  }
  const option = timeLimitOptions.find((setting) => setting.toLowerCase() === name);
  if (option !== undefined) {
    const why = 'Rostrum itself limits how long each request takes';
    throw new MongodbUrlError(option, `leave "${option}" out: ${why}.`);
  }
  if (name === 'maxpoolsize' && !/^[1-9]\d{0,4}$/.test(value)) {
    throw new MongodbUrlError('maxPoolSize', '"maxPoolSize" must be a number from 1 to 99999.');
  }
}

function readDatabase(path: string): string {
  try {
    const name = decodeURIComponent(path) || 'rostrum';
    // https://www.mongodb.com/docs/manual/reference/limits/#naming-restrictions
    if (!/[/\\. "$*<>:|?\0]/.test(name) && Buffer.byteLength(name) < 64) return name;
  } catch {
    // Not percent-encoded: the same error.
  }
  throw new MongodbUrlError('database', 'its path is not a valid database name.');
}

/** Parses the string again without its secrets, because the driver's messages repeat it. */
function driversReason(url: string, options: MongoClientOptions): string {
  const [address = '', query = ''] = url.split('?', 2);
  const settings = [...new URLSearchParams(query)];
  const open = settings.filter(([name]) => !/password|authmechanism|authsource|proxy/i.test(name));
  try {
    new MongoClient(`${address.replace(/\/\/[^@]*@/, '//')}?${new URLSearchParams(open)}`, options);
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  return 'the credentials, or the options that go with them, are wrong.';
}
