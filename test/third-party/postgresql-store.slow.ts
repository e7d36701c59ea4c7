import { expect } from 'chai';
import pg from 'pg';
import {
  earliestInstant,
  isRostrumError,
  latestInstant,
  type Post,
  type Receipt,
  type Store,
  type User,
} from '../../src/ports/index.ts';
import { describeStore } from '../../src/testing/index.ts';
import { blocksOf } from '../docs/markdown.ts';
import { errorOf } from '../support/error-of.ts';
import { undeclareOthers } from '../support/undeclare.ts';
import { until, untilServed } from '../support/until.ts';
import { openPostgresqlStore } from './example-stores.ts';
import {
  describeOnOwnPostgresql,
  describeOnPostgresql,
  freshDatabase,
  sharedPostgresql,
  startPostgresql,
} from './postgresql.ts';

describeOnPostgresql('the PostgreSQL store example', () => {
  const scope = new AsyncDisposableStack();
  let database: { readonly url: string };
  let admin: pg.Client;

  before(async function connect() {
    this.timeout(60_000);
    database = scope.use(await freshDatabase(await sharedPostgresql()));
    admin = new pg.Client({ connectionString: database.url });
    scope.defer(() => admin.end());
    await admin.connect();
    await admin.query('set search_path to rostrum');
  });

  after(() => scope.disposeAsync());

  let bytes = 0;
  /** The driver's default parsers, which also count the characters that they parse. */
  const getTypeParser = ((oid: number) => (value: string) => {
    bytes += value.length;
    return pg.types.getTypeParser(oid)(value);
  }) as typeof pg.types.getTypeParser;
  const open = ({ declaredFields }: Pick<Store, 'declaredFields'>) =>
    openPostgresqlStore(
      { connectionString: database.url, types: { getTypeParser } },
      { declaredFields },
    );

  const openEmpty = async (options: Pick<Store, 'declaredFields'>) => {
    await undeclareOthers(await open({}), options.declaredFields);
    const tables = ['posts', 'posts_receipts', 'users', 'users_receipts', 'filling'];
    await admin.query(`truncate ${tables}`);
    return open(options);
  };

  describeStore('postgresql', {
    describe,
    it,
    open: openEmpty,
    another: (_, options) => open(options),
    reopen: (_, options) => open(options),
    bytesRead: () => bytes,
    withoutEvents: 'the example keeps no log',
  });

  it('enforces unique fields declared by another process, and reports a duplicate id first', async () => {
    const unique = (field: string) =>
      ({ posts: { [field]: { type: 'text', unique: true } } }) as const;
    await using declaring = await openEmpty({ declaredFields: unique('slug') });
    await using store = await open({});
    const post = (n: number) => ({ ...postOf(n), slug: 'hello' });
    const codes = async (calls: Promise<unknown>[]) => {
      const results = await Promise.allSettled(calls);
      return results.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    };
    const same = Array.from({ length: 20 }, () => declaring.posts.create(post(1)));
    expect(await codes(same)).to.deep.equal(Array(19).fill('id-taken'));
    expect(await codes([store.posts.create(post(2))])).to.deep.equal(['field-taken']);
    const long = open({ declaredFields: unique('é'.repeat(30)) });
    expect(String(await errorOf(long))).to.match(/"é{30}" is too long a name\.$/);
  });

  it('returns the same pages as the SQL in docs/writing-a-store.md', async () => {
    const [{ text } = { text: '' }] = blocksOf('docs/writing-a-store.md', 'sql');
    await using store = await openEmpty({});
    for (let n = 1; n <= 4; n++) await store.posts.create(postOf(n));
    const order = { field: 'createdAt', direction: 'asc' } as const;
    for (const limit of [1, 3, 4, 5]) {
      for (const bytes of [1, 700, 10_000]) {
        const { rows } = await admin.query(text, [limit, bytes]);
        const page = await store.posts.list({ conditions: [], order, limit, bytes });
        expect(rows.map(({ json }) => json)).to.deep.equal(page.items.map(({ json }) => json));
        expect(rows.at(-1)?.more).to.equal(page.next !== undefined);
      }
    }
  });
});

describeOnOwnPostgresql('the PostgreSQL store example, when the server is killed', function () {
  this.timeout(60_000);

  it('keeps acknowledged writes, and none that failed with outcome "none"', async () => {
    await using server = await startPostgresql();
    await using store = await openPostgresqlStore({ connectionString: server.url });
    const acknowledged: Creation[] = [];
    const failed: (Creation & { readonly error: unknown })[] = [];
    const writers = Array.from({ length: 20 }, async (_, writer) => {
      for (let n = 0; failed.every(({ user }) => !user.id.startsWith(`${writer}-`)); n++) {
        const creation = creationOf(`${writer}-${n}`);
        await store.users.create(creation.user, creation.receipt).then(
          () => acknowledged.push(creation),
          (error) => failed.push({ ...creation, error }),
        );
      }
    });
    await until(() => acknowledged.length > 100, '100 creations are acknowledged', 30_000);
    await server.kill();
    await Promise.all(writers);
    await server.start();
    await untilServed(() => store.ready());

    for (const { user, receipt } of acknowledged) {
      expect((await store.users.get(user.id))?.record).to.deep.equal(user);
      expect((await store.users.create(user, receipt)).replayed).to.equal(true);
    }
    expect(failed.length).to.equal(20);
    for (const { user, receipt, error } of failed) {
      if (!isRostrumError(error, 'store-unavailable')) throw error;
      const isThere = (await store.users.get(user.id)) !== undefined;
      if (error.details.outcome === 'none') expect(isThere, user.id).to.equal(false);
      expect((await store.users.create(user, receipt)).replayed).to.equal(isThere);
    }
  });
});

interface Creation {
  readonly user: User;
  readonly receipt: Receipt;
}

function postOf(n: number): Post {
  const times = { createdAt: earliestInstant, updatedAt: earliestInstant };
  return {
    id: `${n}`,
    ...times,
    title: `${n}`,
    body: 'é'.repeat(n * 50),
    authorId: null,
    publishedAt: null,
  };
}

function creationOf(id: string): Creation {
  const times = { createdAt: earliestInstant, updatedAt: earliestInstant };
  return {
    user: { id, ...times, name: id, email: `${id}@example.com` },
    receipt: { key: id, fingerprint: id, from: earliestInstant, until: latestInstant },
  };
}
