import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { Connection } from '../../../src/adapters/sqlite/connection/connection.ts';
import {
  missingIndexes,
  withCustomFilters,
} from '../../../src/adapters/sqlite/lists/custom-filters.ts';
import { type ListRead, pageRead, totalRead } from '../../../src/adapters/sqlite/lists/lists.ts';
import type { ListScheme } from '../../../src/adapters/sqlite/lists/plan.ts';
import { postScheme } from '../../../src/adapters/sqlite/posts.ts';
import { recordIndexes, recordTables } from '../../../src/adapters/sqlite/schema/schema.ts';
import { userScheme } from '../../../src/adapters/sqlite/users.ts';
import { postSorts } from '../../../src/domain/list.ts';
import type {
  EntityFilter,
  PostFilter,
  PostSort,
  UserFilter,
  UserSort,
} from '../../../src/domain/search.ts';

const [early, late] = ['2026-01-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'];
const updatedAt = { from: early, before: late };

const [author, wordsIndex] = ['posts_author_created', 'posts_own_number_words'];
const slugIndex = 'users_own_text__53_lug';

/** A list, the index that has its rows in their order, and how a page enters that. */
type Walk<Filter, Sort> = [by: Sort, filter: Filter, index: string, value: string, key: string];

const fields = { slug: 'text', words: 'number', pinned: 'boolean' } as const;
const customPostScheme = withCustomFilters(postScheme, fields);
const customUserScheme = withCustomFilters(userScheme, { Slug: 'text' });

const userWalks: Walk<UserFilter, UserSort>[] = [
  ['createdAt', {}, 'users_created', '', 'created_at'],
  ['updatedAt', {}, 'users_updated', '', 'updated_at'],
  ['name', {}, 'users_name', '', 'name_key'],
  ['email', {}, 'users_email', '', 'email_sort'],
  // No index has both orders: the one of the order is walked.
  ['createdAt', { updatedAt }, 'users_created', '', 'created_at'],
];

const postWalks: Walk<PostFilter, PostSort>[] = [
  ['createdAt', {}, 'posts_created', '', 'created_at'],
  ['updatedAt', {}, 'posts_updated', '', 'updated_at'],
  ['title', {}, 'posts_title', '', 'title_key'],
  ['publishedAt', {}, 'posts_published', '', 'published_at'],
  ['createdAt', { authorId: 'x' }, 'posts_author_created', 'author_id=?', 'created_at'],
  ['createdAt', { authorId: null }, 'posts_author_created', 'author_id=?', 'created_at'],
  ['publishedAt', { authorId: 'x' }, 'posts_author_published', 'author_id=?', 'published_at'],
  ['createdAt', { updatedAt }, 'posts_created', '', 'created_at'],
  ['createdAt', { publishedAt: { before: late } }, 'posts_created', '', 'created_at'],
  ['createdAt', { titleStartsWith: 'x' }, 'posts_created', '', 'created_at'],
];

const customWalks: Walk<PostFilter, PostSort>[] = [
  ['createdAt', { custom: { slug: 'x' } }, 'posts_own_text_slug', '<expr>=?', 'created_at'],
  ['createdAt', { custom: { words: 5 } }, 'posts_own_number_words', '<expr>=?', 'created_at'],
  ['createdAt', { custom: { pinned: true } }, 'posts_own_boolean_pinned', '<expr>=?', 'created_at'],
  // Of several values, the one that the fewest rows are likely to have.
  ['createdAt', { custom: { pinned: true, words: 5 } }, wordsIndex, '<expr>=?', 'created_at'],
  ['createdAt', { custom: { words: 5 }, authorId: null }, wordsIndex, '<expr>=?', 'created_at'],
  ['createdAt', { custom: { words: 5 }, authorId: 'x' }, author, 'author_id=?', 'created_at'],
];

