import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { describeOn, sharedServer, topologies } from './support/mongod/shared.ts';
import { startServer } from './support/server.ts';

/** Two servers on one store: of racing creations and stale updates one wins. */
async function raceOn(url: string): Promise<void> {
  await using one = await startServer('--store', url);
  await using other = await startServer('--store', url);

  /** The statuses of 50 requests at once, half of them to each process, counted. */
  async function race(path: string, init: (n: number) => RequestInit) {
    const counts: Record<number, number> = {};
    const answers = Array.from({ length: 50 }, (_, n) =>
      fetch(`${[one, other][n % 2]?.address}/api/v1${path}`, init(n)),
    );
    for (const { status } of await Promise.all(answers)) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  }

  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ name: 'Ada', email: 'ada@example.com' });
  expect(await race('/users', () => ({ method: 'POST', headers, body }))).to.deep.equal({
    201: 1,
    409: 49,
  });
  const listed = await (await fetch(`${other.address}/api/v1/users`)).json();
  const { users } = listed as { users: readonly { id: string }[] };
  expect(users).to.have.length(1);
  const update = (n: number) => ({
    method: 'PATCH',
    headers: { ...headers, 'If-Match': '"1"' },
    body: JSON.stringify({ name: `Ada ${n}` }),
  });
  expect(await race(`/users/${users[0]?.id}`, update)).to.deep.equal({ 200: 1, 412: 49 });
}

describe('two processes on one SQLite file', () => {
  it('let one of 50 racing creations and one of 50 stale updates win', async function () {
    this.timeout(30_000);
    const folder = mkdtempSync(join(tmpdir(), 'rostrum-two-'));
    try {
      await raceOn(`sqlite:${join(folder, 'rostrum.db')}`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

for (const topology of topologies) {
  await describeOn(topology, 'two processes on one MongoDB database', () => {
    it('let one of 50 racing creations and one of 50 stale updates win', async function () {
      this.timeout(30_000);
      const database = `two-${randomUUID().slice(0, 8)}`;
      const url = (await sharedServer(topology)).url(database);
      await raceOn(url);
      const client = await new MongoClient(url).connect();
      await client.db(database).dropDatabase();
      await client.close();
    });
  });
}
