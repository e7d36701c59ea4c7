import { type Scope, scopes } from '../domain/access/caller.ts';
import { isNetwork, isOriginPattern, isPlainUrl, isSafeUrl } from '../domain/access/hosts.ts';
import {
  type CollectionField,
  checkDeclaredFields,
  type DeclaredFields,
  declarationsOf,
} from '../domain/fields/declared-fields.ts';
import { checkOptions } from '../domain/options.ts';

/** The settings of a deployment, from flags, environment variables or `createContainer`. */
export interface Settings {
  /** The TCP port to listen on; 0 takes any free one. */
  readonly port: number;
  /** The address or host name to listen on. */
  readonly host: string;
  /** Where records are kept: `memory:`, `sqlite:PATH`, `mongodb://…` or `mongodb+srv://…`. */
  readonly store: string;
  /** Whether PUT, PATCH and DELETE need `If-Match`; without it, a request gets 428. */
  readonly requireIfMatch: boolean;
  /** The lowest level that is logged. */
  readonly logLevel: LogLevel;
  /** The port to serve metrics on; none when absent, 0 for any free one. */
  readonly metricsPort: number | undefined;
  /** The address or host name to serve metrics on. */
  readonly metricsHost: string;
  /** The file with the API keys. */
  readonly authKeys: string | undefined;
  /** The identity provider whose tokens are accepted: the `iss` of a token. */
  readonly authIssuer: string | undefined;
  /** The `aud` of a token. */
  readonly authAudience: string | undefined;
  /** Where the identity provider publishes its keys. */
  readonly authJwksUrl: string | undefined;
  /** The token claim that contains the id of the caller's user. */
  readonly authSubjectClaim: string;
  /** The scopes of a request without credentials. */
  readonly anonymous: readonly Scope[] | undefined;
  /** The custom fields in the public view of users. Include `email` to make addresses public. */
  readonly publicUserFields: readonly string[];
  /** The URL of the server as clients see it, behind a proxy. */
  readonly publicUrl: string | undefined;
  /** Requests per minute for each address and each caller; 0 for no limit. */
  readonly rateLimit: number;
  /** The proxies whose `X-Forwarded-For` counts: how many, or their addresses and networks. */
  readonly trustProxy: number | readonly string[];
  /** Whether agents are served at `/mcp`. */
  readonly mcp: boolean;
  /** Whether agents can delete posts. */
  readonly mcpDeletes: boolean;
  /** The pages for people that are served beside the API. */
  readonly pages: readonly PageName[];
  /** The origins whose scripts may read responses. */
  readonly cors: readonly string[];
  /** Declared fields, such as `posts.slug:text`. */
  readonly field: readonly string[];
  /** The file of the JSON Schema of custom fields of users. */
  readonly userSchema: string | undefined;
  /** The file of the JSON Schema of custom fields of posts. */
  readonly postSchema: string | undefined;
}

/** Some of the settings; the others have their defaults. */
export type GivenSettings = { readonly [K in keyof Settings]?: Settings[K] | undefined };

const pageNames = ['home', 'docs', 'admin'] as const;
type PageName = (typeof pageNames)[number];

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A setting as data. Flags, environment variables, help and error messages are generated from it. */
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
  /** Whether it may be given more than once: then its value is a list. */
  readonly isList?: boolean;
}

const port = { allowed: 'a whole number from 0 to 65535', parse: portOf };
const address = { fallback: '127.0.0.1', allowed: 'an address or a host name', parse: textOf };
const file = { fallback: undefined, allowed: 'the path of a file', parse: textOf };
const toggle = { fallback: false, allowed: 'true, false, 1 or 0', parse: booleanOf };
const storeUrls = 'memory:, sqlite:PATH, mongodb://… or mongodb+srv://…';

