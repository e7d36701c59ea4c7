import { checkPrecondition } from '../domain/records/precondition.ts';
import type { Versioned } from '../domain/records/record.ts';
import type { User } from '../domain/records/user.ts';
import { assert, expectEqual, expectRecord, expectReplay, race } from './assertions.ts';
import { later, newReceipt, post, times, user } from './fixtures.ts';
import { insert, list, readAll, recordsOf } from './lists/lists.ts';
import type { Suite } from './suite.ts';

/** Calls that race: they take effect one after another. */
export function describeRaces(suite: Suite): void {
  describeRecordRaces(suite);
  describeReceiptRaces(suite);
  describeEmailRaces(suite);
}

function describeRecordRaces({ testEach }: Suite): void {
  testEach('one of 20 creations with the same id wins', async ({ records, make, remove }) => {
    // First the id is new, then that of a deleted record.
    for (const version of [1, 2]) {
      const { returned, errors } = await race(times(20, () => records.create(make({ id: 'one' }))));
      expectEqual('the errors of 20 creations with one id', errors, { 'id-taken': 19 });
      for (const { record } of returned) {
        expectRecord(await records.get('one'), record, version);
      }
      await remove('one');
    }
  });

  testEach('racing creations and deletions never use a version twice', async (resource) => {
    const { records, make, remove } = resource;
    const versions: number[] = [];
    const calls = times(40, async (n) => {
      const isCreation = n % 2 === 0;
      const { returned, errors } = await race<{ version: number } | boolean>([
        isCreation ? records.create(make({ id: 'one' })) : remove('one'),
      ]);
      const { 'id-taken': _, ...others } = errors;
      expectEqual('the errors of creations and deletions', others, {});
      for (const result of returned) if (typeof result === 'object') versions.push(result.version);
    });
    await Promise.all(calls);
    const expected = times(versions.length, (n) => n + 1);
    expectEqual(
      'the versions of creations',
      versions.toSorted((a, b) => a - b),
      expected,
    );
    expectEqual('lastVersion', await records.lastVersion('one'), versions.length);
  });

  testEach('50 concurrent changes are all applied', async ({ records, make }) => {
    const first = make({ n: 0 });
    await insert(records, [first]);
    const calls = times(50, () =>
      records.update(first.id, ({ record }) => ({ ...record, n: Number(record.n) + 1 })),
    );
    const { returned, errors } = await race(calls);
    expectEqual('the errors of 50 changes', errors, {});
    expectRecord(await records.get(first.id), { ...first, n: 50 }, 51);
    const versions = returned.map((stored) => Number(stored?.version)).toSorted((a, b) => a - b);
    const expected = times(50, (n) => n + 2);
    expectEqual('the versions that 50 changes returned', versions, expected);
  });

  testEach('one change or deletion of each version wins', async ({ records, make, remove }) => {
    // First changes only, then as many deletions, which start first in every second round.
    for (const [round, count] of [50, 20, 20, 20].entries()) {
      const [id = ''] = await insert(records, [make()]);
      const change = (n: number) =>
        records.update(id, ({ record, version }) => {
          checkPrecondition({ only: [1] }, version);
          return { ...record, n };
        });
      const calls = times<Promise<unknown>>(count, (n) =>
        round > 0 && n % 2 === round % 2
          ? remove(id, ({ version }) => checkPrecondition({ only: [1] }, version))
          : change(n),
      );
      const { returned, errors } = await race(calls);
      const wins = returned.filter((result) => result !== undefined && result !== false);
      expectEqual('the number of calls that won', wins.length, 1);
      const left = await records.get(id);
      expectEqual('the version that is left', left?.version ?? 0, wins[0] === true ? 0 : 2);
      if (left) expectEqual('the errors', errors, { 'version-mismatch': count - 1 });
    }
  });

  testEach('a reader never sees half of a change', async ({ records, make }) => {
    const first = make({ a: 0, b: { c: 0 } });
    await insert(records, [first]);
    const writes = times(20, (n) =>
      records.update(first.id, ({ record }) => ({ ...record, a: n, b: { c: n } })),
    );
    const reads = times(20, async () => {
      const got = await records.get(first.id);
      const { items } = await list(records);
      for (const seen of [got, items[0]]) {
        expectEqual('a field that changes with another one', seen?.record.b, { c: seen?.record.a });
        if (seen?.version === 1) expectRecord(seen, first);
      }
    });
    await Promise.all([...writes, ...reads]);
  });
}

