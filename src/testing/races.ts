import assert from 'node:assert/strict';
import { emailKey } from '../domain/email.ts';
import { checkPrecondition } from '../domain/precondition.ts';
import { counts, race, repeats, same } from './assertions.ts';
import { later, post, receipt, times, user } from './fixtures.ts';
import { pageOf, put, walk } from './lists.ts';
import type { Suite } from './suite.ts';

const onlyAtOne = { only: [1] };

/** Calls that race: each sees what the one before it left. */
export function describeRaces(suite: Suite): void {
  describeRecordRaces(suite);
  describeReceiptRaces(suite);
  describeEmailRaces(suite);
}

function describeRecordRaces({ both }: Suite): void {
  both('of 20 creations with one id, one wins', async ({ records, make }) => {
    const calls = times(20, () => records.create(make({ id: 'one' })));
    const { returned, raised } = await race(calls);
    assert.deepEqual(raised, { 'id-taken': 19 });
    for (const { record } of returned) same(await records.get('one'), record);
  });

  both('of 50 changes to one version, one wins', async ({ records, make }) => {
    const first = make();
    await put(records, [first]);
    const calls = times(50, (n) =>
      records.update(first.id, ({ record, version }) => {
        checkPrecondition(onlyAtOne, version);
        return { ...record, n };
      }),
    );
    const { returned, raised } = await race(calls);
    assert.deepEqual(raised, { 'version-mismatch': 49 });
    for (const won of returned) same(await records.get(first.id), won?.record ?? first, 2);
  });

  both('50 changes without a condition all land', async ({ records, make }) => {
    const first = make({ n: 0 });
    await put(records, [first]);
    const calls = times(50, () =>
      records.update(first.id, ({ record }) => ({ ...record, n: Number(record.n) + 1 })),
    );
    const { returned, raised } = await race(calls);
    assert.deepEqual(raised, {});
    same(await records.get(first.id), { ...first, n: 50 }, 51);
    const told = returned.map((stored) => [Number(stored?.version), Number(stored?.record.n)]);
    assert.deepEqual(
      told.toSorted(([a = 0], [b = 0]) => a - b),
      times(50, (n) => [n + 2, n + 1]),
      'a call returned what another one stored',
    );
  });

  both('of 20 deletions of one record, one finds it', async ({ records, make, remove }) => {
    const [id = ''] = await put(records, [make()]);
    const { returned } = await race(times(20, () => remove(id)));
    counts('deletions that returned', returned.length, 20);
    counts('deletions that found it', returned.filter((deleted) => deleted).length, 1);
  });

  both('of changes and deletions of one version, one wins', async ({ records, make, remove }) => {
    for (let round = 0; round < 4; round++) {
      const [id = ''] = await put(records, [make()]);
      const change = (n: number) =>
        records.update(id, ({ record, version }) => {
          checkPrecondition(onlyAtOne, version);
          return { ...record, n };
        });
      const calls = times<Promise<unknown>>(20, (n) =>
        n % 2 === round % 2
          ? remove(id, ({ version }) => checkPrecondition(onlyAtOne, version))
          : change(n),
      );
      const { returned, raised } = await race(calls);
      const wins = returned.filter((result) => result !== undefined && result !== false);
      counts('calls that won', wins.length, 1);
      const left = await records.get(id);
      counts('version that is left', left?.version ?? 0, wins[0] === true ? 0 : 2);
      if (left !== undefined) assert.deepEqual(raised, { 'version-mismatch': 19 });
    }
  });

  both('a reader never sees half of a change', async ({ records, make }) => {
    const first = make({ a: 0, b: { c: 0 } });
    await put(records, [first]);
    const writes = times(20, (n) =>
      records.update(first.id, ({ record }) => ({ ...record, a: n, b: { c: n } })),
    );
    const reads = times(20, async () => {
      const got = await records.get(first.id);
      const { items } = await pageOf(records);
      for (const seen of [got, items[0]]) {
        assert.deepEqual(seen?.record.b, { c: seen?.record.a });
        if (seen?.version === 1) same(seen, first);
      }
    });
    await Promise.all([...writes, ...reads]);
  });
}

