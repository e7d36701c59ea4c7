import { defaultSettings, logLevels } from '../settings/settings.ts';

/** A setting, as data: the command line, the environment and the help are made of it. */
export interface Option<T> {
  readonly flag: string;
  readonly env: string;
  /** What stands for the value in the help; a switch has none. */
  readonly value?: string;
  readonly fallback: T;
  readonly help: string;
  /** @returns the value; undefined when the text is none */
  readonly read: (text: string) => T | undefined;
  /** What a right value is, to end the sentence "… is not". */
  readonly wanted: string;
}

function readPort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65_535 ? port : undefined;
}

function readSwitch(text: string): boolean | undefined {
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}

/** The settings of the server. */
export const options = {
  port: {
    flag: 'port',
    env: 'PORT',
    value: 'N',
    fallback: 3000,
    help: 'the port to listen on; 0 takes any free one',
    read: readPort,
    wanted: 'a whole number from 0 to 65535',
  } as Option<number>,
  host: {
    flag: 'host',
    env: 'HOST',
    value: 'ADDRESS',
    fallback: '127.0.0.1',
    help: 'the address to listen on; 0.0.0.0 is every one of this machine',
    read: (text) => (text === '' ? undefined : text),
    wanted: 'an address or a host name',
  } as Option<string>,
  store: {
    flag: 'store',
    env: 'STORE_URL',
    value: 'URL',
    fallback: defaultSettings.store,
    help: 'memory:, sqlite:PATH, mongodb://… or mongodb+srv://…',
    read: (text) => (text === '' ? undefined : text),
    wanted: 'memory:, sqlite:PATH, mongodb://… or mongodb+srv://…',
  } as Option<string>,
  requireIfMatch: {
    flag: 'require-if-match',
    env: 'REQUIRE_IF_MATCH',
    fallback: defaultSettings.requireIfMatch,
    help: 'refuse a PUT, PATCH or DELETE that does not say If-Match',
    read: readSwitch,
    wanted: 'true or false (or 1 or 0)',
  } as Option<boolean>,
  logLevel: {
    flag: 'log-level',
    env: 'LOG_LEVEL',
    value: 'LEVEL',
    fallback: defaultSettings.logLevel,
    help: logLevels.join(', '),
    read: (text) => logLevels.find((level) => level === text),
    wanted: `one of ${logLevels.join(', ')}`,
  } as Option<(typeof logLevels)[number]>,
};
