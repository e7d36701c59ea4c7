import assert from 'node:assert/strict';
import type { Claim } from '../domain/claim.ts';
import type { Versioned } from '../domain/record.ts';
import type { Creation } from '../ports/repository.ts';
import {
  claimed,
  raisesEmailTaken,
  raisesIdTaken,
  raisesKeyReused,
  raisesUnknownAuthor,
  same,
  throwsItsError,
} from './assertions.ts';
import { at, claim, later, post, user } from './fixtures.ts';
import type { Suite } from './suite.ts';

/** Creations that are safe to repeat. */
export function describeClaims(suite: Suite): void {
  describeRepeats(suite);
  describeConflicts(suite);
  describeLifetimes(suite);
}

function describeRepeats({ test, both }: Suite): void {
  both('a repeat makes nothing and returns the first record', async ({ records, make }) => {
    const [key, record, other] = [claim(), make(), make()];
    assert.equal((await records.create(() => record, key)).replayed, false);
    for (const repeated of [other, record]) {
      const creation = await records.create(() => repeated, key);
      same(creation, record);
      assert.equal(creation.replayed, true);
    }
    assert.equal(await records.get(other.id), undefined);
  });

  both('what make throws does not matter when the claim is found', async ({ records, make }) => {
    const [key, record] = [claim(), make()];
    await records.create(() => record, key);
    const creation = await records.create(() => {
      throw new Error('what make threw');
    }, key);
    same(creation, record);
    assert.equal(creation.replayed, true);
  });

  both('a key with another fingerprint is refused', async ({ records, make }) => {
    const [key, record, other] = [claim(), make(), make()];
    await records.create(() => record, key);
    const reused = claim({ key: key.key });
    for (const made of [other, record]) {
      await raisesKeyReused(records.create(() => made, reused));
    }
    await raisesKeyReused(claimed(records, reused));
    assert.equal(await records.get(other.id), undefined);
    same(await claimed(records, key), record);
  });

  both('a repeat returns the record as it was first made', async ({ records, make }) => {
    const [key, record] = [claim(), make({ own: { n: 1 } })];
    await records.create(() => record, key);
    await records.update(record.id, (current) => ({ ...current.record, own: { n: 2 } }));
    same(await records.create(() => make(), key), record);
    assert.equal((await records.get(record.id))?.version, 2);
  });

  both('a claim outlives its record', async ({ records, make, remove }) => {
    const [key, record] = [claim(), make()];
    await records.create(() => record, key);
    await remove(record.id);
    const creation = await records.create(() => make(), key);
    same(creation, record);
    assert.equal(creation.replayed, true);
    assert.equal(await records.get(record.id), undefined);
  });

  both('a key is exact, whatever it looks like', async ({ records, make }) => {
    const keys = ['k', 'K', 'k ', ' ', '1', '01', 'é', 'e\u0301', 'constructor', '__proto__', '$k'];
    const claims = [...keys, 'k\0', "'k'", 'x'.repeat(255), '😀'].map((key) => claim({ key }));
    for (const replayed of [false, true]) {
      for (const key of claims) {
        const creation = await records.create(() => make(), key);
        assert.equal(creation.replayed, replayed, `key ${JSON.stringify(key.key)}`);
      }
    }
  });

  test('claims of users and of posts are separate', async ({ users, posts }) => {
    const key = claim();
    await users.create(() => user(), key);
    assert.equal(await claimed(posts, key), undefined);
    assert.equal((await posts.create(() => post(), key)).replayed, false);
    await raisesKeyReused(claimed(posts, claim({ key: key.key })));
  });
}

