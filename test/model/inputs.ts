import fc from 'fast-check';
import type { CreateOptions, Json, JsonObject, Precondition } from '../../src/index.ts';
import { customValue } from '../support/arbitraries.ts';

/** Indexes of records, counted from the newest. */
export const indexes = fc.nat({ max: 23 });

/** Only a few values, so that they repeat as duplicates, in filters and in sorted lists. */
const names = ['Ada', ' Ada ', 'Grace', '～', '😀', 'é', 'a', 'B', 'ﬀ'];
const emails = ['ada@b.c', 'ADA@b.c', 'Ada@B.C', 'é@x', 'e\u0301@x', 'É@x', 'grace@h.org', 'z@z'];

/** Invalid values of text fields and custom fields, which the core rejects without calling the store. */
const bad = fc.constantFrom<Json>('', 7, { '': 2 ** 53 }, ['a\0b'], '\ud800');

const mostly = <T>(good: fc.Arbitrary<T>, bad: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 20, arbitrary: good }, { weight: 1, arbitrary: bad });

const text = mostly(fc.constantFrom<Json>(...names), bad);
const custom = mostly(customValue, bad);

const oneIn = <T>(weight: number, value: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: weight - 1, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: value },
  );

const common = {
  custom,
  tags: fc.array(fc.constantFrom<Json>('a', 'b'), { maxLength: 2 }),
  // Ignored in creations, and a mismatch in changes.
  id: oneIn(16, fc.constantFrom<Json>('mine', null)),
  createdAt: fc.constantFrom<Json>(7, '2000-01-01T00:00:00.000Z'),
  $set: fc.constantFrom<Json>({ 'a.b': 1, c: null }, null),
  nested: fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom<Json>(1, null, { z: null })),
};

/** Generates a record with these fields, of which only some are required. */
function record(fields: Record<string, fc.Arbitrary<Json | undefined>>, requiredKeys: string[]) {
  return fc.record<Record<string, Json | undefined>>({ ...common, ...fields }, { requiredKeys });
}

const email = mostly(fc.constantFrom<Json>(...emails, null), bad);
/** `#0` stands for the newest user when the command runs, `#1` for the next one. */
const authorId = mostly(
  fc.constantFrom<Json>('#0', '#1', '#2', '#3', '#4', '#9', null),
  fc.constantFrom<Json>('no', 7),
);
const body = mostly(fc.constantFrom<Json>('a body', null), bad);

/** A character that is repeated when the command runs. A few such posts exceed the page limit. */
const large = oneIn(3, fc.constantFrom<Json>('x', '～'));

export const inputs = {
  users: mostly(record({ name: text, email }, ['name']), record({ email }, [])),
  posts: mostly(
    record({ title: text, body, authorId, large }, ['title']),
    record({ authorId }, []),
  ),
};

/** Patches of fields set by earlier inputs. */
export const patches = fc.constantFrom<JsonObject>(
  {},
  { custom: null },
  { nested: { x: null } },
  { $set: { c: 2 } },
);

const versions = fc.oneof(
  fc.constant('any' as const),
  fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
);

export const preconditions: fc.Arbitrary<Precondition> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.record({ only: versions }) },
  { weight: 1, arbitrary: fc.record({ except: versions }) },
);

export const idempotency: fc.Arbitrary<CreateOptions> = fc.oneof(
  fc.constant({}),
  fc.record(
    { idempotencyKey: fc.constantFrom('k1', 'k2', '~!'), caller: fc.constantFrom('a', 'b') },
    { requiredKeys: ['idempotencyKey'] },
  ),
);

const since = fc.integer({ min: -50_000, max: 1000 });

/** A list call with ids counted from the newest record and times in milliseconds from now. */
export type ListShape = typeof listShapes extends fc.Arbitrary<infer Shape> ? Shape : never;

export const listShapes = fc.record({
  ids: oneIn(4, fc.array(indexes, { maxLength: 4 })),
  authorId: oneIn(4, fc.option(indexes)),
  createdFrom: oneIn(4, since),
  updatedBefore: oneIn(4, since),
  name: oneIn(4, fc.constantFrom('Ada', 'é', 'nobody')),
  email: oneIn(4, fc.constantFrom('aDa@b.c', 'É@x', 'no')),
  by: fc.constantFrom('createdAt', 'updatedAt', 'name', 'email'),
  direction: fc.constantFrom('asc', 'desc'),
  limit: fc.constantFrom(1, 2, 3, 100),
});
