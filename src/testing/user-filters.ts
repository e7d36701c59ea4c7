import assert from 'node:assert/strict';
import type { UserFilter } from '../domain/page.ts';
import { at, user } from './fixtures.ts';
import { matches, put } from './matching.ts';
import type { Suite } from './suite.ts';
import { idsOf, walk } from './walk.ts';

/** What only users can be filtered by. */
export function describeUserFilters({ test }: Suite): void {
  test('users: name: the whole name, exactly', async (store) => {
    const names = ['Ada', 'ada', 'Ada L', 'Ad', 'Adá', 'Ada\u0301', '%', '.*', '$ne', 'Ada'];
    const ids = await put(
      store.users,
      names.map((name) => user({ name })),
    );
    for (const name of ['ada', 'Ad', '%', '.*', '$ne', 'Adá', 'Ada\u0301']) {
      await matches(store.users, { name }, [ids[names.indexOf(name)] ?? '']);
    }
    await matches(store.users, { name: 'Ada' }, [ids[0] ?? '', ids[9] ?? '']);
    await matches(store.users, { name: 'A%' }, []);
    await matches(store.users, { name: '' }, []);
  });

  test('users: email: an address with the same key', async (store) => {
    const emails = ['Éva@example.com', 'eva@example.com', null];
    const [one = '', two = ''] = await put(
      store.users,
      emails.map((email) => user({ email })),
    );
    for (const email of ['Éva@example.com', 'éVA@EXAMPLE.com', 'E\u0301va@example.com']) {
      await matches(store.users, { email }, [one]);
    }
    await matches(store.users, { email: 'EVA@example.com' }, [two]);
    await matches(store.users, { email: 'eva@example' }, []);
    await matches(store.users, { email: '' }, []);
  });

  test('users: all that a filter says must hold', async (store) => {
    const [one, two, three] = [user({ name: 'Same' }), user({ name: 'Same' }), user()];
    await put(store.users, [one, two, three]);
    const { name, createdAt } = one;
    const email = one.email ?? '';
    const filter: UserFilter = {
      name,
      email,
      ids: [one.id, three.id],
      createdAt: { from: createdAt },
    };
    await matches(store.users, filter, [one.id]);
    await matches(store.users, { name }, [one.id, two.id]);
    await matches(store.users, { ...filter, name: three.name }, []);
    await matches(store.users, { ...filter, email: two.email ?? '' }, []);
    await matches(store.users, { ...filter, ids: [two.id] }, []);
    await matches(store.users, { ...filter, createdAt: { before: createdAt } }, []);
    await matches(store.users, { ...filter, updatedAt: { before: one.updatedAt } }, []);
  });

  test('users: filters and orders follow a user who changes, and one who goes', async (store) => {
    const [one, two] = [user({ name: 'A' }), user({ name: 'B' })];
    const changed = { ...one, name: 'C', email: 'ß@example.com', updatedAt: at(999_999) };
    await put(store.users, [one, two]);
    await store.users.update(one.id, () => changed);
    await matches(store.users, { name: 'C' }, [one.id]);
    await matches(store.users, { name: 'A' }, []);
    await matches(store.users, { email: 'ß@example.com' }, [one.id]);
    await matches(store.users, { email: one.email ?? '' }, []);
    for (const by of ['name', 'email', 'updatedAt'] as const) {
      const walked = await walk(store.users, { filter: {}, order: { by, direction: 'asc' } });
      assert.deepEqual(idsOf(walked), [two.id, one.id], `by ${by}`);
    }
    await store.users.delete(one.id, { posts: 'refuse' });
    await matches(store.users, { name: 'C' }, []);
    await matches(store.users, {}, [two.id]);
  });
}
