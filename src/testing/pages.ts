import assert from 'node:assert/strict';
import { projected } from '../domain/record.ts';
import { utf8Bytes } from '../domain/text.ts';
import { counts } from './assertions.ts';
import { at, post, times, user } from './fixtures.ts';
import { idsOf, pageOf, put, putEach, recordsOf, walk } from './lists.ts';
import type { Suite } from './suite.ts';

const directions = ['asc', 'desc'] as const;

/** How a list is cut into pages. */
export function describePages(suite: Suite): void {
  describePositions(suite);
  describeBytes(suite);
  describeTotals(suite);
}

function describePositions({ test, both }: Suite): void {
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
        assert.deepEqual(item?.record, wanted, `the record of a page of ${named.join()}`);
        assert.deepEqual(JSON.parse(item?.json ?? ''), wanted, 'its json');
      }
    }
  });

  both('an empty list is one page without a next', async ({ records }) => {
    const page = await pageOf(records, { total: true });
    assert.deepEqual([page.items, page.next, page.total], [[], undefined, 0]);
  });

  both('next is absent exactly when no match follows', async ({ records, make }) => {
    const ids = await putEach(records, [0, 1, 2, 3], (n) => make({ createdAt: at(n) }));
    for (const limit of [1, 3, 4, 5, 1000]) {
      const { items, next } = await pageOf(records, { limit });
      counts(`records on a page, limit ${limit}`, items.length, Math.min(limit, 4));
      assert.equal(next !== undefined, limit < 4, `next, limit ${limit} of 4`);
    }
    const filter = { ids: ids.slice(0, 2) };
    assert.equal((await pageOf(records, { filter, limit: 2 })).next, undefined);
  });

  test('next is the sort key and the id of the page’s last record', async ({ users }) => {
    const emails = [null, 'É@example.com', 'z@example.com'];
    await putEach(users, emails, (email, n) => user({ id: `u${n}`, email }));
    const order = { by: 'email', direction: 'asc' } as const;
    const first = await pageOf(users, { order, limit: 1 });
    assert.deepEqual(first.next, { key: null, id: 'u0' });
    const second = await pageOf(users, { order, limit: 1, after: first.next });
    assert.deepEqual(second.next, { key: 'z@example.com', id: 'u2' });
    const third = await pageOf(users, { order, limit: 1, after: second.next });
    assert.deepEqual(idsOf(recordsOf(third.items)), ['u1']);
    assert.equal(third.next, undefined);
  });

  for (const direction of directions) {
    const order = { by: 'createdAt', direction } as const;

    both(`a page begins behind a position, ${direction}`, async ({ records, make, remove }) => {
      // Two records to a moment, and the middle pair has ids on either side of "m".
      const made = times(6, (n) => make({ id: `${n % 2 ? 'z' : 'a'}${n}`, createdAt: at(n >> 1) }));
      await put(records, made);
      const listed = direction === 'asc' ? made : made.toReversed();
      const begins = async (key: string, id: string, index: number) => {
        const { items } = await pageOf(records, { order, after: { key, id } });
        assert.deepEqual(idsOf(recordsOf(items)), idsOf(listed.slice(index)));
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
      const made = ['a', 'b', 'ba'].map((name) => user({ id: name, name, createdAt: at(0) }));
      await put(users, made);
      const byName = { by: 'name', direction } as const;
      const begins = async (request: Parameters<typeof users.list>[0]['after'], index: number) => {
        const page = await pageOf(users, {
          order: request?.key === at(0) ? order : byName,
          after: request,
        });
        const expected =
          direction === 'asc' ? ['a', 'b', 'ba'].slice(index) : ['ba', 'b', 'a'].slice(3 - index);
        assert.deepEqual(idsOf(recordsOf(page.items)), expected, JSON.stringify(request));
      };
      // Between "b" and "ba": a NUL comes before every other character.
      await begins({ key: 'b\0', id: '' }, 2);
      await begins({ key: 'b\0z', id: 'z' }, 2);
      await begins({ key: at(0), id: 'b\0' }, 2);
      await begins({ key: at(0), id: 'b\0a' }, 2);
      // Behind "ba": half of a surrogate pair comes after all of ASCII.
      await begins({ key: 'b\ud800', id: '' }, 3);
      await begins({ key: at(0), id: 'b\udfff' }, 3);
    });
  }

  test('a page may have a thousand records', async ({ posts }) => {
    const records = times(1001, (n) => post({ createdAt: at(n) }));
    await put(posts, records);
    const first = await pageOf(posts, { limit: 1000, total: true });
    counts('records on the page', first.items.length, 1000);
    counts('records in all', first.total ?? 0, 1001);
    const rest = await pageOf(posts, { limit: 1000, after: first.next });
    assert.deepEqual(idsOf(recordsOf(rest.items)), [records[1000]?.id]);
    assert.equal(rest.next, undefined);
  });
}

function describeBytes({ both }: Suite): void {
  for (const direction of directions) {
    const order = { by: 'createdAt', direction } as const;

    both(`a page ends before it is over its bytes, ${direction}`, async ({ records, make }) => {
      // Characters of one, two, three and four bytes of UTF-8, and one that JSON escapes.
      const texts = ['x', 'é', '～', '😀', '"', 'x～😀'];
      const made = texts.map((text, n) => make({ createdAt: at(n), own: text.repeat(50 + n) }));
      await put(records, made);
      const all = (await pageOf(records, { order })).items;
      let bytes = 0;
      for (const [n, { json }] of all.entries()) {
        bytes += utf8Bytes(json);
        const isLast = n === all.length - 1;
        const exact = await pageOf(records, { order, bytes });
        counts(`records in ${bytes} bytes`, exact.items.length, n + 1);
        assert.equal(exact.next === undefined, isLast, `next after ${bytes} bytes`);
        const less = await pageOf(records, { order, bytes: bytes - 1, total: true });
        counts(`records in ${bytes - 1} bytes`, less.items.length, Math.max(n, 1));
        assert.equal(less.next === undefined, isLast && n === 0, `next after ${bytes - 1} bytes`);
        assert.equal(less.total, all.length, 'bytes changed the total');
      }
    });

    both(`pages of any bytes make up the whole list, ${direction}`, async ({ records, make }) => {
      const made = times(9, (n) => make({ createdAt: at(n >> 1), own: '～'.repeat(n * 40) }));
      await put(records, made);
      const whole = await walk(records, { order });
      counts('records', whole.length, 9);
      for (const bytes of [1, 200, 500, 1000, 2000]) {
        for (const limit of [2, 100]) {
          const walked = await walk(records, { order, bytes, limit });
          assert.deepEqual(idsOf(walked), idsOf(whole), `${bytes} bytes, limit ${limit}`);
        }
      }
    });
  }
}

function describeTotals({ both }: Suite): void {
  both('total counts all that the filter matches, on every page', async ({ records, make }) => {
    await putEach(records, [0, 1, 2, 3, 4], (n) => make({ createdAt: at(n) }));
    const filter = { createdAt: { from: at(1) } };
    for (const after of [undefined, { key: at(2), id: 'x' }, { key: at(99), id: 'x' }]) {
      const page = await pageOf(records, { filter, limit: 2, after, total: true });
      assert.equal(page.total, 4, `total behind ${after?.key}: ${page.total}, not 4`);
    }
  });

  both('there is no total when none was asked for', async ({ records, make }) => {
    await put(records, [make()]);
    for (const total of [undefined, false]) {
      assert.equal((await pageOf(records, { total })).total, undefined);
    }
  });
}
