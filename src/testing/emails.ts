import assert from 'node:assert/strict';
import { raisesEmailTaken, same } from './assertions.ts';
import { later, receipt, user } from './fixtures.ts';
import { put, putEach } from './lists.ts';
import type { Suite } from './suite.ts';

/** Two ways to write one address, by the domain's key. */
const alike: readonly (readonly [string, string])[] = [
  ['ada@example.com', 'ADA@Example.Com'],
  ['éva@example.com', 'ÉVA@example.com'],
  ['éva@example.com', 'e\u0301va@example.com'],
  ['ÉVA@example.com', 'E\u0301va@example.com'],
  ['k@example.com', '\u212a@example.com'],
  ['я@example.com', 'Я@example.com'],
  ['ａ@example.com', 'Ａ@example.com'],
  ['𐐨@example.com', '𐐀@example.com'],
];

/** Different addresses, though some collation or other takes them for one. */
const different = [
  ...['ss@example.com', 'ß@example.com', 'e@example.com', 'é@example.com', 'ａ@example.com'],
  ...['a@example.com', 'i@example.com', 'ı@example.com', 'a.b@example.com', 'ab@example.com'],
  ...['a+b@example.com', 'a_b@example.com', 'axb@example.com', '%@example.com', 'æ@example.com'],
  ...['ae@example.com', 'o@example.com', 'ø@example.com', 'ö@example.com', "'@example.com"],
];

/** Email addresses are unique by the domain's key. */
export function describeEmails({ test }: Suite): void {
  for (const [first, second] of alike) {
    test(`${escaped(first)} and ${escaped(second)} are one address`, async ({ users }) => {
      const [one, two] = [user({ email: first }), user()];
      await put(users, [one, two]);
      await raisesEmailTaken(users.create(user({ email: second })));
      const move = users.update(two.id, ({ record }) => ({ ...record, email: second }));
      await raisesEmailTaken(move);
      same(await users.get(two.id), two);
      const own = await users.update(one.id, ({ record }) => ({ ...record, email: second }));
      same(own, { ...one, email: second }, 2);
    });
  }

  test('addresses that only look alike are different', async ({ users }) => {
    for (const email of different) await users.create(user({ email }));
  });

  test('a creation that meets a taken address writes nothing', async ({ users }) => {
    const [first, second] = [user(), user()];
    await put(users, [first]);
    const call = users.create({ ...second, email: first.email }, receipt());
    await raisesEmailTaken(call);
    assert.equal(await users.get(second.id), undefined);
  });

  test('any number of users may have no address', async ({ users }) => {
    await putEach(users, [1, 2, 3], () => user({ email: null }));
    for (const record of [user(), user()]) {
      await put(users, [record]);
      await users.update(record.id, (current) => ({ ...current.record, email: null }));
      same(await users.get(record.id), { ...record, email: null }, 2);
    }
  });

  test('an address that a user gave up is free', async ({ users }) => {
    const [first, second] = [user(), user()];
    await put(users, [first]);
    await users.update(first.id, ({ record }) => ({ ...record, email: null }));
    await put(users, [{ ...second, email: first.email }]);
    await raisesEmailTaken(users.update(first.id, () => first));
  });

  test('an address that a user moved to is taken, and the old one is free', async ({ users }) => {
    const first = user();
    await put(users, [first]);
    await users.update(first.id, ({ record }) => ({ ...record, email: 'new@example.com' }));
    await raisesEmailTaken(users.create(user({ email: 'NEW@example.com' })));
    await put(users, [user({ email: first.email })]);
  });

  test('a deleted user’s address is free, even while a receipt remembers it', async ({ users }) => {
    const first = user();
    await users.create(first, receipt());
    await users.delete(first.id, 'refuse', later);
    await put(users, [user({ email: first.email })]);
  });
}

/** Combining marks and look-alikes as `\u…`, so that a test's name tells them apart. */
function escaped(text: string): string {
  return text.replace(/[^ -~]/gu, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}