export const settingsTable: { readonly [K in keyof Settings]: Setting<Settings[K]> } = {
  port: {
    ...port,
    flag: '--port <number>',
    env: 'PORT',
    fallback: 3000,
    description: 'port to listen on; 0 takes any free one',
  },
  host: {
    ...address,
    flag: '--host <address>',
    env: 'HOST',
    description: 'address to listen on; 0.0.0.0 is every address of this machine',
  },
  store: {
    flag: '--store <url>',
    env: 'STORE_URL',
    fallback: 'sqlite:./data/rostrum.db',
    description: storeUrls,
    allowed: storeUrls,
    parse: (text) => textOf(text.trim()),
  },
  requireIfMatch: {
    ...toggle,
    flag: '--require-if-match [boolean]',
    env: 'REQUIRE_IF_MATCH',
    description: 'reject a PUT, PATCH or DELETE without If-Match',
  },
  logLevel: {
    flag: '--log-level <level>',
    env: 'LOG_LEVEL',
    fallback: 'info',
    description: logLevels.join(', '),
    allowed: `one of ${logLevels.join(', ')}`,
    parse: (text) => logLevels.find((level) => level === text),
  },
  metricsPort: {
    ...port,
    flag: '--metrics-port <number>',
    env: 'METRICS_PORT',
    fallback: undefined,
    description: 'port to serve /metrics on, for Prometheus; 0 takes any free one',
  },
  metricsHost: {
    ...address,
    flag: '--metrics-host <address>',
    env: 'METRICS_HOST',
    description: 'address to serve /metrics on',
  },
  authKeys: {
    ...file,
    flag: '--auth-keys <file>',
    env: 'AUTH_KEYS',
    description: 'file of API keys, created by rostrum key',
  },
  authIssuer: {
    flag: '--auth-issuer <url>',
    env: 'AUTH_ISSUER',
    fallback: undefined,
    description: 'identity provider whose access tokens (JWT) are accepted',
    allowed: 'the issuer (iss) of the access tokens',
    parse: textOf,
  },
  authAudience: {
    flag: '--auth-audience <text>',
    env: 'AUTH_AUDIENCE',
    fallback: undefined,
    description: 'audience that access tokens must have (aud)',
    allowed: 'the "aud" of its tokens',
    parse: textOf,
  },
  authJwksUrl: {
    flag: '--auth-jwks-url <url>',
    env: 'AUTH_JWKS_URL',
    fallback: undefined,
    description: "URL of the identity provider's key set",
    allowed: 'an https URL, or an http URL of this machine',
    parse: (text) => (isSafeUrl(text) ? text : undefined),
  },
  authSubjectClaim: {
    flag: '--auth-subject-claim <name>',
    env: 'AUTH_SUBJECT_CLAIM',
    fallback: 'sub',
    description: "token claim with the id of the caller's user",
    allowed: 'the name of a claim',
    parse: textOf,
  },
  anonymous: {
    flag: '--anonymous <scopes>',
    env: 'ANONYMOUS',
    fallback: undefined,
    description: 'scopes of requests without credentials, such as posts:read,users:read:public',
    allowed: `all, or some of ${scopes.join(', ')}`,
    parse: (text) => (text === 'all' ? scopes : (listOf(text, isScope) as Scope[] | undefined)),
  },
  publicUserFields: {
    flag: '--public-user-fields <names>',
    env: 'PUBLIC_USER_FIELDS',
    fallback: [],
    description: 'custom fields, or email, in the public view of users; repeatable',
    allowed: 'field names separated by commas',
    parse: (text) => listOf(text, (name) => name !== ''),
    isList: true,
  },
  publicUrl: {
    flag: '--public-url <url>',
    env: 'PUBLIC_URL',
    fallback: undefined,
    description: 'URL of the server as clients see it, behind a proxy',
    allowed: 'a URL such as https://example.com/backend',
    parse: (text) => (isPlainUrl(text) ? text : undefined),
  },
  rateLimit: {
    flag: '--rate-limit <number>',
    env: 'RATE_LIMIT',
    fallback: 0,
    description: 'requests per minute for each address and each caller; 0 for no limit',
    allowed: 'a whole number from 0 to 1000000',
    parse: (text) => (/^\d{1,7}$/.test(text) && Number(text) <= 1e6 ? Number(text) : undefined),
  },
  trustProxy: {
    flag: '--trust-proxy <proxies>',
    env: 'TRUST_PROXY',
    fallback: 0,
    description: 'proxies whose X-Forwarded-For is trusted: how many, or their addresses',
    allowed: 'a number, or addresses and networks separated by commas',
    parse: (text) => (/^\d{1,2}$/.test(text) ? Number(text) : listOf(text, isNetwork)),
  },
  mcp: {
    ...toggle,
    flag: '--mcp [boolean]',
    env: 'MCP',
    description: 'serve AI agents at /mcp (Model Context Protocol)',
  },
  mcpDeletes: {
    ...toggle,
    flag: '--mcp-deletes [boolean]',
    env: 'MCP_DELETES',
    description: 'with --mcp, let agents delete posts',
  },
  pages: {
    flag: '--pages <names>',
    env: 'PAGES',
    fallback: pageNames,
    description: 'pages for people: home,docs,admin or none',
    allowed: `none, or some of ${pageNames.join(', ')}`,
    parse: (text) => (text === 'none' ? [] : (listOf(text, isPage) as PageName[] | undefined)),
  },
  cors: {
    flag: '--cors <origin>',
    env: 'CORS',
    fallback: [],
    description: 'origin whose scripts can read responses, https://*.example.com, or *; repeatable',
    allowed: 'an origin such as https://app.example.com, https://*.example.com, or *',
    parse: (text) => listOf(text, isOriginPattern),
    isList: true,
  },
  field: {
    flag: '--field <declaration>',
    env: 'FIELDS',
    fallback: [],
    description:
      'declares a custom field, which then has a type, filters and a sort: posts.views:number, posts.tags:text[]; with :unique, values must be unique: posts.slug:text:unique; repeatable',
    allowed:
      'a custom field and its type: posts.slug:text, :number, :boolean, :text[] or :text:unique',
    parse: (text) => listOf(text, (part) => fieldForm.test(part)),
    isList: true,
  },
  userSchema: {
    ...file,
    flag: '--user-schema <file>',
    env: 'USER_SCHEMA',
    description: 'JSON Schema of the custom fields of users',
  },
  postSchema: {
    ...file,
    flag: '--post-schema <file>',
    env: 'POST_SCHEMA',
    description: 'JSON Schema of the custom fields of posts',
  },
};

