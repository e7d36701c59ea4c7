import assert from 'node:assert/strict';
import { at, post, user } from './fixtures.ts';
import type { Suite } from './suite.ts';
import { idsOf, walk } from './walk.ts';

/** Texts in the order of their code points; UTF-16, a locale or a collation has another. */
const byCodePoint = [
  ...['!', '10', '9', 'A', 'AA', 'Aa', 'B', 'Z', '_', 'a', 'a a', 'aA', 'aa', 'ab', 'b', 'e'],
  ...[
    'e\u0301',
    'f',
    'z',
    '\u00a0x',
    'ß',
    'à',
    'é',
    'Ā',
    'я',
    '漢',
    '\ud7ff',
    '\ue000',
    'ｚ',
    '～',
  ],
  ...['\ufffd', '\uffff', '\uffffa', '𐀀', '😀', '😀a', '\u{10ffff}'],
];

/** Addresses in the order of their keys. */
const byEmailKey = [
  ...['!@example.com', '1@example.com', 'a-b@example.com', 'a.b@example.com', 'A@example.com'],
  ...['AA@example.com', 'b@example.com', 'C@example.com', 'e\u0300@example.com', 'É@example.com'],
  ...['я@example.com', 'Ｚ@example.com', '𐀀@example.com'],
];

/** Texts sort by code point wherever a text is sorted by. */
export function describeTextOrders({ test }: Suite): void {
  for (const direction of ['asc', 'desc'] as const) {
    const expected = (texts: string[]) => (direction === 'asc' ? texts : texts.toReversed());

    test(`names sort by code point, ${direction}`, async ({ users }) => {
      await Promise.all(mixed(byCodePoint).map((name) => users.create(user({ name }))));
      const walked = await walk(users, { filter: {}, order: { by: 'name', direction } });
      assert.deepEqual(
        walked.map(({ name }) => name),
        expected(byCodePoint),
      );
    });

    test(`titles sort by code point, ${direction}`, async ({ posts }) => {
      await Promise.all(mixed(byCodePoint).map((title) => posts.create(post({ title }))));
      const walked = await walk(posts, { filter: {}, order: { by: 'title', direction } });
      assert.deepEqual(
        walked.map(({ title }) => title),
        expected(byCodePoint),
      );
    });

    test(`emails sort by key and code point, a missing one before all, ${direction}`, async ({
      users,
    }) => {
      const emails = [...mixed(byEmailKey), null, null];
      await Promise.all(emails.map((email) => users.create(user({ email }))));
      const walked = await walk(users, { filter: {}, order: { by: 'email', direction } });
      const got = walked.map(({ email }) => email);
      const nulls = direction === 'asc' ? got.splice(0, 2) : got.splice(-2);
      assert.deepEqual(nulls, [null, null]);
      assert.deepEqual(got, expected(byEmailKey));
    });

    test(`ids break ties by code point, ${direction}`, async (store) => {
      const order = { by: 'createdAt', direction } as const;
      await Promise.all(
        mixed(byCodePoint).flatMap((id) => [
          store.users.create(user({ id, createdAt: at(0) })),
          store.posts.create(post({ id, createdAt: at(0) })),
        ]),
      );
      assert.deepEqual(
        idsOf(await walk(store.users, { filter: {}, order })),
        expected(byCodePoint),
      );
      assert.deepEqual(
        idsOf(await walk(store.posts, { filter: {}, order })),
        expected(byCodePoint),
      );
    });
  }
}

/** Out of order, so that the order of insertion is none of the orders that are asked for. */
function mixed<T>(items: readonly T[]): T[] {
  return items.map((_, n) => items[(n * 5 + 3) % items.length] as T);
}
