import { renameSync } from 'node:fs';
import { expect } from 'chai';
import {
  type PageRequest,
  type Position,
  userSortKey,
  userSorts,
} from '../../../src/domain/list.ts';
import type { UserFilter, UserSort } from '../../../src/domain/search.ts';
import { textKey } from '../../../src/domain/text.ts';
import type { User } from '../../../src/domain/user.ts';
import { stepped } from './support/faults.ts';
import { Folder } from './support/folder.ts';
import { post, unavailable, user } from './support/records.ts';

const at = (second: number) => `2026-05-05T05:05:0${second}.000Z`;
/** Texts that no record can have, around texts that records have. */
const oddTexts = ['', 'a\0', 'a\ud800', 'a\udfffz', 'a\ue000', '\ud83d', '\uffff', 'no time'];

/** The plainest comparison there is: half of a surrogate pair is a code point, too. */
function byCodePoint(a: string, b: string): number {
  const [x, y] = [a, b].map((text) => Array.from(text, (one) => one.codePointAt(0) ?? 0));
  for (const [i, point] of (x ?? []).entries()) {
    const other = y?.[i] ?? -1;
    if (point !== other) return point - other;
  }
  return a.length - b.length;
}

function byPosition(a: Position, b: Position): number {
  if (a.key !== null && b.key !== null) return byCodePoint(a.key, b.key) || byCodePoint(a.id, b.id);
  return Number(a.key !== null) - Number(b.key !== null) || byCodePoint(a.id, b.id);
}

function beginsWith(text: string | null, prefix: string | undefined): boolean {
  if (prefix === undefined) return true;
  return text !== null && textKey(text).startsWith(textKey(prefix));
}