const fieldForm = /^(users|posts)\.([^.:]+):(text|number|boolean|text\[\])(:unique)?$/;

/**
 * The fields that the setting `field` declares.
 *
 * @throws TypeError or RangeError for what cannot be declared, in one sentence
 */
export function declaredFieldsOf(field: readonly string[]): Required<DeclaredFields> {
  const fields = field.map((part) => {
    const [, collection, name, type, unique] = fieldForm.exec(part) ?? [];
    return { collection, name, type, isUnique: unique !== undefined } as CollectionField;
  });
  const declared = declarationsOf(fields);
  checkDeclaredFields(declared);
  const names = fields.map(({ collection, name }) => `${collection}.${name}`);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw new TypeError(`${twice} is given twice.`);
  return declared;
}

function textOf(text: string): string | undefined {
  return text || undefined;
}

function booleanOf(text: string): boolean | undefined {
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}

function isScope(text: string): boolean {
  return (scopes as readonly string[]).includes(text);
}

function isPage(text: string): boolean {
  return (pageNames as readonly string[]).includes(text);
}

function portOf(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

/** A list with commas between its parts, all of which have to be right. */
function listOf(text: string, isRight: (part: string) => boolean): readonly string[] | undefined {
  const parts = text.split(',').map((part) => part.trim());
  return parts.every(isRight) ? parts : undefined;
}

export const defaultSettings = Object.fromEntries(
  Object.entries(settingsTable).map(([name, { fallback }]) => [name, fallback]),
) as unknown as Settings;

/**
 * All settings: those that are given, and the defaults of the others.
 *
 * @throws TypeError for an unknown name, and for a value that the setting cannot have
 */
export function withDefaults(given: GivenSettings): Settings {
  const names = Object.keys(settingsTable);
  const settings = Object.entries(checkOptions<Partial<Settings>>(given, names, 'settings'));
  const said = settings.filter(([, value]) => value !== undefined);
  for (const [name, value] of said) checkValue(name as keyof Settings, value);
  return { ...defaultSettings, ...(Object.fromEntries(said) as Partial<Settings>) };
}

/** A value given in code must be what the text of a flag or variable would mean. */
function checkValue(name: keyof Settings, value: unknown): void {
  const { allowed, parse, fallback } = settingsTable[name] as Setting<unknown>;
  const same = (other: unknown) => JSON.stringify(other) === JSON.stringify(value);
  if (same(fallback) || same([]) || same(parse(String(value)))) return;
  throw new TypeError(`The setting "${name}" must be ${allowed}; it is "${value}".`);
}
