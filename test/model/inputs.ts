import fc from 'fast-check';
import type { CreateOptions, Json, JsonObject, Precondition } from '../../src/index.ts';
import { ownValue } from '../support/arbitraries.ts';
import type { ListCall, Resource } from './calls.ts';

/** Few values, so that they meet again: as duplicates, in filters, in the order of a list. */
const names = ['Ada', ' Ada ', 'Grace', '～', '😀', 'é', 'a', 'B', 'ﬀ'];
const emails = ['ada@b.c', 'ADA@b.c', 'Ada@B.C', 'é@x', 'e\u0301@x', 'É@x', 'grace@h.org', 'z@z'];

const deep = (levels: number): Json => (levels === 0 ? 1 : { a: deep(levels - 1) });

const badText = fc.constantFrom<Json>('', ' \t', 'x'.repeat(301), 7, null, ['a'], 'a\0b', '\ud800');
const badEmail = fc.constantFrom<Json>('', 'nobody', 'a b@c', `${'x'.repeat(252)}@b`, 7, {}, '@');
const badOwn = fc.constantFrom<Json>(2 ** 53, -1e300, 'a\0b', deep(15), deep(18), {
  '': 1,
  ['__proto__']: '\udfff',
  ['k'.repeat(65)]: [2 ** 60],
});

const mostly = <T>(good: fc.Arbitrary<T>, bad: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 20, arbitrary: good }, { weight: 1, arbitrary: bad });

const text = mostly(fc.constantFrom<Json>(...names), badText);
const own = mostly(ownValue, badOwn);
/** `undefined` is gone from what is sent. */
const absent = fc.constant(undefined as unknown as Json);

const oneIn = (weight: number, value: fc.Arbitrary<Json>) =>
  fc.oneof({ weight: weight - 1, arbitrary: absent }, { weight: 1, arbitrary: value });

const common = {
  own,
  tags: fc.array(fc.constantFrom<Json>('a', 'b'), { maxLength: 2 }),
  // Ignored when a record is made and a mismatch later.
  id: oneIn(16, fc.constantFrom<Json>('mine', null)),
  createdAt: fc.constantFrom<Json>(7, '2000-01-01T00:00:00.000Z'),
  $set: fc.constantFrom<Json>({ 'a.b': 1, c: null }, null),
  nested: fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom<Json>(1, null, { z: null })),
  // Repeated, when the command runs, until some of them are more than a page may hold.
  large: oneIn(5, fc.constantFrom<Json>('x', '～')),
} satisfies Record<string, fc.Arbitrary<Json>>;

/** A record with these fields, of which only some have to be there. */
function record(fields: Record<string, fc.Arbitrary<Json>>, required: string[]) {
  return fc.record<Record<string, Json>>({ ...common, ...fields }, { requiredKeys: required });
}

/** `authors` are ids to point at, some of which exist no more or never did. */
export function inputs(resource: Resource, authors: readonly string[]): fc.Arbitrary<JsonObject> {
  if (resource === 'users') {
    const email = mostly(fc.constantFrom<Json>(...emails, null), badEmail);
    return mostly(record({ name: text, email }, ['name']), record({ email }, []));
  }
  const authorId = mostly(fc.constantFrom<Json>(...authors, null), fc.constantFrom<Json>('no', 7));
  const body = mostly(fc.constantFrom<Json>('', 'a body', null), fc.constantFrom<Json>(7, '\0'));
  return mostly(record({ title: text, body, authorId }, ['title']), record({ authorId }, []));
}

export function patches(resource: Resource, authors: readonly string[]): fc.Arbitrary<JsonObject> {
  return fc.oneof(
    inputs(resource, authors),
    fc.constantFrom<JsonObject>({}, { own: null }, { nested: { x: null } }, { $set: { c: 2 } }),
  );
}

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

/** A list call whose ids are counted from the youngest record, and whose times from now. */
export interface ListShape extends Omit<ListCall, 'filter'> {
  readonly filter: {
    readonly ids?: readonly number[];
    readonly authorId?: number | null;
    /** Milliseconds, as is `updatedBefore`. */
    readonly createdFrom?: number;
    readonly updatedBefore?: number;
    readonly name?: string;
    readonly email?: string;
    readonly title?: string;
  };
}

export function listShapes(
  resource: Resource,
  index: fc.Arbitrary<number>,
): fc.Arbitrary<ListShape> {
  const since = fc.integer({ min: -50_000, max: 1000 });
  const common = {
    ids: fc.array(index, { maxLength: 4 }),
    createdFrom: since,
    updatedBefore: since,
  };
  const users = {
    ...common,
    name: fc.constantFrom('Ada', '😀', 'nobody'),
    email: fc.constantFrom('aDa@b.c', 'É@x', 'no'),
  };
  const posts = {
    ...common,
    title: fc.constantFrom('Ada', 'é', 'nothing'),
    authorId: fc.option(index),
  };
  const filters: fc.Arbitrary<ListShape['filter']> =
    resource === 'users'
      ? fc.record(users, { requiredKeys: [] })
      : fc.record(posts, { requiredKeys: [] });
  const sorts = resource === 'users' ? (['name', 'email'] as const) : (['title', 'title'] as const);
  return fc.record({
    filter: fc.oneof(fc.constant({}), filters),
    order: fc.record({
      by: fc.constantFrom('createdAt', 'updatedAt', ...sorts),
      direction: fc.constantFrom('asc', 'desc'),
    }),
    limit: fc.constantFrom(1, 2, 3, 100),
  });
}
