import { bodyOf, messageOf } from './bodies.ts';
import type { Random } from './random.ts';

/** A request as bytes, with the information needed to read its response. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly bytes: Buffer;
  /** The client closes its side in the middle of the request. */
  readonly torn: boolean;
  /** The connection can be reused after the request. */
  readonly clean: boolean;
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const collectionMethods = ['GET', 'POST', 'POST', 'POST'];
const recordMethods = ['GET', 'PUT', 'PATCH', 'PATCH', 'DELETE'];
const oddMethods = ['HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'get', 'CONNECT', 'LINK', 'X'];

/** Generates a request: mostly well-formed with something unusual in it, sometimes malformed. */
export function requestOf(random: Random, ids: readonly string[]): RawRequest {
  const isMcp = random.chance(0.1);
  const path = isMcp ? '/mcp' : pathOf(random, ids);
  const method = isMcp && random.chance(0.95) ? 'POST' : methodOf(random, path);
  const withBody = /^P/.test(method) ? random.chance(0.95) : random.chance(0.1);
  const body = withBody ? (isMcp ? messageOf : bodyOf)(random, ids) : Buffer.alloc(0);
  const chunked = withBody && random.chance(0.1);
  const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headersOf(random, method)];
  if (withBody)
    head.push(chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`);
  // Without a body, the server would only wait for the one that these headers announce.
  const odd = withBody && random.chance(0.01);
  if (odd) head.push(random.pick(oddLines));
  const payload = chunked ? chunksOf(random, body) : body;
  const bytes = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), payload]);
  const torn = random.chance(0.02);
  return {
    method,
    path,
    torn,
    clean: !torn && !odd && !chunked && !/Expect|Upgrade|CONNECT/.test(head.join()),
    bytes: torn ? bytes.subarray(0, random.int(bytes.length)) : bytes,
  };
}

/** Picks a method, mostly one that the path supports. */
function methodOf(random: Random, path: string): string {
  if (random.chance(0.05)) return random.pick(oddMethods);
  if (random.chance(0.05)) return random.pick(methods);
  return random.pick(/^\/api\/v1\/\w+\//.test(path) ? recordMethods : collectionMethods);
}

function pathOf(random: Random, ids: readonly string[]): string {
  if (random.chance(0.06)) return random.pick(oddPaths);
  const kind = random.pick(['users', 'posts']);
  const id = random.chance(0.1) ? random.pick(oddIds) : random.pick(ids);
  const path = random.chance(0.45) ? `/api/v1/${kind}` : `/api/v1/${kind}/${id}`;
  return random.chance(0.25) ? `${path}?${queryOf(random)}` : path;
}

const oddPaths = [
  '/',
  '/api/v1',
  '/api/v1/',
  '/api/v1/users/',
  '/api/v1//users',
  '/API/v1/users',
  '/api/v1/users/a/b',
  '/api/v1/users/%ZZ',
  '/api/v1/users/%ff',
  '/api/v1/users/%00',
  '/api/v1/%75sers',
  '/api/v1/users/..%2f..',
  '/api/v1/../v1/users',
  'http://elsewhere/api/v1/users',
  '*',
  '/livez',
  '/readyz',
  '/problems/email-taken',
  '/problems/none',
  '/problems/%ZZ',
  `/${'x'.repeat(9000)}`,
  `/api/v1/users/${'x'.repeat(5000)}`,
  '/api/v1/users?',
  '/api/v1/users?&&',
  '//',
  '/\u00ff',
];

const oddIds = [
  'none',
  '0',
  '%20',
  'a%2Fb',
  '__proto__',
  'constructor',
  '%F0%9F%98%80',
  "'%22",
  '*',
];

const parameters = [
  'limit=1',
  'limit=3&count=exact',
  'limit=0',
  'limit=1001',
  'limit=1e2',
  'limit=',
  'cursor=abc',
  'cursor=',
  'sort=name',
  'sort=-title',
  'sort=email',
  'sort=updatedAt',
  'sort=--name',
  'sort=toString',
  'id=none',
  'id=a&id=b',
  'name=Ada',
  'title=Ada',
  'email=A%40B',
  'authorId=',
  'authorId=x',
  'createdAt[gte]=2020-01-01T00:00:00Z',
  'createdAt%5Blt%5D=2099-01-01T00:00:00+02:00',
  'updatedAt[gt]=2026-02-30T00:00:00Z',
  'updatedAt[lte]=0000-01-01T00:00:00-23:59',
  'createdAt[x]=1',
  'count=all',
  'posts=delete',
  'posts=keep',
  'posts=x',
  '__proto__=1',
  'a',
  '=',
  '%',
  '%ff=%fe',
  'limit=1&limit=2',
  `name=${'x'.repeat(2000)}`,
];

/** What the fuzzed server declares. */
export const declaredFields = {
  users: { born: 'number' },
  posts: { slug: 'text', tags: 'text[]', views: 'number', hot: 'boolean' },
} as const;

const filtered = ['createdAt', 'updatedAt', 'publishedAt', 'born', 'slug', 'tags', 'views', 'hot'];
const operators = ['', '[gte]', '[gt]', '[lte]', '[lt]', '[startsWith]', '[x]'];
const operands = [
  ...['0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z', '2026-01-01T00:00:00%2B23:59'],
  ...['0', '-0', '-1.5', '1e308', '1.7976931348623157e308', '5e-324', '1e999', 'NaN', 'null', ''],
  ...['true', 'false', 'a', '%F4%8F%BF%BF', '%00', '%ED%9F%BF', `${'x'.repeat(1000)}`],
];

/** Filters by a time or a declared field, with or without a bound. */
function filterOf(random: Random): string {
  return `${random.pick(filtered)}${random.pick(operators)}=${random.pick(operands)}`;
}

function queryOf(random: Random): string {
  if (random.chance(0.3)) {
    const filters = Array.from({ length: 1 + random.int(3) }, () => filterOf(random));
    const sorted = random.chance(0.3) ? [`sort=${random.pick(filtered)}`] : [];
    return [...filters, ...sorted].join('&');
  }
  return Array.from({ length: 1 + random.int(2) }, () => random.pick(parameters)).join('&');
}

const types = [
  ...Array<string>(22).fill('application/json'),
  'application/merge-patch+json',
  'application/json; charset=utf-8',
  'application/json; charset="UTF-8"',
  'application/json; charset=latin1',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json;',
  'json',
  '',
];

const oddHeaders = [
  'If-Match: "1"',
  'If-Match: *',
  'If-Match: W/"1"',
  'If-Match: 1',
  'If-Match: "a", "1"',
  'If-Match: ,',
  'If-None-Match: *',
  'If-None-Match: "1"',
  'If-None-Match: "',
  'Idempotency-Key: k1',
  'Idempotency-Key: "k1"',
  'Idempotency-Key: ',
  `Idempotency-Key: ${'k'.repeat(256)}`,
  'Idempotency-Key: "',
  'Idempotency-Key: \u00e9',
  'Prefer: return=minimal',
  'Prefer: return=representation, wait=1',
  'Prefer: ;;,',
  'Content-Encoding: gzip',
  'Content-Encoding: identity',
  'Accept: text/html',
  'Accept-Encoding: gzip',
  'X-Request-Id: mine-1',
  'X-Request-Id: not valid!',
  'Expect: 100-continue',
  'Expect: a miracle',
  'Connection: close',
  'Upgrade: websocket',
  'Cookie: a=b',
  'Range: bytes=0-1',
];

const oddLines = [
  'No colon here',
  'Content-Length: 5',
  'Content-Length: -1',
  'Transfer-Encoding: gzip',
  'Host: another',
  ' folded: line',
  'Bad\u0000Name: x',
  `X-Long: ${'x'.repeat(20_000)}`,
];

function headersOf(random: Random, method: string): string[] {
  const headers: string[] = [];
  if (/^P/.test(method) || random.chance(0.05)) headers.push(`Content-Type: ${random.pick(types)}`);
  while (random.chance(0.15)) headers.push(random.pick(oddHeaders));
  return headers;
}

function chunksOf(random: Random, body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const part = body.subarray(at, at + 1 + random.int(body.length));
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'));
    at += part.length;
  }
  parts.push(Buffer.from(random.chance(0.95) ? '0\r\n\r\n' : random.pick(['zz\r\n', '0\r\n\r\n'])));
  return Buffer.concat(parts);
}
