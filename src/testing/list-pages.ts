import type { EntityFilter } from '../domain/list.ts';
import { type Entity, projected } from '../domain/record.ts';
import { utf8Bytes } from '../domain/text.ts';
import { check, is } from './assertions.ts';
import { at, later, post, times, user } from './fixtures.ts';
import { idsOf, type Lister, pageOf, put, putEach, recordsOf, type Walk, walk } from './lists.ts';
import type { Suite } from './suite.ts';

const directions = ['asc', 'desc'] as const;

/** How a list is cut into pages. */
export function describePages(suite: Suite): void {
  describeParts(suite);
  for (const direction of directions) describePositions(direction, suite);
  for (const direction of directions) describeChanges(direction, suite);
}

function describeParts({ contract: { bytesRead }, test, both }: Suite): void {
  if (bytesRead) {
    both('a page reads no more than eight times its bytes', async (resource, _, { opened }) => {
      const { records, make } = resource;
      const large = { constructor: 'en', custom: 'x'.repeat(10_000) };
      await putEach(records, times(60, at), (updatedAt) => make({ ...large, updatedAt }));
      const custom = { constructor: 'en' };
      for (const by of ['createdAt', 'updatedAt'] as const) {
        for (const filter of [{}, { custom }, { updatedAt: { from: at(0) } }]) {
          const before = bytesRead(opened);
          const request = { filter, order: { by, direction: 'desc' }, total: true } as const;
          await pageOf(records, { ...request, bytes: 20_000 });
          const read = bytesRead(opened) - before;
          check(read <= 160_000, `${read} bytes of records were read for a page of 20000`);
        }
      }
    });
  }

  both('fields: whole records, or their id and the fields that are named', async (resource) => {
    const { records, make } = resource;
    const odd = { 'a.b': 1, $set: 2, constructor: 'c', toString: { a: [1] }, no: true };
    const record = make(odd);
    await put(records, [record]);
    const fields = ['id', 'createdAt', ...Object.keys(odd).filter((name) => name !== 'no'), 'none'];
    for (const by of ['createdAt', 'updatedAt'] as const) {
      for (const named of [fields, ['id'], fields.filter((name) => !/[.$]/.test(name))]) {
        const order = { by, direction: 'asc' } as const;
        const { items, isProjected } = await pageOf(records, { order, fields: named });
        const [item] = items;
        const wanted = isProjected === true ? projected(record, named) : record;
        is(`the record of a page of ${named.join()}`, item?.record, wanted);
        is(`the json of a page of ${named.join()}`, JSON.parse(item?.json ?? ''), wanted);
      }
    }
  });

  both('next is absent exactly when no match follows', async ({ records, make }) => {
    const none = await pageOf(records, { total: true });
    is(
      'items, next and total of an empty list',
      [none.items, none.next, none.total],
      [[], undefined, 0],
    );
    const ids = await putEach(records, times(4, at), (createdAt) => make({ createdAt }));
    for (const limit of [1, 3, 4, 5, 1000]) {
      const { items, next } = await pageOf(records, { limit });
      is(`records on a page, limit ${limit}`, items.length, Math.min(limit, 4));
      is(`whether a next page follows ${limit} of 4`, next !== undefined, limit < 4);
    }
    const filter = { ids: ids.slice(0, 2) };
    is('next of the last page', (await pageOf(records, { filter, limit: 2 })).next, undefined);
  });

  both('total counts all that the filter matches, where it is asked for', async (resource) => {
    const { records, make } = resource;
    await putEach(records, times(5, at), (createdAt) => make({ createdAt }));
    const filter = { createdAt: { from: at(1) } };
    for (const after of [undefined, { key: at(2), id: 'x' }, { key: at(99), id: 'x' }]) {
      const page = await pageOf(records, { filter, limit: 2, after, total: true });
      is(`total behind ${after?.key}`, page.total, 4);
    }
    for (const total of [undefined, false]) {
      is('total, not asked for,', (await pageOf(records, { total })).total, undefined);
    }
  });

  test('next is the sort key and the id of the page’s last record', async ({ users }) => {
    const emails = [null, 'É@example.com', 'z@example.com'];
    await putEach(users, emails, (email, n) => user({ id: `u${n}`, email }));
    const order = { by: 'email', direction: 'asc' } as const;
    const first = await pageOf(users, { order, limit: 1 });
    is('next', first.next, { key: null, id: 'u0' });
    const second = await pageOf(users, { order, limit: 1, after: first.next });
    is('next', second.next, { key: 'z@example.com', id: 'u2' });
  });
}

