import assert from 'node:assert/strict';
import { emailKey } from '../domain/email.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import { race } from './assertions.ts';
import { claim, times, user } from './fixtures.ts';
import type { Suite } from './suite.ts';
import { walk } from './walk.ts';

/** Addresses that are taken, freed and swapped in a race, as of the commit. */
export function describeEmailRaces({ test }: Suite): void {
  test('of 50 creations with one email address, one wins', async ({ users }) => {
    const email = (n: number) => (n % 2 === 0 ? 'one@example.com' : 'ONE@Example.com');
    const calls = times(50, (n) =>
      users.create(user({ email: email(n) }), n % 5 ? undefined : claim()),
    );
    const { returned, raised } = await race(calls);
    assert.deepEqual(raised, Array(49).fill('email-taken'));
    assert.deepEqual(await everyone(users), [returned[0]?.stored.record]);
  });

  test('of 20 users who move to one email address, one wins', async ({ users }) => {
    const records = times(20, () => user());
    await Promise.all(records.map((record) => users.create(record)));
    const email = 'one@example.com';
    const calls = records.map(({ id }) => users.update(id, ({ record }) => ({ ...record, email })));
    const { returned, raised } = await race(calls);
    assert.equal(returned.length, 1);
    assert.deepEqual(raised, Array(19).fill('email-taken'));
    const holders = (await everyone(users)).filter((record) => record.email === email);
    assert.deepEqual(holders, [returned[0]?.record]);
  });

  test('two users cannot swap their addresses in one go', async ({ users }) => {
    for (let round = 0; round < 3; round++) {
      const [one, two] = [user(), user()];
      await users.create(one);
      await users.create(two);
      const { raised } = await race([
        users.update(one.id, ({ record }) => ({ ...record, email: two.email })),
        users.update(two.id, ({ record }) => ({ ...record, email: one.email })),
      ]);
      assert.deepEqual(raised, ['email-taken', 'email-taken']);
      assert.deepEqual(await users.get(one.id), { record: one, version: 1 });
      assert.deepEqual(await users.get(two.id), { record: two, version: 1 });
    }
  });

  test('an address that is freed in a race goes to one user at most', async ({ users }) => {
    for (let round = 0; round < 6; round++) {
      const holder = user();
      await users.create(holder);
      const { email, id } = holder;
      const free = () =>
        round % 2
          ? users.delete(id, { posts: 'refuse' })
          : users.update(id, ({ record }) => ({ ...record, email: null }));
      // Who sets out first differs from round to round.
      const early = round % 3 === 0 ? undefined : free();
      const takers = race(times(6, () => users.create(user({ email }))));
      await (early ?? free());
      const won = (await takers).returned.length;
      assert.ok(won <= 1, `${won} users took one address`);
      const holders = await walk(users, {
        filter: { email: email ?? '' },
        order: { by: 'createdAt', direction: 'asc' },
      });
      assert.equal(holders.length, won);
      await unique(users);
    }
  });
}

function everyone(users: UserRepository) {
  return walk(users, { filter: {}, order: { by: 'createdAt', direction: 'asc' } });
}

async function unique(users: UserRepository): Promise<void> {
  const keys = (await everyone(users)).flatMap(({ email }) =>
    email === null ? [] : emailKey(email),
  );
  assert.equal(new Set(keys).size, keys.length, 'two users have one address');
}
