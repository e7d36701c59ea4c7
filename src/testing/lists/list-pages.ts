import { sorts } from '../../domain/lists/search.ts';
import { type Collection, type Entity, pickFields } from '../../domain/records/record.ts';
import { utf8Bytes } from '../../domain/records/text.ts';
import type { Store } from '../../ports/store.ts';
import { assert, expectEqual, expectRecord, quote } from '../assertions.ts';
import {
  at,
  expandingCharacter,
  longTexts,
  post,
  shuffled,
  times,
  user,
  variedTexts,
} from '../fixtures.ts';
import { repositoryOf, type Suite } from '../suite.ts';
import { declaredEq, from, idsOf, insert, list, readAll, recordsOf, select } from './lists.ts';

const directions = ['asc', 'desc'] as const;

/** The order of lists, and how they are cut into pages. */
export function describePages(suite: Suite): void {
  describeOrders(suite);
  describePageContents(suite);
  for (const direction of directions) describePageBounds(direction, suite);
  for (const direction of directions) describeChanges(direction, suite);
}

/** Ids of records with equal keys. After the longest keys, some differ beyond 4,000 bytes. */
const tiedIds = ['A', ...longTexts(1001), '😀'];

/** The values of each sort, and the ids of the records that have each value. */
const sortValues = {
  createdAt: { values: [at(0), at(1), at(2)], ids: variedTexts },
  updatedAt: { values: [at(0), at(1), at(2)], ids: variedTexts },
  publishedAt: { values: [null, at(0), at(1)], ids: variedTexts },
  name: { values: [...variedTexts, ...longTexts(200, expandingCharacter)], ids: tiedIds },
  title: { values: [...variedTexts, ...longTexts(300, expandingCharacter)], ids: tiedIds },
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
  for (const name of ['users', 'posts'] as const) {
    for (const [by, field] of Object.entries(sorts[name])) {
      test(`${name} by ${by}: by code point, null first, then by id`, (store) =>
        expectSorted(name, store, by as keyof typeof sortValues, field));
    }
  }
}

async function expectSorted(
  name: Collection,
  store: Store,
  by: keyof typeof sortValues,
  field: string,
): Promise<void> {
  const { values, ids } = sortValues[by];
  const records = repositoryOf(store, name);
  const make: (fields: object) => Entity = name === 'users' ? user : post;
  const created = values.flatMap((value, n) =>
    ids.map((id, m) => {
      const custom = (n + m) % 3 > 0 && { constructor: 'here' };
      return make({ id: `${id} ${n}`, [by]: value, ...custom });
    }),
  );
  await insert(records, shuffled(created));
  for (const conditions of [[], [declaredEq('constructor', 'here')]]) {
    for (const direction of directions) {
      const order = { field, direction };
      const expected = idsOf(select(name, created, { conditions, order }));
      for (const limit of [1, 7, expected.length, 1000]) {
        const found = await readAll(records, { conditions, order, limit });
        expectEqual(`the list by ${field} ${direction}, limit ${limit}`, idsOf(found), expected);
      }
    }
  }
}

function describePageContents({ contract: { bytesRead }, testEach }: Suite): void {
  if (bytesRead) {
    testEach('a page reads at most eight times its bytes', async (resource, _, { opened }) => {
      const { records, make } = resource;
      const large = { constructor: 'en', custom: 'x'.repeat(10_000) };
      const created = times(60, (n) => make({ ...large, updatedAt: at(n) }));
      await insert(records, created);
      for (const field of ['createdAt', 'updatedAt'] as const) {
        for (const condition of [declaredEq('constructor', 'en'), from('updatedAt', at(0))]) {
          const before = bytesRead(opened);
          const order = { field, direction: 'desc' } as const;
          await list(records, { conditions: [condition], order, total: true, bytes: 20_000 });
          const read = bytesRead(opened) - before;
          assert(read <= 160_000, `${read} bytes of records were read for a page of 20000`);
        }
      }
    });
  }

  testEach('a page has whole records or only the requested fields', async (resource) => {
    const { records, make } = resource;
    const odd = { 'a.b': 1, $set: 2, constructor: 'c', toString: { a: [1] }, no: true };
    const record = make(odd);
    await insert(records, [record]);
    const fields = ['id', 'createdAt', ...Object.keys(odd).filter((name) => name !== 'no'), 'none'];
    for (const named of [fields, ['id'], fields.filter((name) => !/[.$]/.test(name))]) {
      const { items, isProjected } = await list(records, { fields: named });
      const expected = isProjected === true ? pickFields(record, named) : record;
      expectRecord(items[0], expected, 1, `the record of a page with ${named.join()}`);
    }
  });

  testEach('an aborted list returns its page or throws the reason', async ({ records, make }) => {
    const [id] = await insert(records, [make()]);
    const reason = new RangeError('aborted');
    const signal = AbortSignal.abort(reason);
    const [outcome] = await Promise.allSettled([list(records, { signal, total: true })]);
    if (outcome.status === 'rejected') expectEqual('the error', outcome.reason, reason);
    else expectEqual('the page', idsOf(recordsOf(outcome.value.items)), [id]);
  });
}

