import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { type ListScheme, pageQuery, totalQuery } from '../../../src/adapters/sqlite/lists.ts';
import { postScheme } from '../../../src/adapters/sqlite/posts.ts';
import { recordIndexes, recordTables } from '../../../src/adapters/sqlite/schema.ts';
import { userScheme } from '../../../src/adapters/sqlite/users.ts';
import { type EntityFilter, postSorts, userSorts } from '../../../src/domain/list.ts';

const [early, late] = ['2026-01-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'];
const spans = [{ from: early }, { before: late }, { from: early, before: late }] as const;
const sortIndex = { createdAt: 'created', updatedAt: 'updated', name: 'name', title: 'title' };

describe('sqlite query plans', () => {
  const database = new DatabaseSync(':memory:');

  before(() => database.exec(recordTables + recordIndexes));
  after(() => database.close());

  function planOf({ sql, values }: { sql: string; values: readonly (string | number | null)[] }) {
    const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    return rows.map(({ detail }) => String(detail)).join('; ');
  }

  /**
   * That the first pages and the next ones, in both directions, enter an index, find the rows in
   * their order there, and sort nothing.
   *
   * @param entry how a first page enters the index, and a next one
   */
  function expectWalks<Filter extends EntityFilter, Sort extends string>(
    scheme: ListScheme<Filter, Sort>,
    by: Sort,
    filter: Filter,
    index: string,
    entry: { first: string; next: string },
  ): void {
    it(`${scheme.table} by ${by} of ${JSON.stringify(filter)} walk ${index}`, () => {
      for (const direction of ['asc', 'desc'] as const) {
        for (const after of [undefined, { key: '2026-05', id: 'i' }]) {
          const order = { by, direction };
          const query = pageQuery(scheme, { filter, order, limit: 100, bytes: 1, after });
          expect(query.isSorted).to.equal(false);
          const wanted = after === undefined ? entry.first : entry.next;
          const seek = wanted.replace('behind', direction === 'asc' ? '>' : '<');
          const way = seek === '' ? 'SCAN' : 'SEARCH';
          expect(planOf(query)).to.equal(
            `${way} ${scheme.table} USING INDEX ${index}${seek && ` (${seek})`}`,
          );
        }
      }
    });
  }

  const walk = (column: string) => ({ first: '', next: `(${column},id)behind(?,?)` });
  for (const by of userSorts) {
    const index = by === 'email' ? by : sortIndex[by];
    const column = { createdAt: 'created_at', updatedAt: 'updated_at', name: 'name' };
    expectWalks(
      userScheme,
      by,
      {},
      `users_${index}`,
      walk(by === 'email' ? 'email_sort' : column[by]),
    );
  }
  for (const by of postSorts) {
    const column = { createdAt: 'created_at', updatedAt: 'updated_at', title: 'title' }[by];
    expectWalks(postScheme, by, {}, `posts_${sortIndex[by]}`, walk(column));
    const index = `posts_author_${sortIndex[by]}`;
    for (const authorId of ['x', null]) {
      const next = `author_id=? AND (${column},id)behind(?,?)`;
      expectWalks(postScheme, by, { authorId }, index, { first: 'author_id=?', next });
    }
  }
  for (const [scheme, filter] of [
    [userScheme, { name: 'x' }],
    [postScheme, { title: 'x' }],
  ] as const) {
    const [column] = Object.keys(filter);
    const entry = { first: `${column}=?`, next: `${column}=? AND (created_at,id)behind(?,?)` };
    const index = `${scheme.table}_${column}_created`;
    expectWalks<EntityFilter, 'createdAt'>(scheme, 'createdAt', filter, index, entry);
  }
  // No index has both orders: the one of the order is walked.
  expectWalks(
    userScheme,
    'createdAt',
    { updatedAt: spans[2] },
    'users_created',
    walk('created_at'),
  );
  expectWalks(
    postScheme,
    'createdAt',
    { updatedAt: spans[2] },
    'posts_created',
    walk('created_at'),
  );

  it('spans enter the index of their order on both sides', () => {
    for (const scheme of [userScheme, postScheme] as const) {
      for (const by of ['createdAt', 'updatedAt'] as const) {
        for (const span of spans) {
          const request = { order: { by, direction: 'asc' }, limit: 9, bytes: 1 } as const;
          const plan = planOf(
            pageQuery<EntityFilter, typeof by>(scheme, { ...request, filter: { [by]: span } }),
          );
          const seek = Object.keys(span).map((end) => {
            const column = by === 'createdAt' ? 'created_at' : 'updated_at';
            return `(${column},id)${end === 'from' ? '>' : '<'}(?,?)`;
          });
          const index = `${scheme.table}_${sortIndex[by]}`;
          expect(plan).to.equal(
            `SEARCH ${scheme.table} USING INDEX ${index} (${seek.join(' AND ')})`,
          );
        }
      }
    }
  });

  it('behind a position in the order of a value that is filtered for, the id is entered', () => {
    const request = { filter: { title: 'x' }, limit: 9, bytes: 1 };
    const order = { by: 'title', direction: 'asc' } as const;
    for (const [key, seek] of [
      ['w', 'title=?'],
      ['x', 'title=? AND id>?'],
    ] as const) {
      const plan = planOf(pageQuery(postScheme, { ...request, order, after: { key, id: 'i' } }));
      expect(plan).to.equal(`SEARCH posts USING INDEX posts_title (${seek})`);
    }
  });

  it('every order with every set of filters has a plan, and sorts keys at most', () => {
    const parts = [
      { ids: ['a', 'b'] },
      { createdAt: { from: early } },
      { updatedAt: { before: late } },
      { title: 'x' },
      { authorId: null },
    ];
    for (let set = 0; set < 2 ** parts.length; set++) {
      const filter = Object.assign({}, ...parts.filter((_, bit) => set & (1 << bit)));
      for (const by of postSorts) {
        for (const direction of ['asc', 'desc'] as const) {
          for (const key of [undefined, 'w', 'x', early]) {
            const after = key === undefined ? undefined : { key, id: 'i' };
            const order = { by, direction };
            const query = pageQuery(postScheme, { filter, order, limit: 1, bytes: 1, after });
            expect(planOf(query)).to.match(/ USING (COVERING )?INDEX /);
            const sorts = planOf(query).includes('TEMP B-TREE');
            expect(sorts && query.sql.includes('record'), query.sql).to.equal(false);
          }
        }
      }
      planOf(totalQuery(postScheme, filter));
    }
  });
});
