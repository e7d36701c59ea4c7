import { raises, same } from './assertions.ts';
import { at, post, user } from './fixtures.ts';
import { put } from './lists.ts';
import type { Suite } from './suite.ts';

/** Changes by a decision, and what only a store can refuse of them. */
export function describeUpdate({ test, both }: Suite): void {
  both('what a decision made is stored, one version on', async ({ records, make }) => {
    const [bare, other] = [make(), make({ n: 1 })];
    const first = { ...bare, gone: 1, n: 1, custom: { gone: 2 } };
    const next = { ...bare, n: 2, custom: {}, createdAt: at(5), updatedAt: at(99_999) };
    await put(records, [first, other]);
    const changed = await records.update(bare.id, (current) => {
      same(current, first);
      return next;
    });
    same(changed, next, 2);
    same(await records.get(bare.id), next, 2);
    const again = await records.update(bare.id, (current) => {
      same(current, next, 2);
      return { ...current.record, n: 3 };
    });
    same(again, { ...next, n: 3 }, 3);
    same(await records.get(other.id), other);
  });

  both('the very object that was shown is no change, an equal one is', async (resource) => {
    const { records, make } = resource;
    const first = make();
    await put(records, [first]);
    same(await records.update(first.id, ({ record }) => record), first);
    same(await records.get(first.id), first);
    same(await records.update(first.id, ({ record }) => ({ ...record })), first, 2);
    same(await records.get(first.id), first, 2);
  });

  test('an address that a user moves to is taken, and one given up is free', async ({ users }) => {
    const first = user();
    await put(users, [first]);
    const moveTo = (email: string | null) =>
      users.update(first.id, ({ record }) => ({ ...record, email }));
    await moveTo('new@example.com');
    await raises(users.create(user({ email: 'NEW@example.com' })), 'email-taken');
    await put(users, [user({ email: first.email })]);
    await moveTo(null);
    same(await users.get(first.id), { ...first, email: null }, 3);
    await put(users, [user({ email: 'new@example.com' })]);
    await raises(moveTo(first.email), 'email-taken');
    same(await users.get(first.id), { ...first, email: null }, 3);
  });

  test('a post may move from author to author, to none and back', async ({ users, posts }) => {
    const [one, two, record] = [user(), user(), post()];
    await put(users, [one, two]);
    await put(posts, [record]);
    let version = 1;
    for (const authorId of [one.id, two.id, null, two.id, two.id, one.id]) {
      const moved = { ...record, authorId, title: `Version ${++version}` };
      same(await posts.update(record.id, () => moved), moved, version);
      const lost = posts.update(record.id, () => ({ ...record, authorId: 'nobody' }));
      await raises(lost, 'invalid-record');
      same(await posts.get(record.id), moved, version);
    }
  });
}
