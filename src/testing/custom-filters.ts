import assert from 'node:assert/strict';
import { type CustomFilter, type EntityFilter, postSorts, userSorts } from '../domain/list.ts';
import type { Entity } from '../domain/record.ts';
import { later, post, times, user } from './fixtures.ts';
import { idsOf, type Lister, matches, pageOf, put, putEach, walk } from './lists.ts';
import { customFilters, type Resource, type Suite } from './suite.ts';

/** What JSON may be where a text, a number or a boolean is looked for. */
const oddities = [null, 0, 1, '', '0', '1', 'true', 'en', true, false, ['en'], [5], [true], {}];

/** Numbers whose neighbors are other numbers, though many a database prints or parses them alike. */
const numbers = [
  ...[0, 1, -1, 5, 0.1, 0.2, 0.3, 0.1 + 0.2, 5e-324, 1e-323, 2.2250738585072014e-308],
  ...[1.2583863696070281e-262, 3.49716920597803e-105, 1 / 3, 0.33333333333333326],
  ...[2 ** 31, 2 ** 53 - 1, 2 ** 53 - 2, 1 - 2 ** 53, 1.5, 123456789.12345679, 123456789.12345678],
];

/** Filters on custom fields that a deployment has declared. */
export function describeCustomFilters({ both, test }: Suite): void {
  both('own: a text, exactly, and nothing of another type', async (resource) => {
    const texts = ['en', 'EN', 'en ', 'e', 'e\u0301', 'é', '%', '.*', '$ne', '😀', '"', "'", '\\'];
    await matchesEach(resource, 'text', [...texts, ...oddities], 'string');
    for (const text of ['e%', 'en\0', 'en\ud800', '\0', '\ud800', '["en"]', 'null', '{}']) {
      await matches(resource.records, { custom: { [nameOf(resource, 'text')]: text } }, []);
    }
  });

  both('own: a number, to the last bit, and nothing of another type', async (resource) => {
    await matchesEach(resource, 'number', [...numbers, ...oddities], 'number');
    for (const number of [7, 0.1 + 0.7, 1e300, -5e-324]) {
      await matches(resource.records, { custom: { [nameOf(resource, 'number')]: number } }, []);
    }
  });

  both('own: true or false, and nothing of another type', async (resource) => {
    await matchesEach(resource, 'boolean', oddities, 'boolean');
  });

  both('own: names that objects inherit are names like others', async ({ records, make }) => {
    const [, id = ''] = await put(records, [make(), make({ constructor: 'en' })]);
    await matches(records, { custom: { constructor: 'en' } }, [id]);
    await matches(records, { custom: { constructor: 'Object' } }, []);
  });

  both('own: a field of the record itself, at no other depth', async (resource) => {
    const { records, make } = resource;
    const name = nameOf(resource, 'text');
    await put(records, [make({ in: { [name]: 'en' } }), make({ [`in.${name}`]: 'en' })]);
    await matches(records, { custom: { [name]: 'en' } }, []);
  });

  both('own: lists follow a record that changes, and one that goes', async (resource) => {
    const { records, make, remove } = resource;
    const name = nameOf(resource, 'text');
    const [one = '', two = ''] = await put(records, [make({ [name]: 'en' }), make()]);
    await records.update(one, ({ record }) => ({ ...record, [name]: 'fr' }));
    await records.update(two, ({ record }) => ({ ...record, [name]: 'en' }));
    await matches(records, { custom: { [name]: 'en' } }, [two]);
    await matches(records, { custom: { [name]: 'fr' } }, [one]);
    await remove(two);
    await matches(records, { custom: { [name]: 'en' } }, []);
  });

  both('own: all that a filter says must hold', async (resource) => {
    const { records, make } = resource;
    const [text, number, boolean] = [
      nameOf(resource, 'text'),
      nameOf(resource, 'number'),
      nameOf(resource, 'boolean'),
    ];
    const fields = { [text]: 'en', [number]: 5, [boolean]: false };
    const made = [make(fields), make({ ...fields, [number]: 6 }), make(fields)];
    const [a = '', b = '', c = ''] = await put(records, made);
    await matches(records, { custom: fields }, [a, c]);
    await matches(records, { custom: { [text]: 'en', [boolean]: false } }, [a, b, c]);
    await matches(records, { custom: { ...fields, [boolean]: true } }, []);
    const { createdAt } = made[2] as Entity;
    const filters: [EntityFilter, string[]][] = [
      [{ ids: [a, b] }, [a]],
      [{ createdAt: { from: createdAt } }, [c]],
      [{ updatedAt: { before: createdAt } }, [a]],
      [{}, [a, c]],
    ];
    for (const [filter, ids] of filters) await matches(records, { ...filter, custom: fields }, ids);
  });

  test('users: own: pages in every order, of these records alone', async ({ users }) => {
    const ownOf = (n: number) => ({ city: n % 5 ? 'en' : 'fr' });
    const emailOf = (n: number) => (n % 4 ? `${n}@example.com` : null);
    const made = times(25, (n) => user({ ...ownOf(n), name: `n${n % 3}`, email: emailOf(n) }));
    await put(users, made);
    await walksInEachOrder(users, userSorts, { city: 'en' });
  });

  test('posts: own: pages in every order, of these records alone', async ({ posts }) => {
    const ownOf = (n: number) => ({ language: n % 5 ? 'en' : 'fr' });
    await put(
      posts,
      times(25, (n) => post({ ...ownOf(n), title: `n${n % 3}` })),
    );
    await walksInEachOrder(posts, postSorts, { language: 'en' });
  });

  both(
    'own: a page ends before the record that would bring it over its bytes',
    async (resource) => {
      const { records, make } = resource;
      const own = { [nameOf(resource, 'boolean')]: true };
      const ids = await put(
        records,
        times(5, () => make({ ...own, own: 'x'.repeat(1000) })),
      );
      const page = await pageOf(records, { filter: { custom: own }, bytes: 2500, total: true });
      assert.deepEqual(idsOf(page.items.map(({ record }) => record)), ids.slice(0, 2));
      assert.deepEqual([page.total, page.next?.id], [5, ids[1]]);
    },
  );

  test('own: posts of an author who is deleted keep their custom fields', async (store) => {
    const [author = ''] = await put(store.users, [user()]);
    const [id = ''] = await put(store.posts, [post({ authorId: author, words: 0.1 })]);
    await matches(store.posts, { authorId: author, custom: { words: 0.1 } }, [id]);
    await store.users.delete(author, 'keep', later);
    await matches(store.posts, { authorId: null, custom: { words: 0.1 } }, [id]);
    await matches(store.posts, { authorId: author, custom: { words: 0.1 } }, []);
  });
}

