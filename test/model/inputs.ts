import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { ownValue } from '../support/arbitraries.ts';
import type { Condition, Kind, ListCall } from './calls.ts';

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

const common = {
  own,
  tags: fc.array(fc.constantFrom<Json>('a', 'b'), { maxLength: 2 }),
  // Ignored when a record is made and a mismatch later, so mostly left out.
  id: fc.oneof(
    { weight: 15, arbitrary: absent },
    { weight: 1, arbitrary: fc.constantFrom<Json>('mine', null) },
  ),
  createdAt: fc.constantFrom<Json>(7, '2000-01-01T00:00:00.000Z'),
  $set: fc.constantFrom<Json>({ 'a.b': 1, c: null }, null),
  nested: fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom<Json>(1, null, { z: null })),
} satisfies Record<string, fc.Arbitrary<Json>>;

/** A record with these fields, of which only some have to be there. */
function record(fields: Record<string, fc.Arbitrary<Json>>, required: string[]) {
  return fc.record<Record<string, Json>>({ ...common, ...fields }, { requiredKeys: required });
}

/** `authors` are ids to point at, some of which exist no more or never did. */
export function inputs(kind: Kind, authors: readonly string[]): fc.Arbitrary<JsonObject> {
  if (kind === 'users') {
    const email = mostly(fc.constantFrom<Json>(...emails, null), badEmail);
    return mostly(record({ name: text, email }, ['name']), record({ email }, []));
  }
  const authorId = mostly(fc.constantFrom<Json>(...authors, null), fc.constantFrom<Json>('no', 7));
  const body = mostly(fc.constantFrom<Json>('', 'a body', null), fc.constantFrom<Json>(7, '\0'));
  return mostly(record({ title: text, body, authorId }, ['title']), record({ authorId }, []));
}

export function patches(kind: Kind, authors: readonly string[]): fc.Arbitrary<JsonObject> {
  return fc.oneof(
    inputs(kind, authors),
    fc.constantFrom<JsonObject>({}, { own: null }, { nested: { x: null } }, { $set: { c: 2 } }),
  );
}

const versions = fc.oneof(
  fc.constant('any' as const),
  fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
);

export const conditions: fc.Arbitrary<Condition> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.record({ only: versions }) },
  { weight: 1, arbitrary: fc.record({ except: versions }) },
);

export const keys = fc.option(fc.constantFrom('k1', 'k2', '~!'), { nil: undefined, freq: 2 });

const spans = {
  createdFrom: fc.integer({ min: -50_000, max: 1000 }),
  updatedBefore: fc.integer({ min: -50_000, max: 1000 }),
};

const filters: Record<Kind, Record<string, fc.Arbitrary<unknown>>> = {
  users: {
    ...spans,
    ids: fc.constant(true),
    name: fc.constantFrom('Ada', '😀', 'nobody'),
    email: fc.constantFrom('aDa@b.c', 'É@x', 'no'),
  },
  posts: {
    ...spans,
    ids: fc.constant(true),
    title: fc.constantFrom('Ada', 'é', 'nothing'),
    authorId: fc.constant(true),
  },
};

/** A list call; where a filter needs ids or a time, the caller puts them in. */
export interface ListShape extends Omit<ListCall, 'ids' | 'authorId'> {
  readonly ids?: true;
  readonly authorId?: true;
}

export function listShapes(kind: Kind): fc.Arbitrary<ListShape> {
  const sorts =
    kind === 'users'
      ? (['createdAt', 'updatedAt', 'name', 'email'] as const)
      : (['createdAt', 'updatedAt', 'title'] as const);
  return fc
    .record({
      filter: fc.oneof(fc.constant({}), fc.record(filters[kind], { requiredKeys: [] })),
      sort: fc.constantFrom(...sorts),
      descending: fc.boolean(),
      limit: fc.constantFrom(1, 2, 3, 100),
    })
    .map(({ filter, ...rest }) => ({ kind, ...rest, ...filter }));
}
