import { type Collection, type Entity, projected } from '../domain/record.ts';
import { sorts } from '../domain/search.ts';
import { utf8Bytes } from '../domain/text.ts';
import type { Repository } from '../ports/repository.ts';
import { assert, expectEqual, quote } from './assertions.ts';
import {
  at,
  later,
  longTexts,
  post,
  shuffled,
  swelling,
  times,
  user,
  variedTexts,
} from './fixtures.ts';
import { idsOf, insert, list, type Reading, readAll, recordsOf, select } from './lists.ts';
import type { Suite } from './suite.ts';

const directions = ['asc', 'desc'] as const;

/** The order of lists, and how they are cut into pages. */
export function describePages(suite: Suite): void {
  describeOrders(suite);
  describeCuts(suite);
  for (const direction of directions) describePositions(direction, suite);
  for (const direction of directions) describeChanges(direction, suite);
}

/** Ids of records with equal keys. After the longest keys, some differ beyond 4,000 bytes. */
const tiedIds = ['A', ...longTexts(1001), '😀'];

/** The values of each sort, and the ids of the records that have each value. */
const sorted = {
  createdAt: { values: [at(0), at(1), at(2)], ids: variedTexts },
  updatedAt: { values: [at(0), at(1), at(2)], ids: variedTexts },
  publishedAt: { values: [null, at(0), at(1)], ids: variedTexts },
  name: { values: [...variedTexts, ...longTexts(200, swelling)], ids: tiedIds },
  title: { values: [...variedTexts, ...longTexts(300, swelling)], ids: tiedIds },
  email: {
    values: [
      ...times(9, () => null),
      ...['!', '1', 'a-b', 'a.b', 'A', 'AA', 'C', 'e\u0300', 'É', 'я', 'Ｚ', '𐀀', '～'].map(
        (name) => `${name}@example.com`,
      ),
      ...['a@b.example', 'a@münchen.example', 'a@xn--a.example', 'a@z.example'],
    ],
    ids: ['A'],
  },
} as const;

function describeOrders({ test }: Suite): void {
  for (const [by, field] of Object.entries(sorts.users)) {
    test(`users by ${by}: by code point, null first, then by id`, ({ users }) =>
      expectSorted('users', users, user, by as keyof typeof sorted, field));
  }
  for (const [by, field] of Object.entries(sorts.posts)) {
    test(`posts by ${by}: by code point, null first, then by id`, ({ posts }) =>
      expectSorted('posts', posts, post, by as keyof typeof sorted, field));
  }
}

async function expectSorted<R extends Entity>(
  name: Collection,
  records: Repository<R>,
  make: (fields: object) => R,
  by: keyof typeof sorted,
  field: string,
): Promise<void> {
  const { values, ids } = sorted[by];
  const made = values.flatMap((value, n) =>
    ids.map((id, m) => {
      const custom = (n + m) % 3 > 0 && { constructor: 'here' };
      return make({ id: `${id} ${n}`, [by]: value, ...custom });
    }),
  );
  await insert(records, shuffled(made));
  const isHere = { field: 'constructor', custom: 'text', op: 'eq', value: 'here' } as const;
  for (const conditions of [[], [isHere]]) {
    for (const direction of directions) {
      const order = { field, direction };
      const expected = idsOf(select(name, made, { conditions, order }));
      for (const limit of [1, 4, expected.length, 1000]) {
        const found = await readAll(records, { conditions, order, limit });
        expectEqual(`the list by ${field} ${direction}, limit ${limit}`, idsOf(found), expected);
      }
    }
  }
}