type Type = 'text' | 'number' | 'boolean';

/** The declared custom field of a type. */
function nameOf<R extends Entity>({ name }: Resource<R>, type: Type): string {
  const found = Object.entries(customFilters[name]).find(([, declared]) => declared === type);
  return found?.[0] ?? '';
}

/** Stores a record for each value, and looks for each value that is of the type. */
async function matchesEach<R extends Entity>(
  resource: Resource<R>,
  type: Type,
  values: readonly unknown[],
  typeName: 'string' | 'number' | 'boolean',
): Promise<void> {
  const { records, make } = resource;
  const name = nameOf(resource, type);
  const distinct = [...new Set(values)];
  const ids = await putEach(records, distinct, (value) => make({ [name]: value }));
  await put(records, [make()]);
  for (const [n, value] of distinct.entries()) {
    if (typeof value !== typeName) continue;
    await matches(records, { custom: { [name]: value as string } }, [ids[n] ?? '']);
  }
}

/** Walks the 20 records of 25 that a filter matches, and holds them to a walk of all. */
async function walksInEachOrder<R extends Entity, Sort extends string>(
  lister: Lister<R, EntityFilter, Sort>,
  sorts: readonly Sort[],
  own: CustomFilter,
): Promise<void> {
  for (const by of sorts) {
    for (const direction of ['asc', 'desc'] as const) {
      const order = { by, direction };
      const filter: EntityFilter = { custom: own };
      const all = idsOf(await walk(lister, { order }));
      const found = idsOf(await walk(lister, { order, filter }));
      assert.equal(found.length, 20, `by ${by} ${direction}`);
      const rest = all.filter((id) => found.includes(id));
      assert.deepEqual(found, rest, `by ${by} ${direction}`);
      for (const limit of [1, 3]) {
        assert.deepEqual(idsOf(await walk(lister, { order, limit, filter })), found);
      }
    }
  }
}
