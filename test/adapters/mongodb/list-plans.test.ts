import { expect } from 'chai';
import type { Document } from 'mongodb';
import type { Condition, ListQuery, Position } from '../../../src/domain/lists/list.ts';
import type { Collection } from '../../../src/domain/records/record.ts';
import type { Store } from '../../../src/ports/store.ts';
import { at, post, times, user } from '../../../src/testing/fixtures.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

// Checks with MongoDB's profiler which index each list uses, how many keys it reads, and whether it sorts.

const count = 1200;
const limit = 20;
const declaredFields = { posts: { slug: 'text', views: 'number', pinned: 'boolean' } } as const;
const declaredTypes: Readonly<Record<string, 'text' | 'number'>> = {
  slug: 'text',
  views: 'number',
};
const span = (field: string, from: string, before: string): Condition[] => [
  { field, op: 'from', value: from },
  { field, op: 'before', value: before },
];

/** Lists whose pages are read in order from one index. */
const inOrder: Record<string, readonly [Collection, string, Condition[]]> = {
  'users by createdAt': ['users', 'createdAt', []],
  'users by updatedAt': ['users', 'updatedAt', []],
  'users by name': ['users', 'nameKey', []],
  'users by email': ['users', 'emailKey', []],
  'users with a name prefix': ['users', 'nameKey', span('nameKey', 'n3', 'n4')],
  'users with an email prefix': ['users', 'emailKey', span('emailKey', 'a7', 'a8')],
  'users created in a period': ['users', 'createdAt', span('createdAt', at(10), at(20))],
  'posts by createdAt': ['posts', 'createdAt', []],
  'posts by updatedAt': ['posts', 'updatedAt', []],
  'posts by title': ['posts', 'titleKey', []],
  'posts by publishedAt': ['posts', 'publishedAt', []],
  'public posts': ['posts', 'publishedAt', span('publishedAt', at(0), at(30))],
  drafts: ['posts', 'publishedAt', [{ field: 'publishedAt', op: 'isNull' }]],
  'posts of an author': ['posts', 'createdAt', [{ field: 'authorId', op: 'eq', value: 'u1' }]],
  'posts of an author by publishedAt': [
    'posts',
    'publishedAt',
    [{ field: 'authorId', op: 'eq', value: 'u1' }, ...span('publishedAt', at(0), at(30))],
  ],
  'posts without an author': ['posts', 'createdAt', [{ field: 'authorId', op: 'isNull' }]],
  'posts with a text': [
    'posts',
    'createdAt',
    [{ field: 'slug', declaredType: 'text', op: 'eq', value: 's2' }],
  ],
  'posts with a number': [
    'posts',
    'createdAt',
    [{ field: 'views', declaredType: 'number', op: 'eq', value: 3 }],
  ],
  'posts by a text': ['posts', 'slug', []],
  'posts by a number': ['posts', 'views', []],
  'posts with a text in a range': [
    'posts',
    'slug',
    [
      { field: 'slug', declaredType: 'text', op: 'from', value: 's2' },
      { field: 'slug', declaredType: 'text', op: 'before', value: 's4' },
    ],
  ],
  'posts with a number in a range': [
    'posts',
    'views',
    [{ field: 'views', declaredType: 'number', op: 'from', value: 3 }],
  ],
  'users with a name': [
    'users',
    'nameKey',
    [
      { field: 'nameKey', op: 'eq', value: 'n3' },
      { field: 'name', op: 'eq', value: 'n3' },
    ],
  ],
  'posts with a boolean': [
    'posts',
    'createdAt',
    [{ field: 'pinned', declaredType: 'boolean', op: 'eq', value: true }],
  ],
};

await describeOnMongodb('query plans of lists on MongoDB', () => {
  const database = useDatabase();
  let store: Store;

  before(async function fill() {
    this.timeout(60_000);
    const { transfer } = database.open({ declaredFields });
    // Most records share their sort keys with many others, so the id decides the order.
    const shared = (n: number) => ({ createdAt: at(n % 40), updatedAt: at(n % 30) });
    const users = times(count, (n) => {
      const email = n % 3 ? `a${n}@example.org` : null;
      return user({ id: `u${n}`, ...shared(n), name: `n${n % 9}`, email });
    });
    const posts = times(count, (n) =>
      post({
        ...{ ...shared(n), title: `t${n % 9}`, authorId: n % 4 ? `u${(n % 4) - 1}` : null },
        ...{ publishedAt: n % 10 ? at(n % 40) : null },
        // Some are null, and some are missing.
        ...{ slug: n % 9 ? `s${n % 9}` : null, pinned: n % 2 === 0 },
        ...(n % 8 && { views: n % 8 }),
      }),
    );
    await transfer.users.load(users.map((record) => ({ record, version: 1, json: '' })));
    await transfer.posts.load(posts.map((record) => ({ record, version: 1, json: '' })));
    await database.db.command({ profile: 2 });
  });

  beforeEach(async () => {
    store = database.open({ declaredFields });
    await store.ready();
  });

  for (const [what, [collection, field, conditions]] of Object.entries(inOrder)) {
    it(`${what}: every page reads only its own keys from the index`, async () => {
      for (const direction of ['asc', 'desc'] as const) {
        const declaredType = declaredTypes[field];
        const order = { field, declaredType, direction };
        const query = { conditions, order, limit, bytes: 2 ** 20 };
        const seen = await profiled(() => walk(collection, query));
        expect(seen.length).to.be.above(0);
        for (const { planSummary, hasSortStage, keysExamined, command } of seen) {
          const plan = JSON.stringify({ planSummary, command });
          expect(planSummary, plan).to.match(/^IXSCAN/);
          expect(hasSortStage, plan).to.equal(undefined);
          // The page, one more record, and the start and end of each of three ranges.
          expect(keysExamined, plan).to.be.at.most(limit + 7);
        }
      }
    });
  }

  it('lists by id read only the records of these ids', async () => {
    const value = times(100, (n) => `u${n}`);
    const order = { field: 'nameKey', direction: 'asc' } as const;
    const query = { conditions: [{ field: 'id', op: 'in', value } as const], order, limit };
    const [page] = await profiled(() => store.users.list({ ...query, bytes: 2 ** 20 }));
    expect(page?.planSummary).to.equal('IXSCAN { _id: 1 }');
    expect(page?.docsExamined).to.equal(100);
  });

  it('totals are counted in an index, without reading documents', async () => {
    const ofAuthor = { field: 'authorId', op: 'eq', value: 'u1' } as const;
    for (const conditions of [[], [ofAuthor], span('createdAt', at(10), at(20))]) {
      const order = { field: 'createdAt', direction: 'asc' } as const;
      const query = { conditions, order, limit: 1, bytes: 1, total: true };
      const seen = await profiled(() => store.posts.list(query));
      const counted = seen.find(({ command }) => command.aggregate !== undefined);
      expect(counted?.planSummary).to.match(/^COUNT_SCAN/);
      expect(counted?.docsExamined).to.equal(0);
    }
  });

  async function walk(collection: Collection, query: ListQuery): Promise<void> {
    let after: Position | undefined;
    do after = (await store[collection].list({ ...query, after })).next;
    while (after !== undefined);
  }

  async function profiled(run: () => Promise<unknown>): Promise<Document[]> {
    const from = new Date();
    await run();
    return database.db
      .collection('system.profile')
      .find({
        ts: { $gte: from },
        ns: { $regex: '\\.(?:users|posts)$' },
        'command.readConcern.level': 'snapshot',
      })
      .toArray();
  }
});