describe('lists of the sqlite store', () => {
  const folder = new Folder();

  const users = ['a', 'a\ue000', 'a\ue000b', 'b', '～', '😀'].map((id, n) =>
    user(id, {
      createdAt: at(n >> 1),
      updatedAt: at(5 - (n >> 1)),
      name: n < 4 ? '～' : id,
      email: n % 2 === 0 ? null : `${id}@b`,
    }),
  );
  const keys = [null, ...oddTexts, ...users.flatMap(({ name, createdAt }) => [name, createdAt])];
  const ids = [...oddTexts, ...users.map(({ id }) => id)];
  const ends = [undefined, at(1), at(4), '2026-05', `${at(1)}\0`, '\ud800'];

  /** What a list has to be, said in the plainest way. */
  function wanted({ filter, order, after }: PageRequest<UserFilter, UserSort>): string[] {
    const sign = order.direction === 'asc' ? 1 : -1;
    const positionOf = (one: User): Position => ({ key: userSortKey(one, order.by), id: one.id });
    return users
      .filter((one) => filter.name === undefined || one.name === filter.name)
      .filter(({ name }) => beginsWith(name, filter.nameStartsWith))
      .filter(({ email }) => beginsWith(email, filter.emailStartsWith))
      .filter((one) =>
        (['createdAt', 'updatedAt'] as const).every((field) => {
          const { from = '', before = '\u{10ffff}' } = filter[field] ?? {};
          return byCodePoint(one[field], from) >= 0 && byCodePoint(one[field], before) < 0;
        }),
      )
      .map(positionOf)
      .filter((one) => after === undefined || byPosition(one, after) * sign > 0)
      .toSorted((a, b) => byPosition(a, b) * sign)
      .map(({ id }) => id);
  }

  async function expectAll(requests: Iterable<PageRequest<UserFilter, UserSort>>) {
    const store = folder.open();
    await Promise.all(users.map((one) => store.users.create(one)));
    for (const request of requests) {
      const { items } = await store.users.list(request);
      const found = items.map(({ record }) => record.id);
      expect(found, JSON.stringify(request)).to.deep.equal(wanted(request));
    }
  }

  for (const by of ['createdAt', 'updatedAt', 'name', 'email'] as const) {
    for (const direction of ['asc', 'desc'] as const) {
      const all = { order: { by, direction }, limit: 10, bytes: 2 ** 20 };

      it(`by ${by} ${direction}, behind any text, compare by code point`, () =>
        expectAll(
          [
            {},
            ...[{ name: '～' }, { name: '😀' }, { nameStartsWith: '～' }, { nameStartsWith: 'A' }],
            ...[{ emailStartsWith: '' }, { emailStartsWith: 'A', name: '～' }],
          ].flatMap((filter) =>
            keys.flatMap((key) => ids.map((id) => ({ ...all, filter, after: { key, id } }))),
          ),
        ));

      it(`by ${by} ${direction}, within spans of any text, compare by code point`, () =>
        expectAll(
          (['createdAt', 'updatedAt'] as const).flatMap((field) =>
            ends.flatMap((from) =>
              ends.flatMap((before) =>
                [undefined, at(0), at(2), at(5), 'no time'].map((key) => ({
                  ...all,
                  filter: { [field]: { from, before } },
                  after: key === undefined ? undefined : { key, id: 'b' },
                })),
              ),
            ),
          ),
        ));
    }
  }

  it('a beginning that few rows have is sorted; one that many have is looked for', async () => {
    const queries: string[] = [];
    const watching = stepped((sql, run) => {
      if (sql.startsWith('SELECT rowid')) queries.push(/posts_\w+/.exec(sql)?.[0] ?? '');
      return run();
    });
    const store = folder.open(folder.file(), {}, watching);
    const made = Array.from({ length: 6000 }, (_, n) => {
      const title = n < 20 ? 'Needle' : n < 5900 ? 'Hay' : 'Straw';
      const createdAt = new Date(Date.parse(at(0)) + n).toISOString();
      const record = post(`${10_000 + n}`, { title, createdAt });
      return { record, version: 1, json: JSON.stringify(record) };
    });
    await store.transfer.posts.load(made);
    const order = { by: 'createdAt', direction: 'desc' } as const;
    for (const [titleStartsWith, last, indexes] of [
      ['NEEDLE', 20, ['posts_created', 'posts_title']],
      ['ha', 5900, ['posts_created']],
      ['h', 5900, ['posts_created']],
    ] as const) {
      queries.length = 0;
      const filter = { titleStartsWith };
      const { items, next } = await store.posts.list({ filter, order, limit: 7, bytes: 9999 });
      const expected = made.slice(last - 7, last).map(({ record }) => record.id);
      expect(items.map(({ record }) => record.id)).to.deep.equal(expected.reverse());
      expect([...new Set(queries)]).to.deep.equal(indexes);
      const rest = await store.posts.list({ filter, order, limit: 7, bytes: 9999, after: next });
      expect(rest.items[0]?.record.id).to.equal(`${10_000 + last - 8}`);
      const all = await store.posts.list({ filter, order, limit: 1, bytes: 9999, total: true });
      expect(all.total).to.equal(
        made.filter(({ record: { title } }) => {
          return title.toLowerCase().startsWith(titleStartsWith.toLowerCase());
        }).length,
      );
    }
  });

  it('no more rows of large records are read than a page can have', async () => {
    let read = 0;
    const counting = stepped((sql, run) => {
      const result = run();
      if (sql.startsWith('PREPARE')) return result;
      if (sql.includes('record FROM posts WHERE rowid')) read += 1;
      if (sql.includes('FROM posts INDEXED')) {
        read += (result as unknown[][]).filter(([, , json]) => typeof json === 'string').length;
      }
      return result;
    });
    const store = folder.open(folder.file(), {}, counting);
    const ids = Array.from({ length: 20 }, (_, n) => `${n}`);
    const body = 'x'.repeat(100_000);
    await Promise.all(ids.map((id) => store.posts.create(post(id, { body }))));
    for (const filter of [{}, { ids }]) {
      read = 0;
      const order = { by: 'title', direction: 'asc' } as const;
      const { items } = await store.posts.list({ filter, order, limit: 20, bytes: 350_000 });
      expect([items.length, read], JSON.stringify(filter)).to.deep.equal([3, 4]);
    }
  });

  it('more shapes of lists than are kept prepared are served all the same', async () => {
    const shapes = new Set<string>();
    let prepared = 0;
    const counting = stepped((sql, run) => {
      if (sql.startsWith('PREPARE SELECT')) {
        shapes.add(sql);
        prepared += 1;
      }
      return run();
    });
    const store = folder.open(folder.file(), {}, counting);
    await store.users.create(user('ann'));
    const fields = Array.from({ length: 70 }, (_, n) => `f${n}`);
    for (let round = 0; round < 2; round++) {
      for (const by of userSorts) {
        for (let n = 0; n < fields.length; n++) {
          const order = { by, direction: 'asc' } as const;
          const page = { filter: {}, order, limit: 9, bytes: 999 };
          const { items } = await store.users.list({ ...page, fields: fields.slice(0, n) });
          expect(items.map(({ json }) => json)).to.deep.equal(['{"id":"ann"}']);
        }
      }
    }
    expect(prepared, 'statements that were prepared').to.be.greaterThan(shapes.size + 100);
  });
});

describe('the data file of a sqlite store', () => {
  const folder = new Folder();

  it('that was moved away makes the store unready', async () => {
    const path = folder.file();
    const store = folder.open(path);
    await store.ready();
    renameSync(path, `${path}.moved`);
    await unavailable(store.ready());
    renameSync(`${path}.moved`, path);
    await store.ready();
  });
});
