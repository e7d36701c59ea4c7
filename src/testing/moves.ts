import assert from 'node:assert/strict';
import type { Entity, Versioned } from '../domain/record.ts';
import { raisesEmailTaken, raisesUnknownAuthor } from './assertions.ts';
import { turns } from './deletion-race.ts';
import { at, claim, post, times, user } from './fixtures.ts';
import { type Kind, posts, users } from './kinds.ts';
import { matches } from './matching.ts';
import { vandalize } from './mutation.ts';
import { describeScans } from './scans.ts';
import type { Suite } from './suite.ts';

const atVersion = <R>(record: R, version: number): Versioned<R> => ({ record, version });

/** Whole stores on the move: records that are read by id and stored as they are. */
export function describeMoves(suite: Suite): void {
  suite.group('moves', () => {
    describeScans(suite);
    loadsOf(users, suite);
    loadsOf(posts, suite);

    suite.test('load: an address that another user has is refused', async (store) => {
      const [one, two] = [user(), user()];
      await store.users.create(one);
      await raisesEmailTaken(store.users.load([atVersion({ ...two, email: one.email }, 3)]));
      assert.equal(await store.users.get(two.id), undefined);
      const twins = times(2, () => atVersion(user({ email: 'twin@example.com' }), 2));
      await raisesEmailTaken(store.users.load(twins));
    });

    suite.test('load: an address is free once it was given up, and not before', async (store) => {
      const [one, two] = [user(), user()];
      await store.users.create(one);
      const [given, taken] = [
        { ...one, email: null },
        { ...two, email: one.email },
      ];
      await raisesEmailTaken(store.users.load([atVersion(taken, 1), atVersion(given, 2)]));
      await store.users.load([atVersion(given, 2), atVersion(taken, 1)]);
      assert.deepEqual(await store.users.get(two.id), atVersion(taken, 1));
    });

    suite.test('load: a post that names an unknown author is refused', async (store) => {
      const [author, record] = [user(), post({ authorId: 'nobody' })];
      await raisesUnknownAuthor(store.posts.load([atVersion(record, 4)]));
      assert.equal(await store.posts.get(record.id), undefined);
      await store.users.load([atVersion(author, 2)]);
      const known = atVersion({ ...record, authorId: author.id }, 4);
      await store.posts.load([known]);
      assert.deepEqual(await store.posts.get(record.id), known);
    });
  });
}

function loadsOf<R extends Entity>({ name, of, make }: Kind<R>, { test }: Suite): void {
  test(`${name}: load stores records as they are, with ids, versions and times`, async (store) => {
    const records = times(3, (n) => atVersion(make({ n, updatedAt: at(900 - n) }), n * 7 + 1));
    await of(store).load(records);
    for (const one of records) assert.deepEqual(await of(store).get(one.record.id), one);
    const [, { record, version }] = records as [unknown, Versioned<R>];
    await matches(of(store), { updatedAt: { from: record.updatedAt, before: at(900) } }, [
      record.id,
    ]);
    const next = await of(store).update(record.id, (current) => ({ ...current.record, n: 9 }));
    assert.equal(next?.version, version + 1);
  });

  test(`${name}: load puts a record in the place of the one with its id`, async (store) => {
    const [first, other] = [make(), make()];
    await of(store).create(first);
    await of(store).create(other);
    await of(store).update(first.id, ({ record }) => ({ ...record, n: 1 }));
    const loaded = atVersion(make({ id: first.id, createdAt: at(5_000_000) }), 1);
    await of(store).load([loaded]);
    assert.deepEqual(await of(store).get(first.id), loaded);
    await matches(of(store), {}, [other.id, first.id]);
    await matches(of(store), { createdAt: { before: at(4_000_000) } }, [other.id]);
  });

  test(`${name}: load made again comes to the same, and of no records to nothing`, async (store) => {
    const records = times(4, (n) => atVersion(make({ createdAt: at(n) }), n + 1));
    await of(store).load(records);
    await of(store).load(records);
    await of(store).load(records.slice(1, 3));
    await of(store).load([]);
    assert.deepEqual(await of(store).scan(10), records.toSorted(byId));
  });

  test(`${name}: load takes hundreds of records at once`, async (store) => {
    const records = times(300, (n) => atVersion(make({ createdAt: at(n) }), n + 1));
    await of(store).load(records);
    assert.deepEqual(await of(store).scan(1000), records.toSorted(byId));
  });

  test(`${name}: of loads and changes that race, each sees what the one before it left`, async (store) => {
    for (let round = 0; round < 12; round++) {
      const record = make({ n: 0 });
      await of(store).create(record);
      const changes = times(8, async (n) => {
        await turns(n % 3);
        return of(store).update(record.id, (current) => {
          return { ...current.record, n: Number(current.record.n) + 1 };
        });
      });
      await turns(round % 6);
      // At the version that the changes began with: it is another record all the same.
      await of(store).load([atVersion({ ...record, n: 1000 }, 1)]);
      await Promise.all(changes);
      const stored = await of(store).get(record.id);
      assert.equal(Number(stored?.record.n) - 1000, Number(stored?.version) - 1);
    }
  });

  test(`${name}: load leaves claims as they are`, async (store) => {
    const [key, record] = [claim(), make()];
    await of(store).create(record, key);
    await of(store).load([atVersion({ ...record, n: 1 }, 5)]);
    assert.deepEqual(await of(store).replay(key), atVersion(record, 1));
    assert.equal((await of(store).create(make(), key)).replayed, true);
  });

  test(`${name}: load and scan hand over values and no aliases`, async (store) => {
    const [record, handed] = [make({ own: [{ n: 1 }] }), [] as Versioned<R>[]];
    handed.push(structuredClone(atVersion(record, 2)));
    await of(store).load(handed);
    vandalize(handed);
    vandalize(await of(store).scan(1));
    assert.deepEqual(await of(store).scan(1), [atVersion(record, 2)]);
  });
}

/** The ids of the fixtures are ASCII. */
function byId<R extends Entity>(a: Versioned<R>, b: Versioned<R>): number {
  return a.record.id < b.record.id ? -1 : 1;
}
