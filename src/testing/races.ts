import { checkPrecondition } from '../domain/precondition.ts';
import type { Versioned } from '../domain/record.ts';
import type { User } from '../domain/user.ts';
import { absent, check, is, race, repeats, same } from './assertions.ts';
import { later, post, receipt, times, user } from './fixtures.ts';
import { pageOf, put, recordsOf, walk } from './lists.ts';
import type { Suite } from './suite.ts';

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
    is('errors of 20 creations with one id', raised, { 'id-taken': 19 });
    for (const { record } of returned) same(await records.get('one'), record);
  });

  both('50 changes without a condition all land', async ({ records, make }) => {
    const first = make({ n: 0 });
    await put(records, [first]);
    const calls = times(50, () =>
      records.update(first.id, ({ record }) => ({ ...record, n: Number(record.n) + 1 })),
    );
    const { returned, raised } = await race(calls);
    is('errors of 50 changes', raised, {});
    same(await records.get(first.id), { ...first, n: 50 }, 51);
    const told = returned.map((stored) => Number(stored?.version)).toSorted((a, b) => a - b);
    is(
      'versions that 50 changes returned',
      told,
      times(50, (n) => n + 2),
    );
    for (const stored of returned)
      same(stored, { ...first, n: Number(stored?.version) - 1 }, stored?.version);
  });

  both('of 20 deletions of one record, one finds it', async ({ records, make, remove }) => {
    const [id = ''] = await put(records, [make()]);
    const { returned } = await race(times(20, () => remove(id)));
    is('deletions that returned', returned.length, 20);
    is('deletions that found it', returned.filter((deleted) => deleted).length, 1);
  });

  both('of changes and deletions of one version, one wins', async ({ records, make, remove }) => {
    // At first there are changes alone, then as many deletions, which begin in every other round.
    for (const [round, count] of [50, 20, 20, 20].entries()) {
      const [id = ''] = await put(records, [make()]);
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
      const { returned, raised } = await race(calls);
      const wins = returned.filter((result) => result !== undefined && result !== false);
      is('calls that won', wins.length, 1);
      const left = await records.get(id);
      is('version that is left', left?.version ?? 0, wins[0] === true ? 0 : 2);
      if (left !== undefined)
        is('errors of calls that lost', raised, { 'version-mismatch': count - 1 });
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
        is('one field, read while another one changes with it', seen?.record.b, {
          c: seen?.record.a,
        });
        if (seen?.version === 1) same(seen, first);
      }
    });
    await Promise.all([...writes, ...reads]);
  });

  both('a read after an acknowledged change sees it', async ({ records, make, remove }) => {
    const readers = times(10, async (n) => {
      const record = make({ n });
      await records.create(record);
      same(await records.get(record.id), record);
      await records.update(record.id, (current) => ({ ...current.record, n: -n - 1 }));
      const { items } = await pageOf(records, { filter: { ids: [record.id] } });
      same(items[0], { ...record, n: -n - 1 }, 2);
      await remove(record.id);
      await absent(records, record.id);
    });
    await Promise.all(readers);
  });
}

/** Creations that race under one key. */
function describeReceiptRaces({ test, both }: Suite): void {
  both('of 20 creations under one receipt, one wins', async ({ records, make }) => {
    const key = receipt();
    // Of users, none may find its own email address taken.
    const repeat = () => records.create(make({ email: 'one@example.com' }), key);
    const { returned, raised } = await race(times(20, repeat));
    is('errors of 20 creations under one receipt', raised, {});
    const made = returned.filter(({ replayed }) => !replayed);
    is('new records', made.length, 1);
    for (const creation of returned) same(creation, made[0]?.record ?? make());
    is('records that are stored', await walk(records), recordsOf(made));
  });

  both('of different requests under one key, one wins', async ({ records, make }) => {
    const key = receipt();
    const calls = times(20, (n) =>
      records.create(make({ print: n % 2 }), { ...key, fingerprint: `print ${n % 2}` }),
    );
    const { returned, raised } = await race(calls);
    is('errors of 20 requests under one key', raised, { 'idempotency-key-reused': 10 });
    is('new records', returned.filter(({ replayed }) => !replayed).length, 1);
    is('records told', new Set(returned.map(({ record }) => record.id)).size, 1);
    is('records stored', (await walk(records)).length, 1);
  });

  test('of creations under one key, a failed one leaves it to others', async ({ posts }) => {
    const key = receipt();
    const create = (n: number) => posts.create(post({ authorId: n % 2 ? null : 'nobody' }), key);
    const { returned } = await race(times(20, create));
    check(returned.length >= 10, `only ${returned.length} of 10 valid creations returned`);
    is('new posts', returned.filter(({ replayed }) => !replayed).length, 1);
    for (const { record } of returned) await repeats(posts, key, record);
  });
}

/** Addresses that are taken, freed and swapped in a race, as of the commit. */
function describeEmailRaces({ test }: Suite): void {
  test('of 40 creations and moves to one email address, one wins', async ({ users }) => {
    const email = (n: number) => (n % 3 === 0 ? 'one@example.com' : 'ONE@Example.com');
    const movers = times(20, () => user());
    await put(users, movers);
    const calls = movers.flatMap(({ id }, n) => [
      users.create(user({ email: email(n) }), n % 5 ? undefined : receipt()),
      users.update(id, ({ record }) => ({ ...record, email: email(n + 1) })),
    ]);
    const { returned, raised } = await race<Versioned<User> | undefined>(calls);
    is('errors of 40 calls for one address', raised, { 'email-taken': 39 });
    const holders = (await walk(users)).filter((one) => /^one@/i.test(one.email ?? ''));
    is('users that have the address', holders, [returned[0]?.record]);
  });

  test('two users cannot swap their addresses in one go', async ({ users }) => {
    for (let round = 0; round < 3; round++) {
      const [one, two] = [user(), user()];
      await put(users, [one, two]);
      const { raised } = await race([
        users.update(one.id, ({ record }) => ({ ...record, email: two.email })),
        users.update(two.id, ({ record }) => ({ ...record, email: one.email })),
      ]);
      is('errors of a swap', raised, { 'email-taken': 2 });
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
      // Which one sets out first differs from round to round.
      const early = round % 3 === 0 ? undefined : free();
      const takers = race(times(6, () => users.create(user({ email }))));
      await (early ?? free());
      const won = (await takers).returned;
      check(won.length <= 1, `${won.length} users took one address`);
      const holders = (await walk(users)).filter((one) => one.email === email);
      is('users that have the address', holders, recordsOf(won));
    }
  });
}
