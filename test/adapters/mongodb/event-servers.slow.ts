import { expect } from 'chai';
import { times } from '../../../src/testing/fixtures.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { type Server, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';

interface Page {
  readonly events: readonly { readonly type: string; readonly id: string }[];
  readonly next: string;
}

await describeOnMongodb('servers that share a MongoDB database', () => {
  const database = useDatabase();

  it('return the same events in the same order, and accept each other’s positions', async function () {
    this.timeout(60_000);
    await using one = await startServer('--store', database.url);
    await using other = await startServer('--store', database.url);
    const servers = [one, other];
    const { next: start } = await pageOf(one);
    const made = Promise.all(
      times(40, (n) => create(servers[n % 2] ?? one, n % 4 < 2 ? 'users' : 'posts')),
    );
    const followers = times(3, async (first) => {
      const met: string[] = [];
      // Alternate between the servers.
      for (let [n, after] = [first, start]; met.length < 40; n++) {
        const page = await pageOf(servers[n % 2] ?? one, { after, limit: '7', wait: '5' });
        met.push(...page.events.map(({ type, id }) => `${type} ${id}`));
        after = page.next;
      }
      return met;
    });
    const [met = [], ...others] = await Promise.all(followers);
    expect(met).to.have.members(await made);
    for (const another of others) expect(another).to.deep.equal(met);
  });

  it('write nothing for events, and open change streams only while clients read them', async function () {
    this.timeout(60_000);
    await using server = await startServer('--store', database.url);
    const { next } = await pageOf(server);
    await database.db.command({ profile: 2 });
    const before = await streams();
    const createSome = async () => {
      for (let n = 0; n < 10; n++) await create(server, 'posts');
    };
    await createSome();
    expect(await written()).to.deep.equal(times(10, () => 'posts'));
    expect(await streams()).to.equal(before);

    await pageOf(server, { after: next, limit: '20' });
    const { next: end } = await pageOf(server);
    const waiting = pageOf(server, { after: end, wait: '20' });
    await until(async () => (await streams()) > before + 4, 'the server is watching for events');
    await createSome();
    expect((await waiting).events).to.have.length.above(0);
    expect(await written()).to.deep.equal(times(20, () => 'posts'));
  });

  /** Returns the collections that were written to since profiling began. */
  async function written(): Promise<string[]> {
    const writes = { op: { $in: ['insert', 'update', 'remove'] } };
    const ops = await database.db.collection('system.profile').find(writes).toArray();
    return ops.map(({ ns }) => String(ns).split('.')[1] ?? '');
  }

  /** Returns how many change streams were opened in total. */
  async function streams(): Promise<number> {
    const { metrics } = await database.db.admin().serverStatus();
    return Number(metrics.aggStageCounters.$changeStream);
  }
});

async function create({ address }: Server, resource: 'users' | 'posts'): Promise<string> {
  const input = resource === 'users' ? { name: 'Ada' } : { title: 'T', body: 'B' };
  const response = await fetch(`${address}/api/v1/${resource}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(input),
  });
  expect(response.status).to.equal(201);
  const { id } = (await response.json()) as { id: string };
  return `${resource.slice(0, -1)}.created ${id}`;
}

async function pageOf({ address }: Server, query: Record<string, string> = {}): Promise<Page> {
  const response = await fetch(`${address}/api/v1/events?${new URLSearchParams(query)}`);
  expect(response.status).to.equal(200);
  return (await response.json()) as Page;
}