/** Creations that race under one key. */
function describeReceiptRaces({ test, both }: Suite): void {
  both('of 20 creations under one receipt, one wins', async ({ records, make }) => {
    const key = receipt();
    const { returned, raised } = await race(times(20, () => records.create(make(), key)));
    assert.deepEqual(raised, {});
    const [made, ...others] = returned.filter(({ replayed }) => !replayed);
    counts('creations besides the first', others.length, 0);
    for (const creation of returned) same(creation, made?.record ?? make());
    assert.deepEqual(await walk(records), [made?.record]);
  });

  both('of different requests under one key, one wins', async ({ records, make }) => {
    const key = receipt();
    const calls = times(20, (n) =>
      records.create(make({ print: n % 2 }), { ...key, fingerprint: `print ${n % 2}` }),
    );
    const { returned, raised } = await race(calls);
    assert.deepEqual(raised, { 'idempotency-key-reused': 10 });
    counts('new records', returned.filter(({ replayed }) => !replayed).length, 1);
    counts('records told', new Set(returned.map(({ record }) => record.id)).size, 1);
    counts('records stored', (await walk(records)).length, 1);
  });

  test('of 20 repeats, none finds its own email address taken', async ({ users }) => {
    const key = receipt();
    const repeat = () => users.create(user({ email: 'one@example.com' }), key);
    const { returned, raised } = await race(times(20, repeat));
    assert.deepEqual(raised, {});
    counts('new users', returned.filter(({ replayed }) => !replayed).length, 1);
    counts('users stored', (await walk(users)).length, 1);
  });

  test('of creations under one key, a failed one leaves it to others', async ({ posts }) => {
    const key = receipt();
    const create = (n: number) => posts.create(post({ authorId: n % 2 ? null : 'nobody' }), key);
    const { returned } = await race(times(20, create));
    assert.ok(returned.length >= 10, `only ${returned.length} of 10 valid creations returned`);
    counts('new posts', returned.filter(({ replayed }) => !replayed).length, 1);
    for (const { record } of returned) await repeats(posts, key, record);
  });
}

/** Addresses that are taken, freed and swapped in a race, as of the commit. */
function describeEmailRaces({ test }: Suite): void {
  test('of 50 creations with one email address, one wins', async ({ users }) => {
    const email = (n: number) => (n % 2 === 0 ? 'one@example.com' : 'ONE@Example.com');
    const calls = times(50, (n) =>
      users.create(user({ email: email(n) }), n % 5 ? undefined : receipt()),
    );
    const { returned, raised } = await race(calls);
    assert.deepEqual(raised, { 'email-taken': 49 });
    assert.deepEqual(await walk(users), [returned[0]?.record]);
  });

  test('of 20 users who move to one email address, one wins', async ({ users }) => {
    const records = times(20, () => user());
    await put(users, records);
    const email = 'one@example.com';
    const calls = records.map(({ id }) => users.update(id, ({ record }) => ({ ...record, email })));
    const { returned, raised } = await race(calls);
    assert.deepEqual(raised, { 'email-taken': 19 });
    const holders = (await walk(users)).filter((record) => record.email === email);
    assert.deepEqual(holders, [returned[0]?.record]);
  });

  test('two users cannot swap their addresses in one go', async ({ users }) => {
    for (let round = 0; round < 3; round++) {
      const [one, two] = [user(), user()];
      await put(users, [one, two]);
      const { raised } = await race([
        users.update(one.id, ({ record }) => ({ ...record, email: two.email })),
        users.update(two.id, ({ record }) => ({ ...record, email: one.email })),
      ]);
      assert.deepEqual(raised, { 'email-taken': 2 });
      same(await users.get(one.id), one);
      same(await users.get(two.id), two);
    }
  });

  test('an address that is freed in a race goes to one user at most', async ({ users }) => {
    for (let round = 0; round < 6; round++) {
      const holder = user();
      await put(users, [holder]);
      const { email, id } = holder;
      const free = () =>
        round % 2
          ? users.delete(id, 'refuse', later)
          : users.update(id, ({ record }) => ({ ...record, email: null }));
      // Who sets out first differs from round to round.
      const early = round % 3 === 0 ? undefined : free();
      const takers = race(times(6, () => users.create(user({ email }))));
      await (early ?? free());
      const won = (await takers).returned.length;
      assert.ok(won <= 1, `${won} users took one address`);
      const holders = await walk(users, { filter: { email: email ?? '' } });
      counts('users who have the address', holders.length, won);
      const keys = (await walk(users)).flatMap((one) => one.email ?? []).map(emailKey);
      counts('different addresses', new Set(keys).size, keys.length);
    }
  });
}
