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

type Test = (value: unknown) => boolean;

const hasMethods =
  (...names: readonly string[]): Test =>
  (value) =>
    names.every((name) => typeof Object(value)[name] === 'function');

/** The kinds of options: what a value must be, and its test. */
const kinds = {
  boolean: ['a boolean', (value) => typeof value === 'boolean'],
  function: ['a function', (value) => typeof value === 'function'],
  string: ['a string', (value) => typeof value === 'string'],
  array: ['an array', Array.isArray],
  object: [
    'an object',
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  ],
  count: ['a number of at least 0', (value) => Number.isFinite(value) && Number(value) >= 0],
  proxies: ['a number or an array', (value) => Array.isArray(value) || Number.isInteger(value)],
  logger: ['a logger with the methods info, warn and error', hasMethods('info', 'warn', 'error')],
  metrics: [
    'an object with the methods requestBegan, requestEnded and problem',
    hasMethods('requestBegan', 'requestEnded', 'problem'),
  ],
  problemCounter: ['an object with the method problem', hasMethods('problem')],
} satisfies Record<string, readonly [string, Test]>;

type Kind = keyof typeof kinds;

/** The kind of each option, as an object, so that the compiler requires every one. True for any value. */
type OptionKinds<Options> = Readonly<Record<keyof Options, true | Kind>>;

const httpOptions: OptionKinds<RostrumHttpOptions> = {
  prefix: 'string',
  requireIfMatch: 'boolean',
  logger: 'logger',
  accessLog: 'boolean',
  trace: 'function',
  metrics: 'metrics',
  authenticate: 'function',
  anonymous: 'array',
  rateLimits: 'object',
  cors: 'array',
  trustedProxies: 'proxies',
  publicUrl: 'string',
  mcp: 'function',
  isOwnHost: 'function',
};
const appOptions: OptionKinds<RostrumAppOptions> = {
  ...httpOptions,
  ready: 'function',
  customFields: 'object',
  pages: 'array',
  about: 'object',
  issuer: 'string',
};
const fetchOptions: OptionKinds<FetchHandlerOptions> = {
  ...httpOptions,
  address: 'function',
};
const serveOptions: OptionKinds<ServeOptions> = {
  host: 'string',
  port: true, // As `listen` takes it.
  logger: 'logger',
  limits: 'object',
  publicUrl: 'string',
  metrics: 'problemCounter',
  shutdownTimeoutMs: 'count',
};
const limitOptions = Object.fromEntries(
  Object.keys(defaultLimits).map((name) => [name, 'count'] as const),
);

const kindsOf = {
  http: httpOptions,
  app: appOptions,
  fetch: fetchOptions,
  serve: serveOptions,
  limits: limitOptions,
};

/**
 * Rejects unknown options and invalid values. A misspelled `authenticate` would otherwise give everyone full access.
 *
 * @throws TypeError
 */
export function checkOptionTypes(options: object, of: keyof typeof kindsOf): void {
  checkOptions(options, Object.keys(kindsOf[of]));
  for (const [name, kind] of Object.entries<true | Kind>(kindsOf[of])) {
    const value: unknown = Reflect.get(options, name);
    if (kind === true || value === undefined) continue;
    const [what, isKind] = kinds[kind];
    if (!isKind(value)) throw new TypeError(`The option "${name}" must be ${what}.`);
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
