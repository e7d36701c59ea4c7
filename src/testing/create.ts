import { emailKey } from '../domain/fields/email.ts';
import {
  createNew,
  expectAbsent,
  expectEqual,
  expectError,
  expectRecord,
  quote,
} from './assertions.ts';
import {
  knownIds,
  longTexts,
  newReceipt,
  post,
  ticks,
  times,
  unknownIds,
  user,
} from './fixtures.ts';
import { eq, expectMatches, insert, list } from './lists/lists.ts';
import type { Suite } from './suite.ts';

/** Creations: email addresses and authors. Random walks repeat ids and receipts. */
export function describeCreate(suite: Suite): void {
  describeIds(suite);
  describeEmails(suite);
  describeAuthors(suite);
}

function describeIds({ testEach }: Suite): void {
  testEach('stores a record whose id is said to be new', async ({ records, make }) => {
    const record = make();
    const created = await records.create(record, newReceipt(), { isNewId: true });
    expectRecord(created, record, 1);
    expectRecord(await records.get(record.id), record, 1);
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
  test('rejects every spelling of a taken email address, except from its own user', async (store) => {
    const { users } = store;
    for (const [email, again] of equalAddresses) {
      expectEqual(`the key of ${again}`, emailKey(again), emailKey(email));
      const one = user({ email });
      const two = user();
      await insert(users, [one, two]);
      await expectError(users.create(user({ email: again })), 'email-taken');
      const moved = users.update(two.id, ({ record }) => ({ ...record, email: again }));
      await expectError(moved, 'email-taken');
      expectRecord(await users.get(two.id), two);
      const changed = await users.update(one.id, ({ record }) => ({ ...record, email: again }));
      expectRecord(changed, { ...one, email: again }, 2);
    }
    const others = differentNames.map((name) => `${name}@example.com`);
    for (const email of [...others, null, null, null]) await users.create(user({ email }));
  });
}

function describeAuthors({ test, testEach }: Suite): void {
  test('rejects an unknown author', async ({ users, posts }) => {
    const authors = knownIds.map((id) => user({ id }));
    await insert(users, authors);
    const theirs = knownIds.map((authorId) => post({ authorId }));
    await insert(posts, theirs);
    for (const authorId of [...unknownIds, ...theirs.map(({ id }) => id)]) {
      await expectMatches(posts, [eq('authorId', authorId)], []);
      const record = post({ authorId });
      await expectError(posts.create(record), 'invalid-record');
      await expectAbsent(posts, record.id, `a post of ${quote(authorId)}`);
    }
  });

  testEach('a rejected creation stores nothing', async (resource, store) => {
    const { name, records, make } = resource;
    const first = user();
    const record = make();
    const receipt = newReceipt();
    await createNew(store.users, first);
    const [wrong, code] =
      name === 'users'
        ? ([{ email: first.email }, 'email-taken'] as const)
        : ([{ authorId: 'nobody' }, 'invalid-record'] as const);
    const refusal = expectError(records.create({ ...record, ...wrong }, receipt), code);
    const readers = times(6, async (n) => {
      await ticks(n);
      await expectAbsent(records, record.id, 'a record that will be refused');
      const { items } = await list(records, { conditions: [eq('id', record.id)] });
      expectEqual('the list of a record that will be refused', items, []);
    });
    await Promise.all([refusal, ...readers]);
    const last = await records.lastVersion(record.id);
    expectEqual('lastVersion of a refused record', last, undefined);
    await createNew(records, record, receipt);
  });
}
