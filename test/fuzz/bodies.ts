import fc from 'fast-check';
import { customValue } from '../support/arbitraries.ts';
import type { Random } from './random.ts';

/** Generates bodies that are wrong in many ways, and some valid ones. */
export function bodyOf(random: Random, ids: readonly string[]): Buffer {
  const body = random.pick(bodies)(random, ids);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return random.chance(0.1) ? mutated(random, bytes) : bytes;
}

type Build = (random: Random, ids: readonly string[]) => string | Buffer;

const bodies: Build[] = [
  ...Array<Build>(8).fill((random) =>
    JSON.stringify({ name: 'Ada', title: 'On engines', n: random.int(9) }),
  ),
  (random) => JSON.stringify({ name: random.pick(texts), email: emailOf(random) }),
  (random, ids) => JSON.stringify({ title: random.pick(texts), authorId: random.pick(ids) }),
  (random) => JSON.stringify(anyValue(random)),
  (random) => JSON.stringify({ name: 'x', title: 'x', custom: anyValue(random) }),
  (random) => `{"name":"x","title":"x","custom":${random.pick(literals)}}`,
  (random) => random.pick(literals),
  (random) => random.pick(broken),
  (random) => `{"a":${'['.repeat(random.int(100_000))}`,
  (random) => `{"name":"x","custom":${'['.repeat(200)}${']'.repeat(200 - random.int(2))}}`,
  (random) => Buffer.from(Array.from({ length: random.int(200) }, () => random.int(256))),
  () => Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"name":"bom"}')]),
  (random) => JSON.stringify({ name: 'x', custom: 'x'.repeat(random.int(3000)) }),
];

const texts = [
  'Ada',
  '',
  ' ',
  '😀',
  '\u0000',
  'x'.repeat(301),
  '～',
  '\ufeff',
  '"',
  '\\',
  '\u2028',
];
const emails = ['a@b', 'A@B', 'no', '', 'é@x', `${'x'.repeat(300)}@b`, 'a@b.c'];

function emailOf(random: Random): unknown {
  return random.chance(0.5) ? null : `${random.int(10_000)}${random.pick(emails)}`;
}

const literals = [
  'null',
  'true',
  '1',
  '-0',
  '1e400',
  '-1E+400',
  '9007199254740993',
  '1e-400',
  '0.1',
  '"\\ud800"',
  '"\\u0000"',
  '[]',
  '{}',
  '{"__proto__":{"x":1}}',
  '{"constructor":{"prototype":{}}}',
  '{"a":1,"\\u0061":2}',
  '{"":1}',
  `{"${'k'.repeat(65)}":1}`,
  '[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]',
];

const broken = [
  '',
  ' ',
  '{',
  '}',
  '{"a":1,}',
  "{'a':1}",
  '{"a":01}',
  '{"a":1}{"b":2}',
  '{"a":1} x',
  'NaN',
  '{"a":undefined}',
  '{"a":"\n"}',
  '{"a":1,"a":2}',
  '{"name":"x","custom":{"b":1,"b":1}}',
  '\u0000',
  '{"a":"\\x"}',
  '{"a":1e}',
  '{"a":+1}',
  '"just a text"',
];

const anyJson = fc.oneof(customValue, fc.jsonValue());

function anyValue(random: Random): unknown {
  const [value] = fc.sample(anyJson, { seed: random.int(2 ** 31), numRuns: 1 });
  return random.chance(0.2) ? { [random.pick(keys)]: value } : value;
}

const keys = ['name', 'title', 'email', 'id', 'body', 'authorId', 'createdAt', '', '__proto__'];

/** Changes, drops, duplicates or inserts a byte, or truncates the rest. */
function mutated(random: Random, bytes: Buffer): Buffer {
  const at = random.int(bytes.length + 1);
  const between = Buffer.from(random.pick([[], [random.int(256)]]));
  const rest = random.chance(0.3) ? bytes.length : at + random.pick([-1, 0, 1]);
  return Buffer.concat([bytes.subarray(0, at), between, bytes.subarray(Math.max(rest, 0))]);
}

const tools = [
  ...['find_posts', 'get_post', 'create_post', 'update_post', 'delete_post'],
  ...['find_users', 'get_user', 'update_user', 'none', '__proto__'],
];
const names = [
  ...['id', 'version', 'changes', 'title', 'title_starts_with', 'body', 'key', 'publish', 'author'],
  ...[
    'state',
    'limit',
    'cursor',
    'from',
    'name',
    'slug',
    'tags',
    'views',
    'hot',
    'publishedAt',
    'x',
  ],
];
const given: readonly unknown[] = [
  ...['me', 'draft', 'public', 'a', '', '2026-01-01T00:00:00Z', 'null x', 'x'.repeat(5000)],
  ...[1, 0, -1, 1.5, 2 ** 53, true, null, [], ['a'], {}, { from: 'a' }, { title: 'B', n: 1 }],
];

/** Generates a message for the MCP server: mostly a tool call with arguments of any type. */
export function messageOf(random: Random, ids: readonly string[]): Buffer {
  if (random.chance(0.1)) return bodyOf(random, ids);
  const value = () => (random.chance(0.1) ? anyValue(random) : random.pick(given));
  const args = Object.fromEntries(
    Array.from({ length: random.int(5) }, () => [random.pick(names), value()]),
  );
  if (random.chance(0.5)) Object.assign(args, { id: random.pick(ids), version: 1 + random.int(3) });
  const deep = '['.repeat(20_000);
  const params = random.chance(0.02)
    ? `{"name":"create_post","arguments":{"x":${deep}${deep.replaceAll('[', ']')}}}`
    : JSON.stringify({ name: random.pick(tools), arguments: random.chance(0.95) ? args : value() });
  const method = random.pick(['tools/call', 'tools/call', 'tools/call', 'tools/list', 'ping', 'x']);
  const id = random.pick(['"id":1,', '"id":"a",', '', '"id":null,']);
  return Buffer.from(`{"jsonrpc":"2.0",${id}"method":"${method}","params":${params}}`);
}
