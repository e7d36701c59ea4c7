import { emailKey } from '../domain/email.ts';
import type { Receipt } from '../domain/receipt.ts';
import type { Entity } from '../domain/record.ts';
import {
  createNew,
  expectAbsent,
  expectEqual,
  expectError,
  expectRecord,
  expectReplay,
  quote,
} from './assertions.ts';
import {
  at,
  digest,
  knownIds,
  later,
  longTexts,
  post,
  receipt,
  ticks,
  times,
  unknownIds,
  user,
} from './fixtures.ts';
import { eq, expectMatches, insert, list } from './lists.ts';
import type { Suite } from './suite.ts';

/** Creations: ids, email addresses, authors, receipts. */
export function describeCreate(suite: Suite): void {
  describeIds(suite);
  describeEmails(suite);
  describeAuthors(suite);
  describeReceipts(suite);
}

function describeIds({ test, both }: Suite): void {
  both('refuses the id of an existing record', async ({ records, make }) => {
    const first = make();
    expectEqual('lastVersion of a new id', await records.lastVersion(first.id), undefined);
    await createNew(records, first);
    await records.update(first.id, ({ record }) => ({ ...record, n: 1 }));
    for (const key of [undefined, receipt()]) {
      const call = records.create(make({ id: first.id }), key);
      expectEqual('the details', await expectError(call, 'id-taken'), { id: first.id });
    }
    expectRecord(await records.get(first.id), { ...first, n: 1 }, 2);
    expectEqual('lastVersion of the record', await records.lastVersion(first.id), 2);
  });

  both('continues the versions of a deleted record with the same id', async (resource) => {
    const { records, make, remove } = resource;
    const { id } = make();
    const keys: Receipt[] = [];
    const replays = async () => {
      for (const [n, key] of keys.entries()) {
        const replay = await records.create(make(), key);
        expectEqual('the version of a replay', replay.version, 1 + 2 * n);
        expectEqual('the number of the replayed record', replay.record.n, n);
      }
    };
    for (let n = 0; n < 4; n++) {
      const [record, key, version] = [make({ id, n }), receipt(), 1 + 2 * n];
      keys.push(key);
      await createNew(records, record, key, version);
      expectRecord(await records.get(id), record, version);
      expectRecord((await list(records)).items[0], record, version);
      expectEqual('lastVersion', await records.lastVersion(id), version);
      const changed = await records.update(id, (current) => ({ ...current.record, changed: n }));
      expectRecord(changed, { ...record, changed: n }, version + 1);
      await replays();
      await expectError(records.create(make({ id })), 'id-taken');
      const deleted = await remove(id, (current) => {
        expectEqual('the version of the argument of a guard', current.version, version + 1);
      });
      expectEqual('the result of delete', deleted, true);
      expectEqual('lastVersion of the deleted record', await records.lastVersion(id), version + 1);
      await replays();
      await expectAbsent(records, id);
    }
  });

  test('the author of posts that were deleted can be created again, and so can they', async (store) => {
    const { users, posts } = store;
    for (const mode of ['delete', 'keep'] as const) {
      const author = user();
      const record = post({ authorId: author.id });
      await insert(users, [author]);
      await insert(posts, [record]);
      await users.delete(author.id, mode, later);
      await expectError(posts.create(post({ authorId: author.id })), 'invalid-record');
      await createNew(users, author, undefined, 2);
      await expectMatches(posts, [eq('authorId', author.id)], []);
      if (mode === 'delete') await createNew(posts, record, undefined, 2);
      else await expectError(posts.create(record), 'id-taken');
      expectEqual('lastVersion of the post', await posts.lastVersion(record.id), 2);
    }
  });

  test('reports a taken id before a taken email and an unknown author', async (store) => {
    const { users, posts } = store;
    const [first, record] = [user(), post()];
    await insert(users, [first]);
    await insert(posts, [record]);
    await expectError(users.create(user({ id: first.id, email: first.email })), 'id-taken');
    await expectError(posts.create(post({ id: record.id, authorId: 'nobody' })), 'id-taken');
  });
}

