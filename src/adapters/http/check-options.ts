import { type Caller, toCaller } from '../../domain/access/caller.ts';
import { checkOptions } from '../../domain/options.ts';
import { safeLogger } from '../../ports/logger.ts';
import { checkCors } from './access/cors.ts';
import { checkRateLimits } from './access/rate-limit.ts';
import {
  allPages,
  defaultLimits,
  type FetchHandlerOptions,
  type RostrumAppOptions,
  type RostrumHttpOptions,
  type ServeOptions,
} from './options.ts';
import { normalizePrefix, normalizePublicUrl } from './target.ts';

const isObject = (value: unknown) => typeof value === 'object' && value !== null;

/** The checks of options, with what a value must be. */
const checks = {
  boolean: (value: unknown) => typeof value === 'boolean',
  function: (value: unknown) => typeof value === 'function',
  string: (value: unknown) => typeof value === 'string',
  array: Array.isArray,
  object: (value: unknown) => isObject(value) && !Array.isArray(value),
  'number of at least 0': (value: unknown) => Number.isFinite(value) && Number(value) >= 0,
  'number or an array': (value: unknown) => Array.isArray(value) || Number.isInteger(value),
  'logger with the methods info, warn and error': (value: unknown) =>
    hasMethods(value, ['info', 'warn', 'error']),
  'object with the methods requestBegan, requestEnded and problem': (value: unknown) =>
    hasMethods(value, ['requestBegan', 'requestEnded', 'problem']),
} satisfies Record<string, (value: unknown) => boolean>;

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return (
    isObject(value) &&
    names.every((name) => typeof Reflect.get(value as object, name) === 'function')
  );
}

/** What each option must be, as an object, so that the compiler requires every one. True for any value. */
type OptionTypes<Options> = Readonly<Record<keyof Options, true | keyof typeof checks>>;

const logger = 'logger with the methods info, warn and error';
const httpOptions: OptionTypes<RostrumHttpOptions> = {
  prefix: 'string',
  requireIfMatch: 'boolean',
  logger,
  accessLog: 'boolean',
  trace: 'function',
  metrics: 'object with the methods requestBegan, requestEnded and problem',
  authenticate: 'function',
  anonymous: 'array',
  rateLimits: 'object',
  cors: 'array',
  trustedProxies: 'number or an array',
  publicUrl: 'string',
  mcp: 'function',
};
const appOptions: OptionTypes<RostrumAppOptions> = {
  ...httpOptions,
  ready: 'function',
  customFields: 'object',
  pages: 'array',
  about: 'object',
  issuer: 'string',
  isOwnHost: 'function',
};
const fetchOptions: OptionTypes<FetchHandlerOptions> = {
  ...httpOptions,
  isOwnHost: 'function',
  address: 'function',
};
const serveOptions: OptionTypes<ServeOptions> = {
  host: 'string',
  port: true, // As `listen` takes it.
  logger,
  limits: 'object',
  publicUrl: 'string',
  metrics: 'object',
  shutdownTimeoutMs: 'number of at least 0',
};
const limitOptions = Object.fromEntries(
  Object.keys(defaultLimits).map((name) => [name, 'number of at least 0'] as const),
);

const optionsOf = {
  http: httpOptions,
  app: appOptions,
  fetch: fetchOptions,
  serve: serveOptions,
  limits: limitOptions,
};

/**
 * Rejects an unknown option, because with a misspelled `authenticate`, everybody would be allowed to do everything, and
 * an invalid value.
 *
 * @throws TypeError
 */
export function checkOptionTypes(options: object, of: keyof typeof optionsOf): void {
  checkOptions(options, Object.keys(optionsOf[of]));
  for (const [name, type] of Object.entries<true | keyof typeof checks>(optionsOf[of])) {
    const value: unknown = Reflect.get(options, name);
    if (type === true || value === undefined || checks[type](value)) continue;
    throw new TypeError(
      `The option "${name}" must be ${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}.`,
    );
  }
}

/** Options that have been checked, in the form that the adapter uses. */
export type Checked<Options> = Omit<Options, 'prefix' | 'anonymous'> & {
  /** In the form of {@link Target.path}; empty for `/`. */
  readonly prefix: string;
  /** The caller of a request without credentials. */
  readonly anonymous?: Caller | undefined;
};

export type CheckedOptions = Checked<Partial<RostrumAppOptions>>;

/**
 * Checks the options of an app. The public URL has no trailing slash then, and the logger never throws.
 *
 * @throws TypeError
 */
export function checkAppOptions<Options extends Partial<RostrumAppOptions>>(
  options: Options,
  of: 'http' | 'app' | 'fetch',
): Checked<Options> {
  checkOptionTypes(options, of);
  const { logger, anonymous: scopes, pages = [] } = options;
  const anonymous = scopes && toCaller({ name: 'anonymous', subject: null, scopes });
  checkOptions(options.customFields ?? {}, ['users', 'posts'], 'customFields');
  checkOptions(options.about ?? { store: '' }, ['store'], 'about');
  checkOptions(Object.fromEntries(pages.map((page) => [page, true])), allPages, 'pages');
  checkRateLimits(options.rateLimits ?? {});
  checkCors(options);
  return {
    ...options,
    prefix: normalizePrefix(options.prefix),
    publicUrl: normalizePublicUrl(options.publicUrl),
    logger: logger && safeLogger(logger),
    anonymous,
  };
}
