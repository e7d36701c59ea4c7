// Changes valid tokens in every way that comes to mind and asks who they are: nobody, each time.
// Half are keys of a file and half are tokens of an identity provider.
//
//   node test/faults/mutated-tokens.ts [--count 100000] [--seed 1]

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { addKey, KeyFile } from '../../src/adapters/credentials/index.ts';
import { Tokens } from '../../src/adapters/credentials/tokens.ts';
import { scopes } from '../../src/index.ts';
import { callerOf } from '../support/caller-of.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
  },
});
const count = Number(values.count);

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomBy(Number(values.seed));
const below = (limit: number) => Math.floor(random() * limit);
const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const odd = [
  '=',
  '.',
  '..',
  '%2e',
  ' ',
  '\t',
  '\0',
  'é',
  '+',
  '/',
  '_',
  '',
  '\u200b',
  'A'.repeat(99),
];

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Ways that change any text. `other` is another token of the same kind, and just as valid. */
const anyWays: readonly ((token: string, other: string) => string)[] = [
  (token) => replaced(token, below(token.length), pick([...alphabet])),
  (token) => replaced(token, token.length - 1, pick([...alphabet])),
  (token) => replaced(token, below(token.length), pick(odd)),
  (token) => token.slice(0, below(token.length)),
  (token) => token.slice(1 + below(token.length)),
  (token) => token + pick([...alphabet, ...odd.filter((one) => one !== '')]),
  (token) => pick([...alphabet, ...odd.filter((one) => one !== '')]) + token,
  (token) => pick([token.toUpperCase(), token.toLowerCase(), [...token].reverse().join('')]),
  (token, other) => mixedAt(token, other, below(token.length)),
  (token, other) =>
    mixedAt(token, other, Math.max(token.lastIndexOf('.'), token.lastIndexOf('_')) + 1),
  (token, other) => `${token}${pick(['', '.', ',', ' '])}${other}`,
];

function replaced(token: string, at: number, by: string): string {
  return token.slice(0, at) + by + token.slice(at + 1);
}

function mixedAt(token: string, other: string, at: number): string {
  return token.slice(0, at) + other.slice(at);
}

/** Ways that understand a token of three parts. */
const tokenWays: readonly ((parts: readonly [string, string, string]) => string)[] = [
  ([, payload, signature]) =>
    [encode({ ...header, alg: pick(algorithms) }), payload, pick([signature, ''])].join('.'),
  ([, payload, signature]) =>
    [encode({ ...header, ...pick(extras) }), payload, signature].join('.'),
  ([head, payload, signature]) => {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return [head, encode({ ...claims, ...pick(lies) }), signature].join('.');
  },
  ([head, payload, signature]) =>
    pick([
      [head, payload],
      [payload, head, signature],
      [head, payload, signature, ''],
    ]).join('.'),
];

const header = { alg: 'ES256', kid: 'k', typ: 'at+jwt' };
const algorithms = [
  'none',
  'None',
  'NONE',
  '',
  'HS256',
  'HS512',
  'RS256',
  'ES384',
  'EdDSA',
  'es256',
];
const extras = [
  ...[{ kid: 'x' }, { kid: '../k' }, { kid: "' OR 1=1" }, { jku: 'http://127.0.0.1:1/' }],
  ...[
    { jwk: { kty: 'oct', k: '' } },
    { typ: 'JWT' },
    { crit: ['exp'] },
    { b64: false, crit: ['b64'] },
  ],
  { x5u: 'http://127.0.0.1:1/' },
];
const lies = [
  ...[
    { sub: 'root' },
    { scope: 'users:write posts:write' },
    { exp: 9_999_999_999 },
    { aud: ['rostrum'] },
  ],
  ...[{ iss: 'https://id.example.com/' }, { nbf: 0 }, { sub: null }, { admin: true }],
];

await using folder = await temporaryDirectory();
const path = join(folder.path, 'keys');
const keys = [addKey(path, { scopes }), addKey(path, { scopes: [] })].map(({ token }) => token);
const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' };
const provider = createServer((_request, response) => {
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
});
await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening));
const issuer = 'https://id.example.com';
const jwksUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/`;
const sign = (sub: string) =>
  new SignJWT({ iss: issuer, aud: 'rostrum', sub, scope: scopes.join(' ') })
    .setProtectedHeader(header)
    .setExpirationTime('1h')
    .sign(privateKey);
const jwts = [await sign('ada'), await sign('bob')];

const sides = [
  { verifier: new KeyFile(path), valid: keys },
  { verifier: new Tokens({ issuer, audience: 'rostrum', jwksUrl }), valid: jwts },
] as const;
const known = new Set([...keys, ...jwts]);
let accepted = 0;
let asked = 0;
const start = performance.now();
while (asked < count) {
  for (const { verifier, valid } of sides) {
    const token = pick(valid);
    const other = valid.find((one) => one !== token) ?? '';
    const [head, payload, signature, ...rest] = token.split('.');
    const isJwt = head && payload && signature && rest.length === 0;
    const mutated =
      isJwt && random() < 0.3
        ? pick(tokenWays)([head, payload, signature])
        : pick(anyWays)(token, other);
    if (known.has(mutated)) continue;
    asked += 1;
    const caller = await callerOf(verifier, mutated);
    if (caller === undefined) continue;
    accepted += 1;
    console.error(`accepted as ${caller.name}: ${mutated}`);
  }
}
for (const { verifier, valid } of sides) {
  for (const token of valid) {
    if ((await callerOf(verifier, token)) === undefined)
      throw new Error('A valid token is refused.');
  }
}
provider.close();
provider.closeAllConnections();
const seconds = ((performance.now() - start) / 1000).toFixed(1);
console.log(`${asked} mutated tokens in ${seconds} s, ${accepted} accepted`);
if (accepted > 0) process.exitCode = 1;