/** Where a page begins and ends. */
function describePageBounds(direction: 'asc' | 'desc', { test, testEach }: Suite): void {
  test(`a page can start at a position that no record has, ${direction}`, async ({ users }) => {
    const emails = [null, 'b@x', 'ba@x', 'b\ue000@x'];
    const created = emails.map((email, n) => user({ id: `u${n}`, email, createdAt: at(0) }));
    await insert(users, created);
    const keys = ['', 'b', 'b@x', 'b@x\u0001', 'c', '\ud7ff', '\u{10ffff}', null];
    const ids = ['', 'u', 'u0', 'u0\u0001', 'u1', 'u2', '\u{10ffff}'];
    for (const field of ['emailKey', 'createdAt']) {
      const order = { field, direction };
      for (const after of keys.flatMap((key) => ids.map((id) => ({ key, id })))) {
        if (field === 'createdAt') Object.assign(after, { key: at(0) });
        const expected = select('users', created, { conditions: [], order, after });
        const { items } = await list(users, { order, after });
        expectEqual(`the page after ${quote(after)}`, idsOf(recordsOf(items)), idsOf(expected));
      }
    }
  });

  testEach(`a page ends before it exceeds its bytes, ${direction}`, async ({ records, make }) => {
    const order = { field: 'createdAt', direction } as const;
    // Characters of one to four bytes of UTF-8, and one that JSON escapes.
    const texts = ['x', 'é', '～', '😀', '"', 'x～😀'];
    const created = texts.map((text, n) =>
      make({ createdAt: at(n >> 1), custom: text.repeat(50 + n), constructor: 'en' }),
    );
    await insert(records, created);
    for (const conditions of [[], [declaredEq('constructor', 'en')]]) {
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
      for (const few of [1, 200, 500, 1000]) {
        for (const limit of [2, 100]) {
          const found = await readAll(records, { conditions, order, bytes: few, limit });
          expectEqual(`pages of ${few} bytes, limit ${limit}`, found, recordsOf(all));
        }
      }
    }
  });
}

/** The orders in which a changing list is read. */
const changingOrders = [
  { field: 'titleKey' },
  { field: 'pages', declaredType: 'number' },
  { field: 'language', declaredType: 'text' },
] as const;

/** Reading a list while records are created and deleted. */
function describeChanges(direction: 'asc' | 'desc', { test }: Suite): void {
  /** With equal values, null, and none. */
  const postAt = (n: number, more = '') => {
    const values =
      n % 8 === 1 ? { pages: null, language: null } : { pages: n % 5, language: `${n % 5}` };
    return post({ title: `t${String(n % 40).padStart(2, '0')}${more}`, ...(n % 8 && values) });
  };
  for (const by of changingOrders) {
    const order = { ...by, direction };
    const title = `a changing list returns each lasting record exactly once, by ${by.field}, ${direction}`;
    test(title, async ({ posts }) => {
      const stay = times(40, (n) => postAt(n));
      const expected = idsOf(select('posts', stay, { conditions: [], order }));
      await insert(posts, stay);
      let done = false;
      const writers = times(3, async (writer) => {
        for (let n = 0; !done && n < 200; n++) {
          const [id = ''] = await insert(posts, [postAt(n * 7, `${writer}`)]);
          await posts.delete(id);
        }
      });
      try {
        for (let round = 0; round < 3; round++) {
          const found = idsOf(await readAll(posts, { order, limit: 5 }));
          const stayed = found.filter((id) => expected.includes(id));
          expectEqual('the records that stay', stayed, expected);
        }
      } finally {
        done = true;
        await Promise.all(writers);
      }
    });
  }
}
