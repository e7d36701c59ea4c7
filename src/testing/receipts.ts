import assert from 'node:assert/strict';
import {
  isFree,
  makes,
  raisesEmailTaken,
  raisesKeyReused,
  raisesUnknownAuthor,
  repeats,
  same,
} from './assertions.ts';
import { at, later, post, receipt, user } from './fixtures.ts';
import type { Suite } from './suite.ts';

/** Creations that are safe to repeat. */
export function describeReceipts(suite: Suite): void {
  describeRepeats(suite);
  describeConflicts(suite);
  describeLifetimes(suite);
}

function describeRepeats({ test, both }: Suite): void {
  both('a repeat makes nothing and returns the first record', async ({ records, make }) => {
    const [key, record, other] = [receipt(), make(), make()];
    await makes(records, record, key);
    for (const again of [other, record]) await repeats(records, key, record, again);
    assert.equal(await records.get(other.id), undefined);
  });

  both('a key with another fingerprint is refused', async ({ records, make }) => {
    const [key, record, other] = [receipt(), make(), make()];
    await makes(records, record, key);
    const reused = receipt({ key: key.key });
    for (const again of [other, record]) await raisesKeyReused(records, reused, again);
    assert.equal(await records.get(other.id), undefined);
    await repeats(records, key, record);
  });

  both('a repeat returns the record as it was first made', async ({ records, make }) => {
    const [key, record] = [receipt(), make({ own: { n: 1 } })];
    await makes(records, record, key);
    const changed = { ...record, own: { n: 2 } };
    await records.update(record.id, () => changed);
    await repeats(records, key, record, make());
    same(await records.get(record.id), changed, 2);
  });

  both('a receipt outlives its record', async ({ records, make, remove }) => {
    const [key, record] = [receipt(), make()];
    await makes(records, record, key);
    await remove(record.id);
    await repeats(records, key, record, make());
    assert.equal(await records.get(record.id), undefined);
  });

  both('a key is exact, whatever it looks like', async ({ records, make }) => {
    const keys = ['k', 'K', 'k ', ' ', '1', '01', 'é', 'e\u0301', 'constructor', '__proto__', '$k'];
    const receipts = [...keys, 'k\0', "'k'", 'x'.repeat(255), '😀'].map((key) => receipt({ key }));
    const made = receipts.map((key) => ({ key, record: make() }));
    for (const { key, record } of made) await makes(records, record, key);
    for (const { key, record } of made) await repeats(records, key, record);
  });

  test('receipts of users and of posts are separate', async ({ users, posts }) => {
    const key = receipt();
    await makes(users, user(), key);
    await makes(posts, post(), key);
    await raisesKeyReused(posts, receipt({ key: key.key }), post());
  });
}

/** A receipt is judged before all else, and stays only with its record. */
function describeConflicts({ test, both }: Suite): void {
  test('neither a repeat nor a reused key asks whether the email is taken', async ({ users }) => {
    const [key, record] = [receipt(), user()];
    await makes(users, record, key);
    const taken = user({ email: record.email });
    await repeats(users, key, record, taken);
    await raisesKeyReused(users, receipt({ key: key.key }), taken);
  });

  test('neither a repeat nor a reused key asks whether the author exists', async ({ posts }) => {
    const [key, record] = [receipt(), post()];
    await makes(posts, record, key);
    const orphan = post({ authorId: 'nobody' });
    await repeats(posts, key, record, orphan);
    await raisesKeyReused(posts, receipt({ key: key.key }), orphan);
  });

  both('a creation that failed on its id leaves no receipt', async ({ records, make }) => {
    const [key, first] = [receipt(), make()];
    await makes(records, first);
    await isFree(records, key, make({ id: first.id }));
    await makes(records, make(), key);
  });

  test('a creation that failed on its email leaves no receipt', async ({ users }) => {
    const [key, first] = [receipt(), user()];
    await makes(users, first);
    await raisesEmailTaken(users.create(user({ email: first.email }), key));
    await makes(users, user(), key);
  });

  test('a creation that failed on its author leaves no receipt', async ({ posts }) => {
    const key = receipt();
    await raisesUnknownAuthor(posts.create(post({ authorId: 'nobody' }), key));
    await makes(posts, post(), receipt({ key: key.key }));
  });

  for (const mode of ['delete', 'keep'] as const) {
    test(`${mode}: receipts of a deleted user and their posts stay`, async ({ users, posts }) => {
      const [userKey, postKey, author] = [receipt(), receipt(), user()];
      const record = post({ authorId: author.id });
      await makes(users, author, userKey);
      await makes(posts, record, postKey);
      await users.delete(author.id, mode, later);
      await repeats(users, userKey, author);
      await repeats(posts, postKey, record);
    });
  }
}

/** How long a receipt is kept: judged by the receipts themselves. */
function describeLifetimes({ both }: Suite): void {
  both('a receipt holds up to the last millisecond before its end', async ({ records, make }) => {
    const [first, record] = [receipt({ from: at(0), until: at(1000) }), make()];
    await makes(records, record, first);
    const last = { ...first, from: at(999), until: at(1999) };
    await repeats(records, last, record, make());
    await raisesKeyReused(records, { ...last, fingerprint: 'another' }, make());
  });

  both('a receipt is forgotten from its end on, and its key is free', async ({ records, make }) => {
    const [first, record] = [receipt({ from: at(0), until: at(1000) }), make()];
    await makes(records, record, first);
    const next = { key: first.key, fingerprint: 'another', from: at(1000), until: at(2000) };
    await makes(records, make(), next);
    same(await records.get(record.id), record);
  });

  both('a key that was free again is used anew, for its own time', async ({ records, make }) => {
    const first = receipt({ from: at(0), until: at(1000) });
    await makes(records, make(), first);
    const [second, record] = [{ ...first, from: at(1000), until: at(2000) }, make()];
    await makes(records, record, second);
    await repeats(records, second, record);
    await repeats(records, { ...second, from: at(1999) }, record);
    await isFree(records, { ...second, from: at(2000) }, record);
  });

  both('a repeat does not make a receipt last longer', async ({ records, make }) => {
    const [first, record] = [receipt({ from: at(0), until: at(1000) }), make()];
    await makes(records, record, first);
    await repeats(records, { ...first, from: at(900), until: at(1900) }, record, make());
    await makes(records, make(), { ...first, from: at(1000), until: at(2000) });
  });

  both('the end of one receipt frees no other', async ({ records, make }) => {
    const [short, long] = [receipt({ until: at(1000) }), receipt({ until: at(60_000) })];
    const record = make();
    await makes(records, make(), short);
    await makes(records, record, long);
    const next = { from: at(1000), until: at(70_000) };
    await makes(records, make(), receipt(next));
    await isFree(records, { ...short, ...next }, record);
    await repeats(records, { ...long, ...next }, record);
  });
}
