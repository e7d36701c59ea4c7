import assert from 'node:assert/strict';
import { at, post, times, user } from './fixtures.ts';
import type { Suite } from './suite.ts';
import { idsOf, walk } from './walk.ts';

/** Lists that are walked while records come and go. */
export function describeListRaces({ group, test }: Suite): void {
  group('lists under change', () => {
    for (const direction of ['asc', 'desc'] as const) {
      test(`posts by createdAt ${direction}: what stays is met once, in order`, async ({
        posts,
      }) => {
        const stay = times(30, (n) => post({ createdAt: at(n >> 1) }));
        const go = times(30, (n) => post({ createdAt: at(n >> 1) }));
        await Promise.all([...stay, ...go].map((record) => posts.create(record)));
        const goes = new Set(idsOf(go));
        const between = (n: number, lastId: string) =>
          Promise.all([
            posts.delete(goes.has(lastId) ? lastId : 'none'),
            posts.delete(go[n * 2]?.id ?? 'none'),
            posts.delete(go[30 - n]?.id ?? 'none'),
            posts.create(post({ createdAt: at(n) })),
            posts.create(post({ createdAt: at(15 - n) })),
            posts.update(stay[n]?.id ?? '', ({ record }) => ({ ...record, updatedAt: at(n + 50) })),
          ]);
        const order = { by: 'createdAt', direction } as const;
        const walked = await walk(posts, { filter: {}, order, limit: 4, between });
        metOnce(idsOf(walked), direction === 'asc' ? idsOf(stay) : idsOf(stay).toReversed());
      });

      test(`users by email ${direction}: what stays is met once, through missing ones too`, async ({
        users,
      }) => {
        const stay = times(20, (n) => user({ email: n < 10 ? null : `s${n}@example.com` }));
        const go = times(20, (n) => user({ email: n < 10 ? null : `s${n}x@example.com` }));
        await Promise.all([...stay, ...go].map((record) => users.create(record)));
        const goes = new Set(idsOf(go));
        const between = (n: number, lastId: string) =>
          Promise.all([
            users.delete(goes.has(lastId) ? lastId : 'none', { posts: 'refuse' }),
            users.delete(go[n]?.id ?? 'none', { posts: 'refuse' }),
            users.delete(go[20 - n]?.id ?? 'none', { posts: 'refuse' }),
            users.create(user({ email: null })),
            users.create(user()),
            users.update(stay[n]?.id ?? 'none', ({ record }) => ({ ...record, name: 'Other' })),
          ]);
        const order = { by: 'email', direction } as const;
        const walked = await walk(users, { filter: {}, order, limit: 3, between });
        const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
        const expected = idsOf([...stay.slice(0, 10).sort(byId), ...stay.slice(10)]);
        metOnce(idsOf(walked), direction === 'asc' ? expected : expected.toReversed());
      });
    }

    test('what a change moves ahead may be met again, and never loses the others', async ({
      users,
    }) => {
      const records = times(20, (n) => user({ updatedAt: at(n) }));
      await Promise.all(records.map((record) => users.create(record)));
      const moved = idsOf(records.slice(0, 5));
      const order = { by: 'updatedAt', direction: 'asc' } as const;
      const walked = await walk(users, {
        filter: {},
        order,
        limit: 2,
        between: async (n) => {
          const id = moved[n - 1];
          if (id) await users.update(id, ({ record }) => ({ ...record, updatedAt: at(100 + n) }));
        },
      });
      metOnce(idsOf(walked), idsOf(records.slice(5)));
    });

    test('pages that are read while others write meet what stays once', async ({ posts }) => {
      const stay = times(40, (n) => post({ title: `t${String(n).padStart(2, '0')}` }));
      await Promise.all(stay.map((record) => posts.create(record)));
      let done = false;
      const churn = times(3, async (writer) => {
        for (let n = 0; !done && n < 200; n++) {
          const passing = post({ title: `t${String((n * 7) % 40).padStart(2, '0')}${writer}` });
          await posts.create(passing);
          await posts.delete(passing.id);
        }
      });
      const order = { by: 'title', direction: 'desc' } as const;
      try {
        for (let round = 0; round < 3; round++) {
          const walked = await walk(posts, { filter: {}, order, limit: 5 });
          metOnce(idsOf(walked), idsOf(stay).toReversed());
        }
      } finally {
        done = true;
        await Promise.all(churn);
      }
    });
  });
}

/** Of what was walked, exactly these, each once and in this order; whatever else there was. */
function metOnce(walked: readonly string[], stayed: readonly string[]): void {
  const wanted = new Set(stayed);
  assert.deepEqual(
    walked.filter((id) => wanted.has(id)),
    stayed,
  );
}
