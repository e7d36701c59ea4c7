import { isRostrumError } from '../domain/errors.ts';
import type { Post } from '../domain/post.ts';
import { raisesUnknownAuthor } from './assertions.ts';
import { everyMode, refuse } from './authorship.ts';
import { against, judge, noOrphan, turns } from './deletion-race.ts';
import { describeDepartureRaces } from './departure-races.ts';
import { post, times, user } from './fixtures.ts';
import type { Suite } from './suite.ts';

const rounds = 12;

/** Deletions of a user against posts that are to name the user: no orphan, ever. */
export function describeOrphanRaces(suite: Suite): void {
  const { group, test } = suite;
  group('orphan races', () => {
    for (const mode of everyMode) {
      test(`${mode.posts}: deleting a user against creating their posts leaves no orphan`, async (store) => {
        for (let round = 0; round < rounds; round++) {
          const author = user();
          await store.users.create(author);
          const records = times(4, () => post({ authorId: author.id }));
          const outcome = await against(store, author.id, mode, round, (n) =>
            store.posts.create(records[n] as Post),
          );
          await judge(store, author.id, mode, outcome, records, undefined);
        }
        await noOrphan(store);
      });

      test(`${mode.posts}: deleting a user against moving posts to them leaves no orphan`, async (store) => {
        const former = user();
        await store.users.create(former);
        for (let round = 0; round < rounds; round++) {
          const author = user();
          await store.users.create(author);
          const records = times(4, (n) => post({ authorId: n % 2 ? former.id : null }));
          await Promise.all(records.map((record) => store.posts.create(record)));
          const outcome = await against(store, author.id, mode, round, (n) =>
            store.posts.update(records[n]?.id ?? '', ({ record }) => ({
              ...record,
              authorId: author.id,
            })),
          );
          await judge(store, author.id, mode, outcome, records, records);
        }
        await noOrphan(store);
      });
    }

    for (const mode of everyMode) {
      test(`${mode.posts}: deleting a user against loading their posts leaves no orphan`, async (store) => {
        for (let round = 0; round < rounds; round++) {
          const author = user();
          await store.users.create(author);
          const records = times(4, () => post({ authorId: author.id }));
          const outcome = await against(store, author.id, mode, round, async (n) => {
            await store.posts.load([{ record: records[n] as Post, version: 7 }]);
            return 'loaded';
          });
          await judge(store, author.id, mode, outcome, records, undefined);
        }
        await noOrphan(store);
      });
    }

    describeDepartureRaces(suite);

    test('deletions in every mode against creations, moves and each other', async (store) => {
      for (let round = 0; round < rounds; round++) {
        const [author, other] = [user(), user()];
        await store.users.create(author);
        await store.users.create(other);
        const movers = times(4, (n) => post({ authorId: n % 2 ? other.id : author.id }));
        await Promise.all(movers.map((record) => store.posts.create(record)));
        const writes = times(12, async (n) => {
          await turns((n * 5 + round) % 7);
          const target = n % 2 ? author.id : other.id;
          if (n % 3 === 0) return store.posts.create(post({ authorId: target }));
          if (n % 3 === 1) return store.users.delete(target, everyMode[(n + round) % 3] ?? refuse);
          const id = movers[n % 4]?.id ?? '';
          return store.posts.update(id, ({ record }) => ({ ...record, authorId: target }));
        });
        for (const result of await Promise.allSettled(writes)) {
          if (result.status === 'fulfilled' || isRostrumError(result.reason, 'user-has-posts'))
            continue;
          await raisesUnknownAuthor(Promise.reject(result.reason));
        }
        await noOrphan(store);
      }
    });
  });
}
