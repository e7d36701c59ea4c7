import { expectEqual, expectError, expectRecord, race } from './assertions.ts';
import { at, later, newReceipt, post, times, user } from './fixtures.ts';
import { expectMatches, idsOf, insert, readAll, select } from './lists.ts';
import { type Suite, uniqueField } from './suite.ts';

const has = (value: string) =>
  ({ field: 'tags', declaredType: 'text[]', op: 'has', value }) as const;

/** Declared fields beyond equality: ranges, arrays of texts, orders, unique values. */
export function describeDeclaredFields({ test, testEach }: Suite): void {
  test('a condition on an array matches arrays that contain the text', async ({ posts }) => {
    const lists = [['a', 'b'], ['b'], ['a', 'a', 'c,b'], [], null, ['A'], ['']];
    const created = lists.map((tags) => post({ tags }));
    const ids = await insert(posts, [...created, post()]);
    await expectMatches(posts, [has('a')], [ids[0] ?? '', ids[2] ?? '']);
    await expectMatches(posts, [has('a'), has('b')], [ids[0] ?? '']);
    await expectMatches(posts, [has('c')], []);
    await expectMatches(posts, [has('')], ids.slice(6, 7));
    await posts.update(ids[1] ?? '', ({ record }) => ({ ...record, tags: ['a'] }));
    await posts.delete(ids[0] ?? '');
    await expectMatches(posts, [has('a')], [ids[1] ?? '', ids[2] ?? '']);
  });

  test('a rejected change leaves the array as it was', async ({ posts }) => {
    const [id = ''] = await insert(posts, [post({ tags: ['a'] })]);
    const change = posts.update(id, ({ record }) => ({ ...record, tags: ['b'], authorId: 'none' }));
    await expectError(change, 'invalid-record');
    await expectMatches(posts, [has('a')], [id]);
    await expectMatches(posts, [has('b')], []);
  });

  test('"from" and "before" compare numbers by size, and do not match null', async ({ posts }) => {
    const values = [-1, -0, 0.1 + 0.2, 9, 10, 1e21, null];
    const ids = await insert(posts, [...values.map((pages) => post({ pages })), post()]);
    const number = { field: 'pages', declaredType: 'number' } as const;
    const from = (value: number) => ({ ...number, op: 'from', value }) as const;
    const before = (value: number) => ({ ...number, op: 'before', value }) as const;
    await expectMatches(posts, [from(0)], ids.slice(1, 6));
    await expectMatches(posts, [before(10)], ids.slice(0, 4));
    await expectMatches(posts, [from(0.1 + 0.2), before(1e21)], ids.slice(2, 5));
    await expectMatches(posts, [before(Number.POSITIVE_INFINITY)], ids.slice(0, 6));
    await expectMatches(posts, [{ ...number, op: 'eq', value: 0 }], ids.slice(1, 2));
  });

  test('"from" and "before" compare texts by code point', async ({ posts }) => {
    const values = ['A', 'a', 'ab', 'b', 'é', '～', '😀', null];
    const ids = await insert(
      posts,
      values.map((language) => post({ language })),
    );
    const text = { field: 'language', declaredType: 'text' } as const;
    await expectMatches(posts, [{ ...text, op: 'from', value: 'a' }], ids.slice(1, 7));
    await expectMatches(posts, [{ ...text, op: 'before', value: '😀' }], ids.slice(0, 6));
  });

  test('sorts by a number and by a text, missing values and null first', async ({ posts }) => {
    const values = [null, 2, undefined, 10, -1, 2, 0.5, null];
    const created = values.map((value) =>
      value === undefined ? post() : post({ pages: value, language: value && `${value}` }),
    );
    await insert(posts, created);
    for (const [field, declaredType] of [
      ['pages', 'number'],
      ['language', 'text'],
    ] as const) {
      for (const direction of ['asc', 'desc'] as const) {
        const order = { field, declaredType, direction } as const;
        const expected = select('posts', created, { conditions: [], order });
        const found = await readAll(posts, { order, limit: 2 });
        expectEqual(`the pages by ${field} ${direction}`, idsOf(found), idsOf(expected));
      }
    }
  });

  testEach('one record at a time has a unique value, drafts included', async (resource) => {
    const { records, make, remove } = resource;
    const { field, values } = uniqueField(resource);
    const one = make({ [field]: values[0], publishedAt: null });
    const two = make({ [field]: values[1] });
    await insert(records, [one, two]);
    const taken = async (call: Promise<unknown>) => {
      const { issues } = await expectError(call, 'field-taken');
      expectEqual('the issue', issues[0]?.pointer, `/${field}`);
    };
    await taken(records.create(make({ [field]: values[0] })));
    await taken(records.update(two.id, ({ record }) => ({ ...record, [field]: values[0] })));
    expectRecord(await records.get(two.id), two);
    await insert(records, [make({ [field]: null }), make({ [field]: null }), make(), make()]);
    await records.update(one.id, ({ record }) => ({ ...record, [field]: values[2] }));
    await records.create(make({ [field]: values[0] }));
    await remove(two.id);
    await records.create(make({ [field]: values[1] }));
  });

  testEach('a repeated creation is replayed before unique values are checked', async (resource) => {
    const { records, make } = resource;
    const { field, values } = uniqueField(resource);
    const receipt = newReceipt();
    const record = make({ [field]: values[0] });
    await records.create(record, receipt);
    const replay = await records.create(make({ [field]: values[0] }), receipt);
    expectEqual(
      '"replayed" and the id of a repeated creation',
      [replay.replayed, replay.record.id],
      [true, record.id],
    );
  });

  testEach('one of 30 creations and changes to the same unique value wins', async (resource) => {
    const { records, make } = resource;
    const { field, values } = uniqueField(resource);
    const ids = await insert(
      records,
      times(15, () => make()),
    );
    const change = (id: string) =>
      records.update(id, ({ record }) => ({ ...record, [field]: values[0] }));
    const creations = times(15, () => records.create(make({ [field]: values[0] })));
    const { errors } = await race<unknown>([...ids.map(change), ...creations]);
    expectEqual('the errors', errors, { 'field-taken': 29 });
  });

  test('deleting a user frees the unique values of deleted posts, not of kept posts', async (store) => {
    const { users, posts } = store;
    const ada = user();
    const bob = user();
    await insert(users, [ada, bob]);
    await insert(posts, [
      post({ authorId: ada.id, slug: 'a' }),
      post({ authorId: bob.id, slug: 'b' }),
    ]);
    await users.delete(ada.id, 'delete', later);
    await users.delete(bob.id, 'keep', at(5));
    await posts.create(post({ slug: 'a' }));
    await expectError(posts.create(post({ slug: 'b' })), 'field-taken');
  });
}