/** A claim is judged before all else, and stays only with its record. */
function describeConflicts({ test, both }: Suite): void {
  const replays = async (
    create: (key: Claim) => Promise<Creation<unknown>>,
    first: Versioned<unknown>,
    key: Claim,
  ) => {
    const again = await create(key);
    assert.deepEqual([again.record, again.replayed], [first.record, true]);
    await raisesKeyReused(create(claim({ key: key.key })));
  };

  test('neither a repeat nor a reused key asks whether the email is taken', async ({ users }) => {
    const [key, record] = [claim(), user()];
    const first = await users.create(() => record, key);
    await replays((c) => users.create(() => user({ email: record.email }), c), first, key);
  });

  test('neither a repeat nor a reused key asks whether the author exists', async ({ posts }) => {
    const [key, record] = [claim(), post()];
    const first = await posts.create(() => record, key);
    await replays((c) => posts.create(() => post({ authorId: 'nobody' }), c), first, key);
  });

  both('a creation that failed on its id leaves no claim', async ({ records, make }) => {
    const [key, first, second] = [claim(), make(), make()];
    await records.create(() => first);
    await raisesIdTaken(records.create(() => make({ id: first.id }), key));
    assert.equal(await claimed(records, key), undefined);
    same(await records.create(() => second, key), second);
  });

  test('a creation that failed on its email leaves no claim', async ({ users }) => {
    const [key, first, second] = [claim(), user(), user()];
    await users.create(() => first);
    await raisesEmailTaken(users.create(() => user({ email: first.email }), key));
    assert.equal(await claimed(users, key), undefined);
    same(await users.create(() => second, key), second);
  });

  test('a creation that failed on its author leaves no claim', async ({ posts }) => {
    const [key, second] = [claim(), post()];
    await raisesUnknownAuthor(posts.create(() => post({ authorId: 'nobody' }), key));
    assert.equal(await claimed(posts, key), undefined);
    same(await posts.create(() => second, claim({ key: key.key })), second);
  });

  for (const mode of ['delete', 'keep'] as const) {
    test(`${mode}: claims of a deleted user and their posts stay`, async ({ users, posts }) => {
      const [userKey, postKey, author] = [claim(), claim(), user()];
      await users.create(() => author, userKey);
      const record = post({ authorId: author.id });
      await posts.create(() => record, postKey);
      await users.delete(author.id, mode, later);
      same(await claimed(users, userKey), author);
      same(await claimed(posts, postKey), record);
    });
  }
}

/** How long a claim is kept: judged by the claims themselves. */
function describeLifetimes({ both }: Suite): void {
  both('a claim holds up to the last millisecond before its end', async ({ records, make }) => {
    const [first, record] = [claim({ from: at(0), until: at(1000) }), make()];
    await records.create(() => record, first);
    const last = { ...first, from: at(999), until: at(1999) };
    same(await records.create(() => make(), last), record);
    await raisesKeyReused(claimed(records, { ...last, fingerprint: 'another' }));
  });

  both('a claim is forgotten from its end on, and its key is free', async ({ records, make }) => {
    const [first, record, second] = [claim({ from: at(0), until: at(1000) }), make(), make()];
    await records.create(() => record, first);
    const next = { key: first.key, fingerprint: 'another', from: at(1000), until: at(2000) };
    await throwsItsError((fail) => records.create(fail, next));
    const creation = await records.create(() => second, next);
    same(creation, second);
    assert.equal(creation.replayed, false);
    same(await records.get(record.id), record);
  });

  both('a key that was free again is claimed anew, for its own time', async ({ records, make }) => {
    const first = claim({ from: at(0), until: at(1000) });
    await records.create(() => make(), first);
    const [second, record] = [{ ...first, from: at(1000), until: at(2000) }, make()];
    await records.create(() => record, second);
    for (const from of [at(1000), at(1999)])
      same(await claimed(records, { ...second, from }), record);
    assert.equal(await claimed(records, { ...second, from: at(2000) }), undefined);
  });

  both('a repeat does not make a claim last longer', async ({ records, make }) => {
    const first = claim({ from: at(0), until: at(1000) });
    await records.create(() => make(), first);
    await records.create(() => make(), { ...first, from: at(900), until: at(1900) });
    const again = { ...first, from: at(1000), until: at(2000) };
    assert.equal((await records.create(() => make(), again)).replayed, false);
  });

  both('the end of one claim frees no other', async ({ records, make }) => {
    const [short, long] = [claim({ until: at(1000) }), claim({ until: at(60_000) })];
    const record = make();
    await records.create(() => make(), short);
    await records.create(() => record, long);
    const next = { from: at(1000), until: at(70_000) };
    await records.create(() => make(), claim(next));
    assert.equal(await claimed(records, { ...short, ...next }), undefined);
    same(await claimed(records, { ...long, ...next }), record);
  });
}
