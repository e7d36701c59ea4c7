import assert from 'node:assert/strict';
import { at, later, post, times, user } from './fixtures.ts';
import { idsOf, put, walk } from './lists.ts';
import type { Suite } from './suite.ts';

/** Lists that are walked while records come and go. */
export function describeListChanges({ test }: Suite): void {
  for (const direction of ['asc', 'desc'] as const) {
    test(`posts by createdAt ${direction}: what stays is met once`, async ({ posts }) => {
      const stay = times(30, (n) => post({ createdAt: at(n >> 1) }));
      const go = times(30, (n) => post({ createdAt: at(n >> 1) }));
      await put(posts, [...stay, ...go]);
      const goes = new Set(idsOf(go));
      const between = (n: number, lastId: string) =>
        Promise.all([
          posts.delete(goes.has(lastId) ? lastId : 'none'),
          posts.delete(go[n * 2]?.id ?? 'none'),
          posts.delete(go[30 - n]?.id ?? 'none'),
          put(posts, [post({ createdAt: at(n) }), post({ createdAt: at(15 - n) })]),
          posts.update(stay[n]?.id ?? '', ({ record }) => ({ ...record, updatedAt: at(n + 50) })),
        ]);
      const order = { by: 'createdAt', direction } as const;
      const walked = await walk(posts, { order, limit: 4, between });
      metOnce(idsOf(walked), direction === 'asc' ? idsOf(stay) : idsOf(stay).toReversed());
    });

    test(`users by email ${direction}: what stays is met once`, async ({ users }) => {
      const stay = times(20, (n) => user({ email: n < 10 ? null : `s${n}@example.com` }));
      const go = times(20, (n) => user({ email: n < 10 ? null : `s${n}x@example.com` }));
      await put(users, [...stay, ...go]);
      const goes = new Set(idsOf(go));
      const remove = (id = 'none') => users.delete(id, 'refuse', later);
      const between = (n: number, lastId: string) =>
        Promise.all([
          remove(goes.has(lastId) ? lastId : 'none'),
          remove(go[n]?.id),
          remove(go[20 - n]?.id),
          put(users, [user({ email: null }), user()]),
          users.update(stay[n]?.id ?? 'none', ({ record }) => ({ ...record, name: 'Other' })),
        ]);
      const order = { by: 'email', direction } as const;
      const walked = await walk(users, { order, limit: 3, between });
      const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
      const expected = idsOf([...stay.slice(0, 10).sort(byId), ...stay.slice(10)]);
      metOnce(idsOf(walked), direction === 'asc' ? expected : expected.toReversed());
    });
  }

  test('what a change moves ahead never loses the others', async ({ users }) => {
    const records = times(20, (n) => user({ updatedAt: at(n) }));
    await put(users, records);
    const moved = idsOf(records.slice(0, 5));
    const walked = await walk(users, {
      order: { by: 'updatedAt', direction: 'asc' },
      limit: 2,
      between: async (n) => {
        const id = moved[n - 1];
        if (id) await users.update(id, ({ record }) => ({ ...record, updatedAt: at(100 + n) }));
      },
    });
    metOnce(idsOf(walked), idsOf(records.slice(5)));
  });

  test('pages that are read while others write meet what stays once', async ({ posts }) => {
    const title = (n: number) => `t${String(n % 40).padStart(2, '0')}`;
    const stay = times(40, (n) => post({ title: title(n) }));
    await put(posts, stay);
    let done = false;
    const churn = times(3, async (writer) => {
      for (let n = 0; !done && n < 200; n++) {
        const [id = ''] = await put(posts, [post({ title: `${title(n * 7)}${writer}` })]);
        await posts.delete(id);
      }
    });
    const order = { by: 'title', direction: 'desc' } as const;
    try {
      for (let round = 0; round < 3; round++) {
        const walked = await walk(posts, { order, limit: 5 });
        metOnce(idsOf(walked), idsOf(stay).toReversed());
      }
    } finally {
      done = true;
      await Promise.all(churn);
    }
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