/** Two spellings of one address. */
const equalAddresses = [
  ['ada@example.com', 'ADA@Example.Com'],
  ['éva@example.com', 'E\u0301VA@example.com'],
  ['k@example.com', '\u212a@example.com'],
  ['я@example.com', 'Я@example.com'],
  ['𐐨@example.com', '𐐀@example.com'],
  ['u@münchen.example', 'U@xn--mnchen-3ya.example'],
] as const;

/** Local parts of different addresses that a collation could confuse. */
const differentNames = [
  ...['ss', 's', 'e', 'é', 'ａ', 'a', 'i', 'ı', 'a.b', 'ab', 'a+b', 'a_b', 'axb', '%', 'æ', 'ae'],
  ...['o', 'ø', 'ö', "'", ...longTexts(240)],
];

function describeEmails({ test }: Suite): void {
  test('refuses any spelling of a taken address; its user can change the spelling', async (store) => {
    const { users } = store;
    for (const [email, again] of equalAddresses) {
      expectEqual(`the key of ${again}`, emailKey(again), emailKey(email));
      const [one, two] = [user({ email }), user()];
      await insert(users, [one, two]);
      await expectError(users.create(user({ email: again })), 'email-taken');
      const moved = users.update(two.id, ({ record }) => ({ ...record, email: again }));
      await expectError(moved, 'email-taken');
      expectRecord(await users.get(two.id), two);
      const changed = await users.update(one.id, ({ record }) => ({ ...record, email: again }));
      expectRecord(changed, { ...one, email: again }, 2);
    }
  });

  test('accepts similar addresses, and any number of users without one', async ({ users }) => {
    const emails = differentNames.map((name) => `${name}@example.com`);
    for (const email of [...emails, null, null, null]) await users.create(user({ email }));
  });
}

function describeAuthors({ test, both }: Suite): void {
  test('refuses an unknown author', async ({ users, posts }) => {
    await insert(
      users,
      knownIds.map((id) => user({ id })),
    );
    const theirs = knownIds.map((authorId) => post({ authorId }));
    await insert(posts, theirs);
    for (const authorId of [...unknownIds, ...theirs.map(({ id }) => id)]) {
      await expectMatches(posts, [eq('authorId', authorId)], []);
      const record = post({ authorId });
      await expectError(posts.create(record), 'invalid-record');
      await expectAbsent(posts, record.id, `a post of ${quote(authorId)}`);
    }
  });

  both('a refused creation leaves nothing behind', async (resource, store) => {
    const { name, records, make } = resource;
    const [first, record, key] = [user(), make(), receipt()];
    await createNew(store.users, first);
    const [wrong, code] =
      name === 'users'
        ? ([{ email: first.email }, 'email-taken'] as const)
        : ([{ authorId: 'nobody' }, 'invalid-record'] as const);
    const refusal = expectError(records.create({ ...record, ...wrong }, key), code);
    const readers = times(6, async (n) => {
      await ticks(n);
      await expectAbsent(records, record.id, 'a record that will be refused');
      const { items } = await list(records, { conditions: [eq('id', record.id)] });
      expectEqual('the list of a record that will be refused', items, []);
    });
    await Promise.all([refusal, ...readers]);
    const last = await records.lastVersion(record.id);
    expectEqual('lastVersion of a refused record', last, undefined);
    await createNew(records, record, key);
  });

  both('a refused creation leaves a deleted id at its last version', async (resource, store) => {
    const { name, records, make, remove } = resource;
    const [first, record] = [user(), make()];
    await createNew(store.users, first);
    await insert(records, [record]);
    await remove(record.id);
    const wrong = name === 'users' ? { email: first.email } : { authorId: 'nobody' };
    const code = name === 'users' ? 'email-taken' : 'invalid-record';
    await expectError(records.create({ ...record, ...wrong }, receipt()), code);
    expectEqual('lastVersion', await records.lastVersion(record.id), 1);
    await expectAbsent(records, record.id);
    await createNew(records, record, undefined, 2);
  });
}

