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
