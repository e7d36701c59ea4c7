import { isCleanText } from '../domain/text.ts';
import { absent, is, makes, raises, repeats, same, textOf } from './assertions.ts';
import {
  alikeIds,
  at,
  knownIds,
  longTexts,
  post,
  receipt,
  strangeIds,
  ticks,
  times,
  user,
} from './fixtures.ts';
import { matches, pageOf, put, putEach } from './lists.ts';
import type { Suite } from './suite.ts';

/** A new record: its id, what only a store can refuse, and receipts. */
export function describeCreate(suite: Suite): void {
  describeIds(suite);
  describeEmails(suite);
  describeAuthors(suite);
  describeReceipts(suite);
}

function describeIds({ test, both }: Suite): void {
  both('a taken id is refused, and that of a deleted record stays taken', async (resource) => {
    const { records, make, remove } = resource;
    const first = make();
    const isRefused = async () => {
      is('isIdTaken of a taken id', await records.isIdTaken(first.id), true);
      for (const key of [undefined, receipt()]) {
        const call = records.create(make({ id: first.id }), key);
        is('details of id-taken', await raises(call, 'id-taken'), { id: first.id });
      }
    };
    is('isIdTaken of a free id', await records.isIdTaken(first.id), false);
    await makes(records, first);
    await isRefused();
    same(await records.get(first.id), first);
    await remove(first.id);
    await isRefused();
    await absent(records, first.id);
  });

  test('a taken id is told before a taken email and an unknown author', async (store) => {
    const { users, posts } = store;
    const [first, record] = [user(), post()];
    await put(users, [first]);
    await put(posts, [record]);
    await raises(users.create(user({ id: first.id, email: first.email })), 'id-taken');
    await raises(posts.create(post({ id: record.id, authorId: 'nobody' })), 'id-taken');
  });
}

/** Two ways to write one address, by the domain's key. */
const alike = [
  ['ada@example.com', 'ADA@Example.Com'],
  ['éva@example.com', 'ÉVA@example.com'],
  ['ëva@example.com', 'e\u0308va@example.com'],
  ['ÊVA@example.com', 'E\u0302va@example.com'],
  ['k@example.com', '\u212a@example.com'],
  ['я@example.com', 'Я@example.com'],
  ['νικος@example.com', 'ΝΙΚΟΣ@example.com'],
  ['ß@example.com', 'SS@example.com'],
  ['u@münchen.example', 'U@xn--mnchen-3ya.example'],
  ['ａ@example.com', 'Ａ@example.com'],
  ['𐐨@example.com', '𐐀@example.com'],
] as const;

/** Different addresses, though some collation or other takes them for one. */
const different = [
  ...['e', 'é', 'ａ', 'a', 'i', 'ı', 'a.b', 'ab', 'a+b', 'a_b', 'axb', '%', 'æ', 'ae'],
  ...['o', 'ø', 'ö', "'", ...longTexts(240)],
];

function describeEmails({ test }: Suite): void {
  test('one address in two ways of writing is taken, and its user may rewrite it', async (store) => {
    const { users } = store;
    for (const [email, again] of alike) {
      const [one, two] = [user({ email }), user()];
      await put(users, [one, two]);
      await raises(users.create(user({ email: again })), 'email-taken');
      const moved = users.update(two.id, ({ record }) => ({ ...record, email: again }));
      await raises(moved, 'email-taken');
      same(await users.get(two.id), two);
      const rewritten = await users.update(one.id, ({ record }) => ({ ...record, email: again }));
      same(rewritten, { ...one, email: again }, 2);
    }
  });

  test('addresses that only look alike are different, and any number has none', async (store) => {
    const emails = different.map((name) => `${name}@example.com`);
    emails.push('a@fass.de', 'a@faß.de');
    for (const email of [...emails, null, null, null]) await store.users.create(user({ email }));
  });
}

function describeAuthors({ test, both }: Suite): void {
  test('a user who is not there is no author', async ({ users, posts }) => {
    await putEach(users, knownIds, (id) => user({ id }));
    const theirs = await putEach(posts, knownIds, (authorId) => post({ authorId }));
    for (const authorId of [...strangeIds, ...theirs]) {
      await matches(posts, { authorId }, []);
      if (!isCleanText(authorId)) continue; // No valid record names it.
      const record = post({ authorId });
      await raises(posts.create(record), 'invalid-record');
      await absent(posts, record.id, `a post of ${textOf(authorId)}`);
    }
  });

  both('a creation that is refused leaves no trace', async (resource, store) => {
    const { name, records, make } = resource;
    const [first, record, key] = [user(), make(), receipt()];
    await makes(store.users, first);
    const [wrong, code] =
      name === 'users'
        ? ([{ email: first.email }, 'email-taken'] as const)
        : ([{ authorId: 'nobody' }, 'invalid-record'] as const);
    const refusal = raises(records.create({ ...record, ...wrong }, key), code);
    const readers = times(6, async (n) => {
      await ticks(n);
      await absent(records, record.id, 'a record that is about to be refused');
      const { items } = await pageOf(records, { filter: { ids: [record.id] } });
      is('list of a record that is about to be refused', items, []);
    });
    await Promise.all([refusal, ...readers]);
    is('isIdTaken of the id of a refused record', await records.isIdTaken(record.id), false);
    await makes(records, record, key);
  });
}