function describePositions(direction: 'asc' | 'desc', { test, both }: Suite): void {
  const order = { by: 'createdAt', direction } as const;

  both(`a page begins behind a position, ${direction}`, async ({ records, make, remove }) => {
    // Two records to a moment, and the middle pair has ids on either side of "m".
    const made = times(6, (n) => make({ id: `${n % 2 ? 'z' : 'a'}${n}`, createdAt: at(n >> 1) }));
    await put(records, made);
    const listed = direction === 'asc' ? made : made.toReversed();
    const begins = async (key: string, id: string, index: number) => {
      const { items } = await pageOf(records, { order, after: { key, id } });
      is(`page behind ${key} ${id}`, idsOf(recordsOf(items)), idsOf(listed.slice(index)));
    };
    await begins(at(1), 'm', 3);
    const [, second, third] = listed as [unknown, (typeof made)[0], (typeof made)[0]];
    await begins(second.createdAt, second.id, 2);
    await remove(second.id);
    await begins(second.createdAt, second.id, 2);
    await remove(third.id);
    await begins(second.createdAt, second.id, 3);
  });

  test(`a position may have any text as its key or id, ${direction}`, async ({ users }) => {
    const names = ['a', 'b', 'ba', 'b\ue000'];
    await putEach(users, names, (name) => user({ id: name, name, createdAt: at(0) }));
    const begins = async (key: string, id: string, index: number) => {
      const by = key === at(0) ? 'createdAt' : 'name';
      const { items } = await pageOf(users, { order: { by, direction }, after: { key, id } });
      const rest = direction === 'asc' ? names.slice(index) : names.slice(0, index).toReversed();
      is(`page behind ${JSON.stringify([key, id])}`, idsOf(recordsOf(items)), rest);
    };
    // Between "b" and "ba": a NUL comes before every other character.
    await begins('b\0', '', 2);
    await begins('b\0z', 'z', 2);
    await begins(at(0), 'b\0', 2);
    await begins(at(0), 'b\0a', 2);
    // Behind "ba": half of a surrogate pair comes after all of ASCII, and before U+E000.
    await begins('b\ud800', '', 3);
    await begins(at(0), 'b\udfff', 3);
  });

  both(`a page ends before it is over its bytes, ${direction}`, async ({ records, make }) => {
    // Characters of one, two, three and four bytes of UTF-8, and one that JSON escapes.
    const texts = ['x', 'é', '～', '😀', '"', 'x～😀'];
    const made = texts.map((text, n) =>
      make({ createdAt: at(n >> 1), custom: text.repeat(50 + n), constructor: 'en' }),
    );
    await put(records, made);
    for (const filter of [{}, { custom: { constructor: 'en' } }]) {
      const all = (await pageOf(records, { filter, order })).items;
      let bytes = 0;
      for (const [n, { json }] of all.entries()) {
        bytes += utf8Bytes(json);
        const isLast = n === all.length - 1;
        const exact = await pageOf(records, { filter, order, bytes });
        is(`records in ${bytes} bytes`, exact.items.length, n + 1);
        is(`whether ${bytes} bytes have the last page`, exact.next === undefined, isLast);
        const less = await pageOf(records, { filter, order, bytes: bytes - 1, total: true });
        is(`records in ${bytes - 1} bytes`, less.items.length, Math.max(n, 1));
        is(`whether ${bytes - 1} bytes have it`, less.next === undefined, isLast && n === 0);
        is('total of a page with few bytes', less.total, all.length);
      }
      for (const bytes of [1, 200, 500, 1000]) {
        for (const limit of [2, 100]) {
          const walked = await walk(records, { filter, order, bytes, limit });
          is(`${bytes} bytes, limit ${limit}`, walked, recordsOf(all));
        }
      }
    }
  });
}

/** Lists that are walked while records come and go. */
function describeChanges(direction: 'asc' | 'desc', { test }: Suite): void {
  test(`users by email ${direction}: what stays is met once`, async ({ users }) => {
    const email = (n: number, suffix: string) => (n < 10 ? null : `${n}${suffix}@example.com`);
    const stay = times(20, (n) => user({ id: `${n + 10}`, email: email(n, '') }));
    const go = times(20, (n) => user({ id: `${n + 10}x`, email: email(n, 'x') }));
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
    await meetsOnce(users, { order: { by: 'email', direction }, limit: 3, between }, stay);
  });

  test(`posts by title ${direction}: what stays is met once while others write`, async (store) => {
    const { posts } = store;
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
    try {
      for (let round = 0; round < 3; round++) {
        await meetsOnce(posts, { order: { by: 'title', direction }, limit: 5 }, stay);
      }
    } finally {
      done = true;
      await Promise.all(churn);
    }
  });
}

/** Holds a walk to these records, each met once and in this order, whatever else there is. */
async function meetsOnce<R extends Entity, Filter extends EntityFilter, Sort extends string>(
  lister: Lister<R, Filter, Sort>,
  request: Walk<Filter, Sort>,
  stay: readonly R[],
): Promise<void> {
  const stays = new Set(idsOf(stay));
  const walked = idsOf(await walk(lister, request)).filter((id) => stays.has(id));
  const isAscending = request.order?.direction === 'asc';
  is('records that stay', walked, isAscending ? idsOf(stay) : idsOf(stay).toReversed());
}