/** Creations that are safe to repeat. */
function describeReceipts({ test, both }: Suite): void {
  both('a repeated creation stores nothing and returns the first record', async (resource) => {
    const { records, make, remove } = resource;
    const [key, record, other] = [receipt(), make({ custom: { n: 1 } }), make()];
    await createNew(records, record, key);
    for (const again of [other, record]) await expectReplay(records, key, record, again);
    await expectAbsent(records, other.id);
    const changed = { ...record, custom: { n: 2 } };
    await records.update(record.id, () => changed);
    await expectReplay(records, key, record, other);
    expectRecord(await records.get(record.id), changed, 2);
    await remove(record.id);
    await expectReplay(records, key, record, other);
    await expectAbsent(records, record.id);
  });

  both('refuses a key with another fingerprint', async ({ records, make }) => {
    const [key, record, other] = [receipt(), make(), make()];
    await createNew(records, record, key);
    const reused = receipt({ key: key.key });
    for (const again of [other, record]) {
      await expectError(records.create(again, reused), 'idempotency-key-reused');
    }
    await expectAbsent(records, other.id);
    await expectReplay(records, key, record);
  });

  both('compares whole keys and fingerprints', async ({ records, make }) => {
    const first = receipt();
    const similar = (digest: string) => [`${digest.slice(0, -1)}f`, `e${digest.slice(1)}`];
    const record = make();
    await createNew(records, record, first);
    for (const key of similar(first.key)) await createNew(records, make(), { ...first, key });
    for (const fingerprint of similar(first.fingerprint)) {
      const reused = records.create(make(), { ...first, fingerprint });
      await expectError(reused, 'idempotency-key-reused');
    }
    await expectReplay(records, first, record);
  });

  test('keeps the receipts of users and of posts apart', async ({ users, posts }) => {
    const key = receipt();
    await createNew(users, user(), key);
    await createNew(posts, post(), key);
    const reused = posts.create(post(), receipt({ key: key.key }));
    await expectError(reused, 'idempotency-key-reused');
  });

  test('looks at the receipt before the email and the author', async ({ users, posts }) => {
    const check = async <R extends Entity>(
      records: Parameters<typeof createNew<R>>[0],
      [record, wrong]: readonly [R, R],
    ) => {
      const key = receipt();
      await createNew(records, record, key);
      await expectReplay(records, key, record, wrong);
      const reused = records.create(wrong, receipt({ key: key.key }));
      await expectError(reused, 'idempotency-key-reused');
    };
    const author = user();
    await check(users, [author, user({ email: author.email })]);
    await check(posts, [post({ authorId: author.id }), post({ authorId: 'nobody' })]);
  });

  both('a creation that failed on its id leaves no receipt', async ({ records, make }) => {
    const [key, first] = [receipt(), make()];
    await createNew(records, first);
    await expectError(records.create(make({ id: first.id }), key), 'id-taken');
    await createNew(records, make(), key);
  });

  both('a receipt expires at its "until", by the "from" of the next one', async (resource) => {
    const { records, make } = resource;
    const [first, second] = [make(), make()];
    const lasting = (from: number, until: number, fingerprint = 1) =>
      receipt({
        key: digest(1),
        fingerprint: digest(fingerprint),
        from: at(from),
        until: at(until),
      });
    await createNew(records, first, lasting(0, 1000));
    // Repeating does not extend it.
    for (const from of [0, 999]) {
      await expectReplay(records, lasting(from, from + 1000), first, second);
    }
    const reused = records.create(second, lasting(999, 1999, 2));
    await expectError(reused, 'idempotency-key-reused');
    await createNew(records, second, lasting(1000, 2000, 2));
    for (const from of [1000, 1999]) {
      await expectReplay(records, lasting(from, from + 1000, 2), second, make());
    }
    await createNew(records, make(), lasting(2000, 3000));
    expectRecord(await records.get(first.id), first);
  });

  both('dropping an expired receipt leaves the others', async ({ records, make }) => {
    const [short, long] = [receipt({ until: at(1000) }), receipt({ until: at(60_000) })];
    const record = make();
    await createNew(records, make(), short);
    await createNew(records, record, long);
    const next = { from: at(1000), until: at(70_000) };
    await createNew(records, make(), receipt(next));
    await createNew(records, make(), { ...short, ...next });
    await expectReplay(records, { ...long, ...next }, record);
  });
}