describe('sqlite query plans', () => {
  const database = new DatabaseSync(':memory:');

  before(() => {
    database.exec(recordTables + recordIndexes);
    const customFilters = { users: { Slug: 'text' }, posts: fields } as const;
    for (const { sql } of missingIndexes(new Connection(() => database), customFilters)) {
      database.exec(sql);
    }
  });
  after(() => database.close());

  function planOf(read: ListRead): string {
    const { sql, values } = read.query();
    const rows = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
    return rows.map(({ detail }) => String(detail)).join('; ');
  }

  function expectWalks<Filter extends EntityFilter, Sort extends string>(
    scheme: ListScheme<Filter, Sort>,
    walks: readonly Walk<Filter, Sort>[],
  ): void {
    for (const [by, filter, index, value, key] of walks) {
      it(`${scheme.table} by ${by} of ${JSON.stringify(filter)} are read off ${index}`, () => {
        for (const direction of ['asc', 'desc'] as const) {
          for (const after of [undefined, { key: '2026-05', id: 'i' }]) {
            const order = { by, direction };
            const read = pageRead(scheme, { filter, order, limit: 100, bytes: 1, after });
            const position = `(${key},id)${direction === 'asc' ? '>' : '<'}(?,?)`;
            const seek = [value, after === undefined ? '' : position].filter(Boolean).join(' AND ');
            const plan = `${seek ? 'SEARCH' : 'SCAN'} ${scheme.table} USING INDEX ${index}`;
            expect(planOf(read)).to.equal(plan + (seek && ` (${seek})`));
            expect(read.query().sql).to.include('octet_length(record)');
          }
        }
      });
    }
  }

  expectWalks(userScheme, userWalks);
  expectWalks(postScheme, postWalks);
  expectWalks(customPostScheme, customWalks);
  expectWalks(customUserScheme, [
    ['createdAt', { custom: { Slug: 'x' } }, slugIndex, '<expr>=?', 'created_at'],
  ]);

  it('the number of rows with a custom field is read off its index alone', () => {
    const plan = planOf(totalRead(customPostScheme, { custom: { slug: 'x' } }));
    expect(plan).to.equal('SEARCH posts USING COVERING INDEX posts_own_text_slug (<expr>=?)');
  });

  for (const by of ['createdAt', 'updatedAt'] as const) {
    it(`a span of ${by} enters its index on both sides`, () => {
      for (const span of [{ from: early }, { before: late }, { from: early, before: late }]) {
        const order = { by, direction: 'asc' } as const;
        const request = { filter: { [by]: span }, order, limit: 9, bytes: 1 };
        const column = by === 'createdAt' ? 'created_at' : 'updated_at';
        const index = by === 'createdAt' ? 'posts_created' : 'posts_updated';
        const ends = Object.keys(span).map(
          (end) => `(${column},id)${end === 'from' ? '>' : '<'}(?,?)`,
        );
        const plan = `SEARCH posts USING INDEX ${index} (${ends.join(' AND ')})`;
        expect(planOf(pageRead(postScheme, request))).to.equal(plan);
      }
    });
  }

  it('behind a position in the order of a value that is filtered for, the id is entered', () => {
    const request = { filter: { title: 'x' }, limit: 9, bytes: 1 };
    const order = { by: 'title', direction: 'asc' } as const;
    for (const [key, seek] of [
      ['w', 'title_key=?'],
      ['x', 'title_key=? AND id>?'],
    ] as const) {
      const plan = planOf(pageRead(postScheme, { ...request, order, after: { key, id: 'i' } }));
      expect(plan).to.equal(`SEARCH posts USING INDEX posts_title (${seek})`);
    }
  });

  it('names, titles, drafts and the posts of an author are sorted by their keys', () => {
    const page = { limit: 9, bytes: 1 };
    const byCreated = { by: 'createdAt', direction: 'desc' } as const;
    const byTitle = { by: 'title', direction: 'asc' } as const;
    const byUpdated = { by: 'updatedAt', direction: 'asc' } as const;
    const byPublished = { by: 'publishedAt', direction: 'desc' } as const;
    const [drafts, ofAuthor] = [{ publishedAt: null }, { authorId: 'x' }];
    const [tagged, title] = [{ custom: { slug: 'x' } }, { title: 'X' }];
    for (const [read, found] of [
      // Of the texts with one key, the row has the one that is wanted.
      [pageRead(userScheme, { filter: { name: 'x' }, order: byCreated, ...page }), 'users_name'],
      [pageRead(postScheme, { filter: title, order: byCreated, ...page }), 'posts_title'],
      [pageRead(postScheme, { filter: drafts, order: byCreated, ...page }), '+posts_published'],
      [pageRead(postScheme, { filter: ofAuthor, order: byTitle, ...page }), `+${author}`],
      [pageRead(postScheme, { filter: ofAuthor, order: byUpdated, ...page }), `+${author}`],
      [
        pageRead(customPostScheme, { filter: tagged, order: byPublished, ...page }),
        '+posts_own_text_slug',
      ],
    ] as const) {
      const index = found.replace('+', '');
      const using = found === index ? 'INDEX' : 'COVERING INDEX';
      expect(planOf(read).replace(/ \([<\w>]+=\?\)/, '')).to.equal(
        `SEARCH ${index.slice(0, 5)} USING ${using} ${index}; USE TEMP B-TREE FOR ORDER BY`,
      );
    }
  });

  it('public posts, and those of an author, are read off their index, newest first', () => {
    const order = { by: 'publishedAt', direction: 'desc' } as const;
    const publishedAt = { before: late };
    for (const [filter, index, value] of [
      [{ publishedAt }, 'posts_published', ''],
      [{ publishedAt, authorId: 'x' }, 'posts_author_published', 'author_id=? AND '],
    ] as const) {
      const read = pageRead(postScheme, { filter, order, limit: 9, bytes: 1 });
      const key = '(published_at,id)>(?,?) AND (published_at,id)<(?,?)';
      expect(planOf(read)).to.equal(`SEARCH posts USING INDEX ${index} (${value}${key})`);
      expect(read.walk).to.equal(undefined);
      const total = totalRead(postScheme, filter);
      expect(planOf(total)).to.match(new RegExp(`COVERING INDEX ${index} `));
    }
  });

  it('a span of few rows is entered, and they are sorted', () => {
    const order = { by: 'createdAt', direction: 'desc' } as const;
    for (const [filter, span, plan] of [
      [
        { titleStartsWith: 'x' },
        'title',
        'COVERING INDEX posts_title (title_key>? AND title_key<?)',
      ],
      [
        { titleStartsWith: 'x', authorId: null },
        'title',
        'INDEX posts_title (title_key>? AND title_key<?)',
      ],
      [{ publishedAt: { from: late } }, 'publishedAt', 'COVERING INDEX posts_published'],
    ] as const) {
      const read = pageRead(postScheme, { filter, order, limit: 9, bytes: 1 }, undefined, span);
      expect(planOf(read)).to.include(plan).and.to.include('TEMP B-TREE');
    }
  });

  it('every order with every set of filters has a plan, and sorts keys at most', () => {
    const parts = [
      { ids: ['a', 'b'] },
      { createdAt: { from: early } },
      { updatedAt: { before: late } },
      { title: 'x' },
      { titleStartsWith: 'x' },
      { authorId: null },
      { publishedAt: null },
      { custom: { pinned: true } },
    ];
    for (let set = 0; set < 2 ** parts.length; set++) {
      const filter = Object.assign({}, ...parts.filter((_, bit) => set & (1 << bit)));
      for (const by of postSorts) {
        for (const direction of ['asc', 'desc'] as const) {
          for (const key of [undefined, 'w', 'x', early]) {
            const after = key === undefined ? undefined : { key, id: 'i' };
            const order = { by, direction };
            const read = pageRead(customPostScheme, { filter, order, limit: 1, bytes: 1, after });
            expect(planOf(read)).to.match(/ USING (COVERING )?INDEX /);
            const sorts = planOf(read).includes('TEMP B-TREE');
            expect(sorts && read.query().sql.includes('record_version, CASE')).to.equal(false);
          }
        }
      }
      planOf(totalRead(customPostScheme, filter));
    }
  });
});