/** Creations that race under one key. */
function describeReceiptRaces({ test, testEach }: Suite): void {
  testEach('one of 20 creations under the same receipt wins', async ({ records, make }) => {
    const receipt = newReceipt();
    // No replay of a user reports its own email address as taken.
    const repeat = () => records.create(make({ email: 'one@example.com' }), receipt);
    const { returned, errors } = await race(times(20, repeat));
    expectEqual('the errors of 20 creations under one receipt', errors, {});
    const created = returned.filter(({ replayed }) => !replayed);
    expectEqual('the number of new records', created.length, 1);
    for (const creation of returned) expectRecord(creation, created[0]?.record ?? make());
    expectEqual('the stored records', await readAll(records), recordsOf(created));
  });

  test('a failed creation does not use up its key', async ({ posts }) => {
    const receipt = newReceipt();
    const create = (n: number) =>
      posts.create(post({ authorId: n % 2 ? null : 'nobody' }), receipt);
    const { returned } = await race(times(20, create));
    assert(returned.length >= 10, `only ${returned.length} of 10 valid creations returned`);
    const created = returned.filter(({ replayed }) => !replayed);
    expectEqual('the number of new posts', created.length, 1);
    for (const { record } of returned) await expectReplay(posts, receipt, record);
  });
}

/** Addresses that are taken, freed and swapped in a race. */
function describeEmailRaces({ test }: Suite): void {
  test('one of 40 creations and changes to the same email address wins', async ({ users }) => {
    const email = (n: number) => (n % 3 === 0 ? 'one@example.com' : 'ONE@Example.com');
    const movers = times(20, () => user());
    await insert(users, movers);
    const calls = movers.flatMap(({ id }, n) => [
      users.create(user({ email: email(n) }), n % 5 ? undefined : newReceipt()),
      users.update(id, ({ record }) => ({ ...record, email: email(n + 1) })),
    ]);
    const { returned, errors } = await race<Versioned<User> | undefined>(calls);
    expectEqual('the errors of 40 calls for one address', errors, { 'email-taken': 39 });
    const holders = (await readAll(users)).filter((one) => /^one@/i.test(one.email ?? ''));
    expectEqual('the users with the address', holders, [returned[0]?.record]);
  });

  test('two users cannot swap email addresses concurrently', async ({ users }) => {
    for (let round = 0; round < 3; round++) {
      const one = user();
      const two = user();
      await insert(users, [one, two]);
      const { errors } = await race([
        users.update(one.id, ({ record }) => ({ ...record, email: two.email })),
        users.update(two.id, ({ record }) => ({ ...record, email: one.email })),
      ]);
      expectEqual('the errors of a swap', errors, { 'email-taken': 2 });
      expectRecord(await users.get(one.id), one);
      expectRecord(await users.get(two.id), two);
    }
  });

  test('a freed email address goes to at most one user', async ({ users }) => {
    for (let round = 0; round < 6; round++) {
      const holder = user();
      await insert(users, [holder]);
      const { email, id } = holder;
      const free = () =>
        round % 2
          ? users.delete(id, 'refuse', later)
          : users.update(id, ({ record }) => ({ ...record, email: null }));
      // In every third round, the takers start first.
      const early = round % 3 === 0 ? undefined : free();
      const takers = race(times(6, () => users.create(user({ email }))));
      await (early ?? free());
      const { returned } = await takers;
      assert(returned.length <= 1, `${returned.length} users took one address`);
      const holders = (await readAll(users)).filter((one) => one.email === email);
      expectEqual('the users with the address', holders, recordsOf(returned));
    }
  });
}
