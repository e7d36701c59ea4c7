import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { type ListScheme, pageQuery, totalQuery } from '../../../src/adapters/sqlite/list-query.ts';
import { postLists, userLists } from '../../../src/adapters/sqlite/list-schemes.ts';
import { migrations } from '../../../src/adapters/sqlite/schema.ts';
import {
  type EntityFilter,
  type PostFilter,
  type PostSort,
  postSorts,
  type UserFilter,
  type UserSort,
  userSorts,
} from '../../../src/domain/page.ts';

const [early, late] = ['2026-01-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'];
const inMay = '2026-05-05T00:00:00.000Z';
const spans = [{ from: early }, { before: late }, { from: early, before: late }] as const;
const directions = ['asc', 'desc'] as const;
const pages = ['first', 'next'] as const;

describe('sqlite query plans', () => {
  const database = new DatabaseSync(':memory:');

  before(() => {
    for (const migration of migrations) database.exec(migration);
  });

  after(() => database.close());

  function plan(query: { sql: string; values: readonly (string | number | null)[] } | undefined) {
    if (query === undefined) throw new Error('nothing can match');
    return database
      .prepare(`EXPLAIN QUERY PLAN ${query.sql}`)
      .all(...query.values)
      .map((row) => String(row.detail))
      .join('; ');
  }

  interface Case<Filter, Sort> {
    readonly title: string;
    readonly by: Sort;
    readonly filter: Filter;
    /** What the plan of a first page is, and of a next one. */
    readonly first: RegExp;
    readonly next: RegExp;
  }

  function expectPlans<Filter extends EntityFilter, Sort extends string>(
    scheme: ListScheme<Filter, Sort>,
    { title, by, filter, first, next }: Case<Filter, Sort>,
  ): void {
    for (const direction of directions) {
      for (const page of pages) {
        it(`${scheme.table}: ${title}, by ${by} ${direction}, ${page} page`, () => {
          const key = by === 'createdAt' || by === 'updatedAt' ? inMay : 'some text';
          const after = page === 'next' ? { key, id: 'some id' } : undefined;
          const request = { order: { by, direction }, limit: 100, after };
          const found = plan(pageQuery(scheme, filter, request));
          expect(found).to.match(page === 'first' ? first : next);
          expect(found).not.to.include('TEMP B-TREE').and.not.to.include(';');
        });
      }
    }
  }

  function sorts<Filter extends EntityFilter, Sort extends string>(
    scheme: ListScheme<Filter, Sort>,
    all: readonly Sort[],
    nothing: Filter,
  ): void {
    for (const by of all) {
      const { index } = scheme.sorts[by];
      expectPlans(scheme, {
        title: 'all',
        by,
        filter: nothing,
        first: new RegExp(`^SCAN ${scheme.table} USING INDEX ${index}$`),
        next: new RegExp(
          `^SEARCH ${scheme.table} USING INDEX ${index} \\(\\(.*,id\\)[<>]\\(\\?,\\?\\)\\)$`,
        ),
      });
    }
  }

  sorts<UserFilter, UserSort>(userLists, userSorts, {});
  sorts<PostFilter, PostSort>(postLists, postSorts, {});

  for (const span of spans) {
    const said = Object.keys(span).join(' and ');
    for (const by of ['createdAt', 'updatedAt'] as const) {
      const index = by === 'createdAt' ? 'created' : 'updated';
      const title = `a span of ${by} with ${said}`;
      const bounded = (table: string) =>
        new RegExp(`^SEARCH ${table} USING INDEX ${table}_${index} \\(.*[<>].*\\)$`);
      const user = { first: bounded('users'), next: bounded('users') };
      const post = { first: bounded('posts'), next: bounded('posts') };
      expectPlans(userLists, { title, by, filter: { [by]: span }, ...user });
      expectPlans(postLists, { title, by, filter: { [by]: span }, ...post });
    }
    // No index has both orders: the one of the order is walked.
    const title = `a span of updatedAt with ${said}`;
    const [by, filter] = ['createdAt', { updatedAt: span }] as const;
    const walk = (table: string) => ({
      first: new RegExp(`^SCAN ${table} USING INDEX ${table}_created$`),
      next: new RegExp(`^SEARCH ${table} USING INDEX ${table}_created \\(\\(created_at,id\\)`),
    });
    expectPlans(userLists, { title, by, filter, ...walk('users') });
    expectPlans(postLists, { title, by, filter, ...walk('posts') });
  }

  const equality = (table: string, index: string, column: string) => ({
    first: new RegExp(`^SEARCH ${table} USING INDEX ${index} \\(${column}=\\?\\)$`),
    next: new RegExp(
      `^SEARCH ${table} USING INDEX ${index} \\(${column}=\\? AND \\(created_at,id\\)[<>]\\(\\?,\\?\\)\\)$`,
    ),
  });
  const user = { by: 'createdAt', title: 'a name', filter: { name: 'x' } } as const;
  expectPlans(userLists, { ...user, ...equality('users', 'users_name_created', 'name') });
  const title = { by: 'createdAt', title: 'a title', filter: { title: 'x' } } as const;
  expectPlans(postLists, { ...title, ...equality('posts', 'posts_title_created', 'title') });
  const author = { by: 'createdAt', title: 'an author', filter: { authorId: 'x' } } as const;
  expectPlans(postLists, { ...author, ...equality('posts', 'posts_author_created', 'author_id') });
  const none = { by: 'createdAt', title: 'no author', filter: { authorId: null } } as const;
  expectPlans(postLists, { ...none, ...equality('posts', 'posts_author_created', 'author_id') });

  // One row at most.
  const email = /^SEARCH users USING INDEX users_email_key \(email_key=\?\)$/;
  for (const by of userSorts) {
    const one = { title: 'an email', by, filter: { email: 'a@b' }, first: email, next: email };
    expectPlans(userLists, one);
  }

  // The value that is sorted by is the same for all: the rest is an order by id.
  for (const key of ['x', 'w', 'y']) {
    it(`posts: a title, by title, behind a position at ${key}`, () => {
      const page = {
        order: { by: 'title', direction: 'asc' },
        limit: 9,
        after: { key, id: 'i' },
      } as const;
      const query = pageQuery(postLists, { title: 'x' }, page);
      if (key === 'y') expect(query).to.equal(undefined);
      else {
        const end = key === 'x' ? ' AND id>\\?' : '';
        const wanted = `^SEARCH posts USING INDEX posts_title \\(title=\\?${end}\\)$`;
        expect(plan(query)).to.match(new RegExp(wanted));
      }
    });
  }

  for (const direction of directions) {
    it(`ids are looked up by the primary key and sorted, by createdAt ${direction}`, () => {
      const page = { order: { by: 'createdAt', direction }, limit: 9 } as const;
      const found = plan(pageQuery(postLists, { ids: ['a', 'b', 'c'] }, page));
      expect(found).to.equal(
        'SEARCH posts USING INDEX sqlite_autoindex_posts_1 (id=?); USE TEMP B-TREE FOR ORDER BY',
      );
    });
  }

  it('every order with every set of filters has a plan', () => {
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
        for (const direction of directions) {
          for (const key of [undefined, by === 'title' ? 'x' : inMay]) {
            const after = key && { key, id: 'i' };
            const found = plan(
              pageQuery(postLists, filter, {
                order: { by, direction },
                limit: 1,
                ...(after && { after }),
              }),
            );
            expect(found).to.match(/ USING INDEX /);
          }
        }
      }
      plan(totalQuery(postLists, filter));
    }
  });
});