function describeCuts({ contract: { bytesRead }, test, both }: Suite): void {
  if (bytesRead) {
    both('a page reads at most eight times its bytes', async (resource, _, { opened }) => {
      const { records, make } = resource;
      const large = { constructor: 'en', custom: 'x'.repeat(10_000) };
      await insert(
        records,
        times(60, (n) => make({ ...large, updatedAt: at(n) })),
      );
      const isEnglish = { field: 'constructor', custom: 'text', op: 'eq', value: 'en' } as const;
      for (const field of ['createdAt', 'updatedAt'] as const) {
        for (const condition of [
          isEnglish,
          { field: 'updatedAt', op: 'from', value: at(0) } as const,
        ]) {
          const before = bytesRead(opened);
          const order = { field, direction: 'desc' } as const;
          await list(records, { conditions: [condition], order, total: true, bytes: 20_000 });
          const read = bytesRead(opened) - before;
          assert(read <= 160_000, `${read} bytes of records were read for a page of 20000`);
        }
      }
    });
  }

  both('a page has whole records, or the fields that were asked for', async (resource) => {
    const { records, make } = resource;
    const odd = { 'a.b': 1, $set: 2, constructor: 'c', toString: { a: [1] }, no: true };
    const record = make(odd);
    await insert(records, [record]);
    const fields = ['id', 'createdAt', ...Object.keys(odd).filter((name) => name !== 'no'), 'none'];
    for (const field of ['createdAt', 'updatedAt'] as const) {
      for (const named of [fields, ['id'], fields.filter((name) => !/[.$]/.test(name))]) {
        const order = { field, direction: 'asc' } as const;
        const { items, isProjected } = await list(records, { order, fields: named });
        const [item] = items;
        const expected = isProjected === true ? projected(record, named) : record;
        expectEqual(`the record of a page of ${named.join()}`, item?.record, expected);
        const json: unknown = JSON.parse(item?.json ?? '');
        expectEqual(`the json of a page of ${named.join()}`, json, expected);
      }
    }
  });

  both('"next" is absent exactly when no match follows', async ({ records, make }) => {
    const { items, next, total } = await list(records, { total: true });
    expectEqual('an empty list', [items, next, total], [[], undefined, 0]);
    const ids = await insert(
      records,
      times(4, (n) => make({ createdAt: at(n) })),
    );
    for (const limit of [1, 3, 4, 5, 1000]) {
      const page = await list(records, { limit });
      expectEqual(`the length of a page, limit ${limit}`, page.items.length, Math.min(limit, 4));
      expectEqual(`whether a page of ${limit} has "next"`, page.next !== undefined, limit < 4);
    }
    const conditions = [{ field: 'id', op: 'in', value: ids.slice(0, 2) } as const];
    const last = await list(records, { conditions, limit: 2 });
    expectEqual('"next" of the last page', last.next, undefined);
  });

  both('"total" counts every match when it is asked for', async ({ records, make }) => {
    await insert(
      records,
      times(5, (n) => make({ createdAt: at(n) })),
    );
    const conditions = [{ field: 'createdAt', op: 'from', value: at(1) } as const];
    for (const after of [undefined, { key: at(2), id: 'x' }, { key: at(99), id: 'x' }]) {
      const page = await list(records, { conditions, limit: 2, after, total: true });
      expectEqual(`the total after ${after?.key}`, page.total, 4);
    }
    for (const total of [undefined, false]) {
      expectEqual(
        'a total that was not asked for',
        (await list(records, { total })).total,
        undefined,
      );
    }
  });

  test('"next" has the sort key and the id of the last record', async ({ users }) => {
    const emails = [null, 'É@example.com', 'z@example.com'];
    await insert(
      users,
      emails.map((email, n) => user({ id: `u${n}`, email })),
    );
    const order = { field: 'emailKey', direction: 'asc' } as const;
    const first = await list(users, { order, limit: 1 });
    expectEqual('"next"', first.next, { key: null, id: 'u0' });
    const second = await list(users, { order, limit: 1, after: first.next });
    expectEqual('"next"', second.next, { key: 'z@example.com', id: 'u2' });
  });

  both('an aborted list returns its page or throws the reason', async ({ records, make }) => {
    const [id] = await insert(records, [make()]);
    const reason = new RangeError('aborted');
    const signal = AbortSignal.abort(reason);
    const [outcome] = await Promise.allSettled([list(records, { signal, total: true })]);
    if (outcome.status === 'rejected') {
      assert(outcome.reason === reason, `it threw ${quote(outcome.reason)}, not the reason`);
    } else {
      expectEqual('the page', idsOf(recordsOf(outcome.value.items)), [id]);
    }
  });
}

