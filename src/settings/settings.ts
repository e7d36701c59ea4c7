/** What a deployment chooses: by flags, by environment variables, or by `createContainer`. */
export interface Settings {
  /** The TCP port to listen on; 0 takes any free one. */
  readonly port: number;
  /** The address or host name to listen on. */
  readonly host: string;
  /** Where records are kept: `memory:`, `sqlite:PATH`, `mongodb://…` or `mongodb+srv://…`. */
  readonly store: string;
  /** Whether PUT, PATCH and DELETE have to say `If-Match`; a request without it is answered 428. */
  readonly requireIfMatch: boolean;
  /** The least severe lines that the log has. */
  readonly logLevel: LogLevel;
}

export const logLevels = ['info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A setting as data: flags, environment variables, help and errors are made of it. */
export interface Setting<T> {
  /** The flag and a placeholder for its value; the value in brackets may be left out. */
  readonly flag: string;
  readonly env: string;
  readonly fallback: T;
  readonly description: string;
  /** Which values are allowed; ends the sentence "The value must be …". */
  readonly allowed: string;
  /** @returns undefined for a text that is not allowed */
  readonly parse: (text: string) => T | undefined;
}

const isTrue: Readonly<Record<string, boolean>> = { true: true, 1: true, false: false, 0: false };
const storeUrls = 'memory:, sqlite:PATH, mongodb://… or mongodb+srv://…';

export const settingsTable: { readonly [K in keyof Settings]: Setting<Settings[K]> } = {
  port: {
    flag: '--port <number>',
    env: 'PORT',
    fallback: 3000,
    description: 'port to listen on; 0 takes any free one',
    allowed: 'a whole number from 0 to 65535',
    parse: (text) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
  },
  host: {
    flag: '--host <address>',
    env: 'HOST',
    fallback: '127.0.0.1',
    description: 'address to listen on; 0.0.0.0 is every address of this machine',
    allowed: 'an address or a host name',
    parse: (text) => text || undefined,
  },
  store: {
    flag: '--store <url>',
    env: 'STORE_URL',
    fallback: 'sqlite:./data/rostrum.db',
    description: storeUrls,
    allowed: storeUrls,
    parse: (text) => text || undefined,
  },
  requireIfMatch: {
    flag: '--require-if-match [boolean]',
    env: 'REQUIRE_IF_MATCH',
    fallback: false,
    description: 'refuse a PUT, PATCH or DELETE without If-Match',
    allowed: 'true, false, 1 or 0',
    parse: (text) => (Object.hasOwn(isTrue, text) ? isTrue[text] : undefined),
  },
  logLevel: {
    flag: '--log-level <level>',
    env: 'LOG_LEVEL',
    fallback: 'info',
    description: logLevels.join(', '),
    allowed: `one of ${logLevels.join(', ')}`,
    parse: (text) => logLevels.find((level) => level === text),
  },
};

export const defaultSettings = Object.fromEntries(
  Object.entries(settingsTable).map(([name, { fallback }]) => [name, fallback]),
) as unknown as Settings;