/** Creations that are safe to repeat. */
function describeReceipts({ test, both }: Suite): void {
  both('a repeat makes nothing and returns the first record', async ({ records, make }) => {
    const [key, record, other] = [receipt(), make(), make()];
    await makes(records, record, key);
    for (const again of [other, record]) await repeats(records, key, record, again);
    await absent(records, other.id);
  });

  both('a key with another fingerprint is refused', async ({ records, make }) => {
    const [key, record, other] = [receipt(), make(), make()];
    await makes(records, record, key);
    const reused = receipt({ key: key.key });
    for (const again of [other, record]) {
      await raises(records.create(again, reused), 'idempotency-key-reused');
    }
    await absent(records, other.id);
    await repeats(records, key, record);
  });

  both('a repeat returns the record as it was first made', async (resource) => {
    const { records, make, remove } = resource;
    const [key, record] = [receipt(), make({ custom: { n: 1 } })];
    await makes(records, record, key);
    const changed = { ...record, custom: { n: 2 } };
    await records.update(record.id, () => changed);
    await repeats(records, key, record, make());
    same(await records.get(record.id), changed, 2);
    await remove(record.id);
    await repeats(records, key, record, make(), 'a receipt did not outlive its record');
    await absent(records, record.id);
  });

  both('a key is exact, whatever it looks like', async ({ records, make }) => {
    const keys = new Set([...alikeIds, ...knownIds, ...strangeIds]);
    const receipts = [...keys].map((key) => receipt({ key }));
    const made = receipts.map((key) => ({ key, record: make() }));
    for (const { key, record } of made) await makes(records, record, key);
    for (const { key, record } of made) await repeats(records, key, record);
  });

  test('receipts of users and of posts are separate', async ({ users, posts }) => {
    const key = receipt();
    await makes(users, user(), key);
    await makes(posts, post(), key);
    const reused = posts.create(post(), receipt({ key: key.key }));
    await raises(reused, 'idempotency-key-reused');
  });

  test('a receipt is judged before the email and the author', async ({ users, posts }) => {
    const [key, author, record] = [receipt(), user(), post()];
    const [taken, orphan] = [user({ email: author.email }), post({ authorId: 'nobody' })];
    const reused = receipt({ key: key.key });
    await makes(users, author, key);
    await repeats(users, key, author, taken);
    await raises(users.create(taken, reused), 'idempotency-key-reused');
    await makes(posts, record, key);
    await repeats(posts, key, record, orphan);
    await raises(posts.create(orphan, reused), 'idempotency-key-reused');
  });

  both('a creation that failed on its id leaves no receipt', async ({ records, make }) => {
    const [key, first] = [receipt(), make()];
    await makes(records, first);
    await raises(records.create(make({ id: first.id }), key), 'id-taken');
    await makes(records, make(), key);
  });

  both('a receipt ends at its until, by the from of the next', async ({ records, make }) => {
    const [first, second] = [make(), make()];
    const life = (from: number, until: number, fingerprint = 'one') =>
      receipt({ key: 'key', fingerprint, from: at(from), until: at(until) });
    await makes(records, first, life(0, 1000));
    // A repeat does not make it last longer.
    for (const from of [0, 999]) await repeats(records, life(from, from + 1000), first, second);
    const reused = records.create(second, life(999, 1999, 'two'));
    await raises(reused, 'idempotency-key-reused');
    // From its end on, the key is free, also for another request, and for a time of its own.
    await makes(records, second, life(1000, 2000, 'two'));
    for (const from of [1000, 1999]) {
      await repeats(records, life(from, from + 1000, 'two'), second, make());
    }
    await makes(records, make(), life(2000, 3000));
    same(await records.get(first.id), first);
  });

  both('the end of one receipt frees no other', async ({ records, make }) => {
    const [short, long] = [receipt({ until: at(1000) }), receipt({ until: at(60_000) })];
    const record = make();
    await makes(records, make(), short);
    await makes(records, record, long);
    const next = { from: at(1000), until: at(70_000) };
    await makes(records, make(), receipt(next));
    await makes(records, make(), { ...short, ...next });
    await repeats(records, { ...long, ...next }, record);
  });
}
