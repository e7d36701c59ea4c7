import { renameSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { Connection } from '../../../src/adapters/sqlite/connection/connection.ts';
import { declareFields } from '../../../src/adapters/sqlite/declared-fields.ts';
import { prepareLayout } from '../../../src/adapters/sqlite/layout.ts';
import {
  isArrayCondition,
  ListStatements,
  rangesOf,
} from '../../../src/adapters/sqlite/lists/list-statements.ts';
import { listQuery } from '../../../src/domain/lists/list-request.ts';
import type { ListQuery, Store } from '../../../src/ports/index.ts';
import { errorOf } from '../../support/error-of.ts';
import { stepped, watched } from './support/faults.ts';
import { Folder, look } from './support/folder.ts';
import { post, unavailable, user } from './support/records.ts';

const [early, late] = ['2026-01-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'];
const declared = {
  slug: { type: 'text', unique: true },
  kind: 'text',
  pages: 'number',
  pinned: 'boolean',
  tags: 'text[]',
} as const;
const page = { limit: 100, bytes: 2 ** 20 };
const record = { sql: 'json', values: [] };
type Filter = Readonly<Record<string, unknown>>;

/** Returns the query that the core passes to a store. */
function queryOf(collection: 'users' | 'posts', filter: Filter, by: string, more = {}): ListQuery {
  const order = { by, direction: 'desc' } as const;
  const query = listQuery({ filter, order, ...page, ...more }, { collection, declared });
  if (query === undefined) throw new Error('Nothing can match.');
  return query;
}

const idsOf = ({
  items,
}: {
  readonly items: readonly { readonly record: { readonly id: string } }[];
}) => items.map(({ record }) => record.id);

describe('query plans of lists on SQLite', () => {
  const connection = new Connection(() => new DatabaseSync(':memory:'));

  before(() => {
    prepareLayout(connection, ':memory:');
    declareFields(connection, { posts: declared });
  });
  after(() => connection.close());

  const planOf = (sql: string) =>
    connection
      .all<[number, number, number, string]>(`EXPLAIN QUERY PLAN ${sql}`)
      .map((row) => row[3]);

  const quick: [collection: 'users' | 'posts', filter: Filter, ...sorts: string[]][] = [
    ['users', {}, 'createdAt', 'updatedAt', 'name', 'email'],
    ['users', { nameStartsWith: 'x' }, 'name'],
    ['posts', {}, 'createdAt', 'updatedAt', 'title', 'publishedAt'],
    ['posts', { authorId: 'x' }, 'createdAt', 'publishedAt'],
    ['posts', { authorId: null }, 'createdAt', 'publishedAt'],
    ['posts', { titleStartsWith: 'x' }, 'title'],
    ['posts', { createdAt: { from: early, before: late } }, 'createdAt'],
    ['posts', { updatedAt: { from: early } }, 'updatedAt'],
    ['posts', { publishedAt: { before: late } }, 'publishedAt'],
    ['posts', { publishedAt: { before: late }, authorId: 'x' }, 'publishedAt'],
    ['posts', { publishedAt: null }, 'publishedAt'],
    ['posts', { publishedAt: null, authorId: 'x' }, 'publishedAt'],
    ['posts', {}, 'slug', 'pages', 'kind'],
    ['posts', { kind: 'xy' }, 'kind'],
    ['posts', { kind: { from: 'a', before: 'z', startsWith: 'x' } }, 'kind'],
    ['posts', { pages: { from: 1, before: 9 } }, 'pages'],
    ['posts', { tags: 'x' }, 'createdAt'],
    ['posts', { tags: 'x', createdAt: { from: early } }, 'createdAt'],
  ];
  for (const [collection, filter, ...sorts] of quick) {
    for (const by of sorts) {
      it(`${collection} by ${by} with ${JSON.stringify(filter)} read every page from an index`, () => {
        const value = by === 'pages' ? 5 : by.endsWith('At') ? '2026-05-05T05:05:05.000Z' : 'xy';
        const isNullable = filter[by] === undefined && !/^(created|updated|title|name)/.test(by);
        const keys = filter.publishedAt === null ? [null] : isNullable ? [value, null] : [value];
        for (const direction of ['asc', 'desc'] as const) {
          for (const after of [undefined, ...keys.map((key) => ({ key, id: 'i' }))]) {
            const query = queryOf(collection, filter, by, { order: { by, direction }, after });
            const list = new ListStatements(collection, query);
            expect(list.isIndexOrderedRead(), JSON.stringify(query)).to.equal(true);
            for (const range of rangesOf(query)) {
              const { sql } = list.rangeStatement(
                record,
                range,
                query.conditions.find(isArrayCondition),
              );
              const [, where = ''] = /WHERE (.*) ORDER BY/.exec(sql) ?? [];
              // SQLite reads nothing for it, because every element has a time.
              if (where.includes('element.createdAt IS NULL')) continue;
              const terms = where === '' ? 0 : where.split(' AND ').length;
              const [first = '', ...others] = planOf(sql);
              if (first.includes('users_unique_emailKey (emailKey=?)')) continue;
              expect(first, sql).to.match(/USING (COVERING INDEX|INDEX|PRIMARY KEY)/);
              // As in `SEARCH posts USING INDEX i (a=? AND b<?)`: each term limits the range that is read.
              expect(first.split('?').length - 1, `${sql}: ${first}`).to.equal(terms);
              expect(others.join(), 'other steps').to.match(/^(SEARCH posts USING .* \(id=\?\))?$/);
            }
          }
        }
      });
    }
  }

  const slow: [filter: Filter, by: string][] = [
    [{ ids: ['a', 'b'] }, 'createdAt'],
    [{ titleStartsWith: 'x' }, 'createdAt'],
    [{ createdAt: { from: early } }, 'updatedAt'],
    [{ publishedAt: null }, 'createdAt'],
    [{ authorId: 'x' }, 'title'],
    [{ authorId: 'x', updatedAt: { from: early } }, 'createdAt'],
    [{ kind: 'x' }, 'createdAt'],
    [{ pages: 5 }, 'createdAt'],
    [{ pinned: true }, 'createdAt'],
    [{ tags: 'x' }, 'title'],
    [{ tags: ['x', 'y'] }, 'createdAt'],
    [{ tags: 'x', pages: { from: 1 } }, 'createdAt'],
  ];
  for (const [filter, by] of slow) {
    it(`posts by ${by} with ${JSON.stringify(filter)} are not read from one index`, () => {
      const list = new ListStatements('posts', queryOf('posts', filter, by));
      expect(list.isIndexOrderedRead()).to.equal(false);
    });
  }

  const few: [collection: 'users' | 'posts', filter: Filter, plan: string][] = [
    ['posts', { slug: 'x' }, 'INDEX posts_declared_slug_unique (<expr>=?)'],
    ['users', { email: 'a@b.example' }, 'INDEX users_unique_emailKey (emailKey=?)'],
    ['users', { email: 'a@b.example', name: 'x' }, 'INDEX users_unique_emailKey (emailKey=?)'],
    ['users', { ids: ['a', 'b'] }, 'INDEX sqlite_autoindex_users_1 (id=?)'],
    ['posts', { ids: ['a', 'b'] }, 'INDEX sqlite_autoindex_posts_1 (id=?)'],
  ];
  for (const [collection, filter, plan] of few) {
    it(`${collection} with ${JSON.stringify(filter)} are found by a unique index`, () => {
      const list = new ListStatements(collection, queryOf(collection, filter, 'createdAt'));
      for (const { sql } of [list.positions(), list.count()]) {
        expect(planOf(sql)[0]?.replace('COVERING ', '')).to.equal(
          `SEARCH ${collection} USING ${plan}`,
        );
      }
    });
  }

  it('no list scans the whole table', () => {
    const parts = [
      { ids: ['a', 'b'] },
      { createdAt: { from: early } },
      { updatedAt: { before: late } },
      { title: 'x' },
      { titleStartsWith: 'x' },
      { authorId: null },
      { publishedAt: null },
      { pinned: true },
    ];
    const pairs = parts.flatMap((one) => parts.map((other) => ({ ...one, ...other })));
    for (const filter of [{}, ...pairs, Object.assign({}, ...parts)]) {
      for (const by of ['createdAt', 'updatedAt', 'title', 'publishedAt']) {
        for (const key of [undefined, 'x', early]) {
          const after = key === undefined ? undefined : { key, id: 'i' };
          const query = queryOf('posts', filter, by, { after });
          const list = new ListStatements('posts', query);
          const walks = rangesOf(query).map((range) => list.rangeStatement(record, range));
          for (const { sql } of [...walks, list.positions()]) {
            expect(planOf(sql).join()).not.to.match(/SCAN posts(?! USING)/);
          }
        }
      }
    }
  });
});

describe('lists of the SQLite store', () => {
  const folder = new Folder();

  it('sort the matches of a selective filter, and scan in sort order otherwise', async () => {
    let walks = 0;
    const watching = watched((sql) => {
      if (sql.includes(' ORDER BY ')) walks += 1;
    });
    const path = folder.file();
    const store = folder.open(path, {}, watching);
    // In the order of their ids, 20 posts have one title, 28,980 a second one, and 1,000 a third one.
    look(path, (database) =>
      database.exec(`WITH numbers (n) AS (SELECT 100000 UNION ALL SELECT n + 1 FROM numbers LIMIT 30000)
        INSERT INTO posts (id, version, createdAt, updatedAt, titleKey, json)
        SELECT n, 1, '2026-' || n, '', CASE WHEN n < 100020 THEN 'needle' WHEN n < 129000 THEN 'hay'
          ELSE 'straw' END, '{"id":"' || n || '"}' FROM numbers`),
    );
    for (const [titleStartsWith, last, total, expected] of [
      ['NEEDLE', 100_019, 20, 0],
      ['ha', 128_999, 28_980, 1],
    ] as const) {
      walks = 0;
      const query = queryOf('posts', { titleStartsWith }, 'createdAt', { limit: 2, total: true });
      const first = await store.posts.list(query);
      expect([idsOf(first), first.total]).to.deep.equal([[`${last}`, `${last - 1}`], total]);
      expect(walks, 'walks in sort order').to.equal(expected);
      const second = await store.posts.list({ ...query, after: first.next });
      expect(idsOf(second)).to.deep.equal([`${last - 2}`, `${last - 3}`]);
    }
  });

  for (const [filter, plan] of [
    [{ kind: 'common', pages: { from: 2990 } }, 'posts USING INDEX posts_declared_pages'],
    [{ kind: 'rare', pages: { from: 0 } }, 'posts USING INDEX posts_declared_kind'],
    [
      { pages: { from: 2990 }, updatedAt: { from: early } },
      'posts USING INDEX posts_declared_pages',
    ],
    [
      { kind: 'common', tags: 'common', pages: { from: 2990 } },
      'posts USING INDEX posts_declared_pages',
    ],
    [{ kind: 'common', tags: 'rare' }, 'element USING PRIMARY KEY'],
    [
      { pages: { from: 1000, before: 1010 }, kind: 'common' },
      'posts USING INDEX posts_declared_pages (<expr>>? AND <expr><?)',
    ],
    [{ title: 'rare', pages: { from: 0 } }, 'posts USING INDEX posts_titleKey (titleKey=?)'],
  ] as const) {
    it(`with ${JSON.stringify(filter)} find records by the condition that the fewest meet`, async () => {
      const statements = new Set<string>();
      const watching = watched((sql) => {
        if (/^SELECT .* FROM .*\bposts\b/.test(sql)) statements.add(sql);
      });
      const path = folder.file();
      await folder.open(path).close();
      look(path, (database) =>
        database.exec(`WITH numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers LIMIT 3000)
          INSERT INTO posts (id, version, createdAt, updatedAt, title, titleKey, json)
          SELECT n, 1, '${early}', iif(n < 10, '${late}', '${early}'), iif(n < 10, 'rare', 'common'),
            iif(n < 10, 'rare', 'common'), json_object('id', '' || n, 'kind', iif(n < 10, 'rare', 'common'),
            'pages', n, 'tags', json(iif(n < 2990, '["common"]', '["common", "rare"]'))) FROM numbers`),
      );
      const store = folder.open(path, { declaredFields: { posts: declared } }, watching);
      const { items } = await store.posts.list(queryOf('posts', filter, 'title'));
      expect(items).to.have.lengthOf(10);
      const plans = look(path, (database) =>
        [...statements].map((sql) => [
          /^SELECT posts\.titleKey, posts\.id FROM/.test(sql),
          database
            .prepare(`EXPLAIN QUERY PLAN ${sql}`)
            .all()
            .map(({ detail }) => detail)
            .join(),
        ]),
      );
      for (const [isSorted, detail] of plans) {
        expect(detail).not.to.match(/SCAN posts(?! USING)/);
        if (isSorted) expect(detail).to.contain(`SEARCH ${plan}`);
      }
      expect(plans.filter(([isSorted]) => isSorted)).to.have.lengthOf(1);
    });
  }

  it('read at most one large record more than fits into the page', async () => {
    let read = 0;
    const counting = stepped((sql, run) => {
      const result = run();
      if (sql.startsWith('SELECT version, json')) read += 1;
      return result instanceof Iterator ? result.map(count) : result;
    });
    const count = (row: unknown) => {
      read += 1;
      return row;
    };
    const store = folder.open(folder.file(), {}, counting);
    const ids = Array.from({ length: 20 }, (_, n) => `${n}`);
    const body = 'x'.repeat(100_000);
    await Promise.all(ids.map((id) => store.posts.create(post(id, { body }))));
    for (const filter of [{}, { ids }]) {
      read = 0;
      const query = queryOf('posts', filter, 'title', { limit: 20, bytes: 350_000 });
      const { items } = await store.posts.list(query);
      expect([items.length, read], JSON.stringify(filter)).to.deep.equal([3, 4]);
    }
  });

  it('return fields of any name, with the text that was stored', async () => {
    const store = folder.open();
    const fields = {
      'a.b': 1e21,
      'a"b': -1.5,
      'a\\b': 5e-324,
      $x: [{}],
      'a[0]': null,
      "'": 'é"\\\n',
    };
    await store.posts.create(post('p', { ...fields, other: 1 }));
    const query = queryOf('posts', {}, 'createdAt', { fields: [...Object.keys(fields), 'none'] });
    const [first] = (await store.posts.list(query)).items;
    expect(first?.json).to.equal(JSON.stringify({ id: 'p', ...fields }));
  });

  it('work for more kinds of queries than the cache of prepared statements holds', async () => {
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
    const parts = [
      ...[{ ids: ['ann'] }, { name: 'Name of ann' }, { nameStartsWith: 'name' }],
      ...[
        { createdAt: { from: early } },
        { updatedAt: { before: late } },
        { email: 'a@b.example' },
      ],
    ];
    for (let round = 0; round < 2; round++) {
      for (const by of ['createdAt', 'updatedAt', 'name', 'email']) {
        for (let chosen = 0; chosen < 2 ** parts.length; chosen++) {
          const filter = Object.assign({}, ...parts.filter((_, n) => chosen & (1 << n)));
          const { items } = await store.users.list(queryOf('users', filter, by));
          expect(items.length).to.equal('email' in filter ? 0 : 1);
        }
      }
    }
    expect(prepared, 'statements that were prepared').to.be.greaterThan(shapes.size + 100);
  });
});

describe('the worker of the SQLite store', function () {
  this.timeout(20_000);
  const folder = new Folder();
  const workers: Worker[] = [];
  const started = (worker: Worker) => workers.push(worker);
  /** A list that the worker reads, because it counts. */
  const counted = queryOf('users', {}, 'createdAt', { total: true, limit: 1 });

  before(() => process.on('worker', started));
  beforeEach(() => workers.splice(0));
  after(() => process.off('worker', started));

  async function openWith(ids: readonly string[]): Promise<Store & { readonly path: string }> {
    const path = folder.file();
    const store = folder.open(path);
    await Promise.all(ids.map((id) => store.users.create(user(id))));
    return { ...store, path };
  }

  /** A list that takes long even in the worker. */
  const slow = queryOf('users', { nameStartsWith: '' }, 'createdAt', { total: true });

  async function openWithMany(): Promise<Store> {
    const store = await openWith([]);
    look(store.path, (database) =>
      database.exec(`WITH numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 50000)
        INSERT INTO users (id, version, createdAt, updatedAt, nameKey, json)
        SELECT n, 1, '${early}', '${early}', n, '{}' FROM numbers`),
    );
    expect((await store.users.list(slow)).total).to.equal(50_000); // Starts the worker.
    return store;
  }

  it('starts with the first slow list, and sees every acknowledged change', async () => {
    const store = await openWith([]);
    await store.users.list(queryOf('users', {}, 'createdAt'));
    expect(workers.length, 'workers after a quick list').to.equal(0);
    for (let n = 1; n <= 300; n++) {
      await store.users.create(user(`${n}`));
      expect((await store.users.list(counted)).total).to.equal(n);
    }
    expect(workers.length).to.equal(1);
  });

  it('is not needed for a tag in the default order, or for a unique value, an email or ids', async () => {
    const store = folder.open(folder.file(), { declaredFields: { posts: declared } });
    await store.posts.create(post('p', { slug: 'a', tags: ['x'] }));
    const ids = ['p', 'q'];
    const unique = { slug: 'a' };
    const uniques = [unique, { ...unique, pages: 1 }, { tags: 'x', ...unique }];
    for (const filter of [{ tags: 'x' }, ...uniques, { ids }]) {
      await store.posts.list(queryOf('posts', filter, 'createdAt'));
    }
    await store.users.list(queryOf('users', { email: 'a@b.example' }, 'createdAt'));
    expect(workers.length, 'workers').to.equal(0);
    // The author is read from each record.
    await store.posts.list(queryOf('posts', { ids, authorId: 'x' }, 'createdAt'));
    expect(workers.length, 'workers after two conditions').to.equal(1);
  });

  it('reads ids in a declared order, for which SQLite parses records that are not on the page', async () => {
    const store = folder.open(folder.file(), { declaredFields: { posts: declared } });
    await store.posts.create(post('p', { pages: 1 }));
    const { items } = await store.posts.list(queryOf('posts', { ids: ['p', 'q'] }, 'pages'));
    expect(items).to.have.lengthOf(1);
    expect(workers.length, 'workers').to.equal(1);
  });

  it('reads lists without the index of a declared field that another process has removed or changed', async () => {
    for (const [changed, filter, by, type] of [
      ['pages', {}, 'pages', undefined],
      ['slug', { slug: 'a' }, 'createdAt', undefined],
      ['kind', {}, 'kind', 'text[]'],
    ] as const) {
      const path = folder.file();
      const store = folder.open(path, { declaredFields: { posts: declared } });
      await store.posts.create(post('p', { slug: 'a', pages: 1 }));
      for (const count of [0, 1]) {
        const list = await store.posts.list(queryOf('posts', filter, by));
        expect([idsOf(list), workers.length]).to.deep.equal([['p'], count]);
        if (count === 1) continue;
        await folder.open(path).undeclare('posts', changed);
        if (type) folder.open(path, { declaredFields: { posts: { [changed]: type } } });
      }
      workers.splice(0);
    }
  });

  it('cuts fields out of records, which can be large', async () => {
    const store = folder.open(folder.file());
    await store.posts.create(post('p'));
    // All other lists of ids are quick.
    const query = queryOf('posts', { ids: ['p'] }, 'createdAt', { fields: ['title'] });
    expect((await store.posts.list(query)).items).to.have.lengthOf(1);
    expect(workers.length, 'workers').to.equal(1);
  });

  it('keeps the event loop free during a slow list', async () => {
    const store = await openWithMany();
    let reads = 0;
    // Several lists, because a busy machine can leave this thread no time during one.
    for (let lists = 0; lists < 20 && reads <= 3; lists++) {
      reads = 0;
      let isOver = false;
      const list = store.users.list(slow).finally(() => {
        isOver = true;
      });
      for (; !isOver; reads++) {
        await store.users.get('1');
        await new Promise(setImmediate);
      }
      await list;
    }
    expect(reads, 'other reads during a list').to.be.above(3);
  });

  it('lets an aborted list end at once, and others continue', async () => {
    const store = await openWith(['ann']);
    const aborting = new AbortController();
    const { signal } = aborting;
    const others = [1, 2, 3].map(() => store.users.list(counted));
    const aborted = errorOf(store.users.list({ ...counted, signal }));
    const reason = new Error('gone');
    aborting.abort(reason);
    const first = await Promise.race([aborted, ...others]);
    expect(first).to.equal(reason);
    for (const { total } of await Promise.all(others)) expect(total).to.equal(1);
    expect(await errorOf(store.users.list({ ...counted, signal }))).to.equal(reason);
  });

  it('is restarted after a crash, which makes the list in progress fail as unavailable', async () => {
    const store = await openWithMany();
    const [current, next] = [store.users.list(slow), store.users.list(slow)];
    const failed = unavailable(current);
    await workers[0]?.terminate();
    expect((await failed).details.outcome).to.equal('none');
    expect((await next).total).to.equal(50_000);
    expect(workers.length).to.equal(2);
  });

  it('finishes pending lists when the store closes', async () => {
    const store = await openWith(['ann']);
    const lists = [1, 2, 3].map(() => store.users.list(counted));
    const closed = store.close();
    await unavailable(store.users.list(counted));
    for (const { total } of await Promise.all(lists)) expect(total).to.equal(1);
    await closed;
  });

  it('does not read another file that replaced the data file', async () => {
    const store = await openWith(['ann']);
    renameSync(store.path, `${store.path}.moved`);
    writeFileSync(store.path, 'another file');
    await unavailable(store.users.list(counted));
    renameSync(`${store.path}.moved`, store.path);
    expect((await store.users.list(counted)).total).to.equal(1);
  });
});
