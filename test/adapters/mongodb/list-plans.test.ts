import { expect } from 'chai';
import type { Document } from 'mongodb';
import type { MongodbStore } from '../../../src/adapters/mongodb/index.ts';
import { collectionNames } from '../../../src/adapters/mongodb/schema/collections.ts';
import {
  type Page,
  type PageRequest,
  type Position,
  postSorts,
  userSorts,
} from '../../../src/domain/list.ts';
import { VersionedRecord } from '../../../src/domain/record.ts';
import type { PostFilter, UserFilter } from '../../../src/domain/search.ts';
import { post, times, user } from '../../../src/testing/fixtures.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

// What the server's own profiler saw of the store's calls: which index, how many keys, what sorts.

const count = 1200;
const limit = 20;
const bytes = 1_000_000;
const directions = ['asc', 'desc'] as const;
const customFilters = { slug: 'text', toString: 'number', pinned: 'boolean' } as const;
const instant = (n: number) => new Date(1_700_000_000_000 + n).toISOString();

await describeOn('replica set', 'The plans of lists on MongoDB', () => {
  const database = useDatabase('replica set');
  let store: MongodbStore;

  before(async function fill() {
    this.timeout(30_000);
    const one = database.open(undefined, { posts: customFilters });
    const authors = times(3, (n) => user({ id: `u${n}` }));
    // Most share each of their sort keys with many others: then the id has to carry the order.
    const shared = (n: number) => ({ createdAt: instant(n % 40), updatedAt: instant(n % 30) });
    const users = times(count, (n) =>
      user({ ...shared(n), name: `n${n % 9}`, email: n % 3 ? `a${n}@example.org` : null }),
    );
    const posts = times(count, (n) =>
      post({
        ...{ ...shared(n), title: `t${n % 9}`, authorId: n % 4 ? `u${(n % 4) - 1}` : null },
        // Drafts, public posts, and such that are scheduled.
        publishedAt: n % 10 ? instant(n % 40) : null,
        // Lists of the value are in the index as well.
        ...{ slug: n % 9 ? `s${n % 9}` : [`s1`], toString: n % 9, pinned: n % 2 === 0 },
      }),
    );
    const first = <R>(record: R) => new VersionedRecord(record, 1);
    await one.transfer.users.load([...authors, ...users].map(first));
    await one.transfer.posts.load(posts.map(first));
    // What is hidden must not be in the way.
    const hidden = times(300, (n) => ({ _id: `hidden${n}`, pending: true, joining: [] }));
    await database.db.collection<{ _id: string }>(collectionNames.posts).insertMany(hidden);
    await database.db.command({ profile: 2 });
  });

  beforeEach(async () => {
    store = database.open(undefined, { posts: customFilters });
    await store.ready();
  });

  for (const by of userSorts) {
    for (const direction of directions) {
      it(`users by ${by}, ${direction}`, () =>
        walk((page) => store.users.list({ ...page, filter: {}, order: { by, direction } })));
    }
  }
  for (const by of postSorts) {
    for (const direction of directions) {
      it(`posts by ${by}, ${direction}`, () =>
        walk((page) => store.posts.list({ ...page, filter: {}, order: { by, direction } })));
    }
  }

  const span = { from: instant(10), before: instant(20) };
  const ids = times(100, (n) => `u${n}`);
  const userFilters: Record<string, UserFilter> = {
    ids: { ids },
    name: { name: 'n3' },
    email: { email: 'A7@example.org' },
    createdAt: { createdAt: span },
    'name and createdAt': { name: 'n3', createdAt: span },
  };
  const postFilters: Record<string, PostFilter> = {
    ids: { ids },
    title: { title: 't3' },
    authorId: { authorId: 'u1' },
    'no author': { authorId: null },
    createdAt: { createdAt: span },
    'a text of their own': { custom: { slug: 's2' } },
    'a number of their own': { custom: { toString: 3 } },
    'a boolean of their own': { custom: { pinned: true } },
    'authorId and createdAt': { authorId: 'u1', createdAt: { from: instant(10) } },
  };
  for (const direction of directions) {
    const order = { by: 'createdAt', direction } as const;
    for (const [what, filter] of Object.entries(userFilters)) {
      it(`users by ${what}, ${direction}`, () =>
        walk((page) => store.users.list({ ...page, filter, order }), filter.ids ?? filter.email));
    }
    for (const [what, filter] of Object.entries(postFilters)) {
      it(`posts by ${what}, ${direction}`, () =>
        walk((page) => store.posts.list({ ...page, filter, order }), filter.ids));
    }
  }

  const isPublic = { before: instant(30) };
  for (const direction of directions) {
    const order = { by: 'publishedAt', direction } as const;
    const filters: Record<string, PostFilter> = {
      'all that are public': { publishedAt: isPublic },
      'one author’s that are public': { publishedAt: isPublic, authorId: 'u1' },
      'those without an author that are public': { publishedAt: isPublic, authorId: null },
      'one author’s drafts': { publishedAt: null, authorId: 'u1' },
      drafts: { publishedAt: null },
    };
    for (const [what, filter] of Object.entries(filters)) {
      it(`posts by publishedAt: ${what}, ${direction}`, () =>
        walk((page) => store.posts.list({ ...page, filter, order })));
    }
    it(`names, addresses and titles that begin alike, in their order, ${direction}`, async () => {
      const { users, posts } = store;
      await walk((page) =>
        users.list({ ...page, filter: { nameStartsWith: 'N3' }, order: { by: 'name', direction } }),
      );
      await walk((page) =>
        users.list({
          ...{ ...page, filter: { emailStartsWith: 'A7' } },
          order: { by: 'email', direction },
        }),
      );
      await walk((page) =>
        posts.list({
          ...page,
          filter: { titleStartsWith: 'T' },
          order: { by: 'title', direction },
        }),
      );
    });
  }

  it('in another order, what begins alike and drafts cost the keys of what matches', async () => {
    const order = { by: 'createdAt', direction: 'desc' } as const;
    const [ninth, tenth] = [times(Math.ceil(count / 9), String), times(count / 10, String)];
    await walk(
      (page) => store.users.list({ ...page, filter: { nameStartsWith: 'n3' }, order }),
      ninth,
    );
    await walk(
      (page) => store.posts.list({ ...page, filter: { titleStartsWith: 'T3' }, order }),
      ninth,
    );
    await walk(
      (page) => store.posts.list({ ...page, filter: { publishedAt: null }, order }),
      tenth,
    );
  });

  it('custom fields in another order read the keys of what they match, and the page', () => {
    const [filter, order] = [
      { custom: { slug: 's2' } },
      { by: 'title', direction: 'asc' },
    ] as const;
    const matching = times(Math.ceil(count / 9), String);
    return walk((page) => store.posts.list({ ...page, filter, order }), matching);
  });

  it('an index outlives that its field is declared', async () => {
    const other = database.open(undefined, { posts: { other: 'text' } });
    await other.ready();
    const found = await database.db.collection(collectionNames.posts).indexes();
    const names = found.map(({ name }) => name);
    expect(names).to.include.members(['own_slug_createdAt', 'own_other_createdAt']);
  });

  it('updatedAt with the default sort reads the sort’s index, and sorts nothing', async () => {
    const order = { by: 'createdAt', direction: 'desc' } as const;
    const seen = await profiled(() =>
      store.posts.list({ filter: { updatedAt: span }, order, limit, bytes, total: true }),
    );
    for (const one of seen) checkPlan(one);
  });

  /** Walks a whole list; no page may cost more for being deep. */
  async function walk(
    list: (page: Omit<PageRequest<never, never>, 'filter' | 'order'>) => Promise<Page<unknown>>,
    named?: readonly string[] | string,
  ): Promise<void> {
    let walked = 0;
    const seen = await profiled(async () => {
      let after: Position | undefined;
      do {
        after = (await list({ limit, bytes, after })).next;
        walked += 1;
      } while (after !== undefined);
      await list({ limit: 1, bytes, total: true });
    });
    const counts = seen.filter(({ command }) => command.pipeline?.at(-1).$group !== undefined);
    const pages = seen.filter((one) => !counts.includes(one));
    expect(pages, 'reads').to.have.lengthOf(walked + 1);
    for (const one of pages) checkPlan(one, named !== undefined);
    for (const one of counts) checkPlan(one);
    // The page, the one that tells of a next, and where a span begins and ends; of named records,
    // those that there are by their ids, and then those of the page.
    const most = named === undefined ? limit + 6 : named.length + limit + 1;
    for (const { keysExamined, command } of pages) {
      expect(keysExamined, JSON.stringify(command)).to.be.at.most(most);
    }
    for (const one of counts) expect(one.keysExamined).to.be.at.most(count + 10);
  }

  async function profiled(run: () => Promise<unknown>): Promise<Document[]> {
    const from = new Date();
    await run();
    return database.db
      .collection('system.profile')
      .find({
        ts: { $gte: from },
        ns: {
          $in: Object.values(collectionNames).map((name) => `${database.db.databaseName}.${name}`),
        },
        op: { $in: ['query', 'command', 'getmore'] },
        // Not what the store does besides: it looks at its indexes when it has connected, and asks
        // each new primary whether it is caught up.
        'command.readConcern.level': { $ne: 'linearizable' },
        'command.listIndexes': { $exists: false },
        'command.createIndexes': { $exists: false },
      })
      .toArray();
  }
});

function checkPlan(one: Document, maySort = false): void {
  const what = JSON.stringify({ plan: one.planSummary, command: one.command });
  expect(one.planSummary, what).to.match(/^(IXSCAN|COUNT_SCAN|EOF)/);
  expect(one.planSummary, what).not.to.contain('COLLSCAN');
  expect(one.hasSortStage === true && !maySort, what).to.equal(false);
}