function describePositions(direction: 'asc' | 'desc', { test, both }: Suite): void {
  const order = { field: 'createdAt', direction } as const;

  both(`a page begins after a position, ${direction}`, async ({ records, make, remove }) => {
    // Two records for each instant. The ids of the second pair lie on both sides of "m".
    const made = times(6, (n) => make({ id: `${n % 2 ? 'z' : 'a'}${n}`, createdAt: at(n >> 1) }));
    await insert(records, made);
    const listed = direction === 'asc' ? made : made.toReversed();
    const expectAfter = async (key: string, id: string, index: number) => {
      const { items } = await list(records, { order, after: { key, id } });
      expectEqual(
        `the page after ${key} ${id}`,
        idsOf(recordsOf(items)),
        idsOf(listed.slice(index)),
      );
    };
    await expectAfter(at(1), 'm', 3);
    const [, second, third] = listed as [unknown, (typeof made)[0], (typeof made)[0]];
    await expectAfter(second.createdAt, second.id, 2);
    await remove(second.id);
    await expectAfter(second.createdAt, second.id, 2);
    await remove(third.id);
    await expectAfter(second.createdAt, second.id, 3);
  });

  test(`a position can lie between all keys and ids, ${direction}`, async ({ users }) => {
    const emails = [null, 'b@x', 'ba@x', 'b\ue000@x'];
    const made = emails.map((email, n) => user({ id: `u${n}`, email, createdAt: at(0) }));
    await insert(users, made);
    const keys = ['', 'b', 'b@x', 'b@x\u0001', 'c', '\ud7ff', '\u{10ffff}', null];
    const ids = ['', 'u', 'u0', 'u0\u0001', 'u1', 'u2', '\u{10ffff}'];
    for (const field of ['emailKey', 'createdAt']) {
      const order = { field, direction };
      for (const after of keys.flatMap((key) => ids.map((id) => ({ key, id })))) {
        if (field === 'createdAt') Object.assign(after, { key: at(0) });
        const expected = select('users', made, { conditions: [], order, after });
        const { items } = await list(users, { order, after });
        expectEqual(`the page after ${quote(after)}`, idsOf(recordsOf(items)), idsOf(expected));
      }
    }
  });

  both(`a page ends before it exceeds its bytes, ${direction}`, async ({ records, make }) => {
    // Characters of one to four bytes of UTF-8, and one that JSON escapes.
    const texts = ['x', 'é', '～', '😀', '"', 'x～😀'];
    const made = texts.map((text, n) =>
      make({ createdAt: at(n >> 1), custom: text.repeat(50 + n), constructor: 'en' }),
    );
    await insert(records, made);
    const isEnglish = { field: 'constructor', custom: 'text', op: 'eq', value: 'en' } as const;
    for (const conditions of [[], [isEnglish]]) {
      const all = (await list(records, { conditions, order })).items;
      let bytes = 0;
      for (const [n, { json }] of all.entries()) {
        bytes += utf8Bytes(json);
        const isLast = n === all.length - 1;
        const exact = await list(records, { conditions, order, bytes });
        expectEqual(`the length of a page of ${bytes} bytes`, exact.items.length, n + 1);
        expectEqual(`whether ${bytes} bytes are the last page`, exact.next === undefined, isLast);
        const less = await list(records, { conditions, order, bytes: bytes - 1, total: true });
        expectEqual(`the length for ${bytes - 1} bytes`, less.items.length, Math.max(n, 1));
        expectEqual('whether it has no "next"', less.next === undefined, isLast && n === 0);
        expectEqual('the total of a page with few bytes', less.total, all.length);
      }
      for (const bytes of [1, 200, 500, 1000]) {
        for (const limit of [2, 100]) {
          const found = await readAll(records, { conditions, order, bytes, limit });
          expectEqual(`pages of ${bytes} bytes, limit ${limit}`, found, recordsOf(all));
        }
      }
    }
  });
}

/** Reading a list while records are created and deleted. */
function describeChanges(direction: 'asc' | 'desc', { test }: Suite): void {
  test(`users by email ${direction}: what stays is met once`, async ({ users }) => {
    const email = (n: number, suffix: string) => (n < 10 ? null : `${n}${suffix}@example.com`);
    const stay = times(20, (n) => user({ id: `${n + 10}`, email: email(n, '') }));
    const go = times(20, (n) => user({ id: `${n + 10}x`, email: email(n, 'x') }));
    await insert(users, [...stay, ...go]);
    const goes = new Set(idsOf(go));
    const remove = (id = 'none') => users.delete(id, 'refuse', later);
    const between = (n: number, lastId: string) =>
      Promise.all([
        remove(goes.has(lastId) ? lastId : 'none'),
        remove(go[n]?.id),
        remove(go[20 - n]?.id),
        insert(users, [user({ email: null }), user()]),
        users.update(stay[n]?.id ?? 'none', ({ record }) => ({ ...record, name: 'Other' })),
      ]);
    const order = { field: 'emailKey', direction } as const;
    await expectMetOnce(users, { order, limit: 3, between }, stay);
  });

  test(`posts by title ${direction}: what stays is met once while others write`, async (store) => {
    const { posts } = store;
    const title = (n: number) => `t${String(n % 40).padStart(2, '0')}`;
    const stay = times(40, (n) => post({ title: title(n) }));
    await insert(posts, stay);
    let done = false;
    const writers = times(3, async (writer) => {
      for (let n = 0; !done && n < 200; n++) {
        const [id = ''] = await insert(posts, [post({ title: `${title(n * 7)}${writer}` })]);
        await posts.delete(id);
      }
    });
    try {
      const order = { field: 'titleKey', direction } as const;
      for (let round = 0; round < 3; round++) {
        await expectMetOnce(posts, { order, limit: 5 }, stay);
      }
    } finally {
      done = true;
      await Promise.all(writers);
    }
  });
}

/** Reads a list, and expects these records in it: each one once, and in this order. */
async function expectMetOnce<R extends Entity>(
  records: Pick<Repository<R>, 'list'>,
  reading: Reading,
  stay: readonly R[],
): Promise<void> {
  const stays = new Set(idsOf(stay));
  const found = idsOf(await readAll(records, reading)).filter((id) => stays.has(id));
  const isAscending = reading.order?.direction === 'asc';
  expectEqual('the records that stay', found, isAscending ? idsOf(stay) : idsOf(stay).toReversed());
}
