import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { createClient } from '../packages/rostrum-client/src/index.ts';
import { describeOnMongodb, sharedServer } from './support/mongod/shared.ts';
import { startServer } from './support/server.ts';

/** The number of racing requests (`RACERS=1000` for more), for a tenth as many email addresses. */
const racers = Number(process.env.RACERS ?? 50);
const addresses = racers / 10;

/**
 * Sends requests to two servers on one store, and expects one to win for each email address, slug or version.
 */
async function raceOn(url: string): Promise<void> {
  const args = ['--store', url, '--field', 'posts.slug:text:unique'];
  await using one = await startServer(...args);
  await using other = await startServer(...args);

  /** Sends concurrent requests, half to each process, and counts the statuses. */
  async function race(path: string | ((n: number) => string), init: (n: number) => RequestInit) {
    const counts: Record<number, number> = {};
    const ask = async (n: number): Promise<void> => {
      const to = typeof path === 'string' ? path : path(n);
      const { status } = await fetch(`${[one, other][n % 2]?.address}/api/v1${to}`, init(n));
      if (status === 503) return await sleep(1000).then(() => ask(n));
      counts[status] = (counts[status] ?? 0) + 1;
    };
    await Promise.all(Array.from({ length: racers }, (_, n) => ask(n)));
    return counts;
  }

  const headers = { 'Content-Type': 'application/json' };
  const creation = (n: number) => ({
    method: 'POST',
    headers,
    // Both processes get requests for each address.
    body: JSON.stringify({ name: 'Ada', email: `ada-${(n >> 1) % addresses}@example.com` }),
  });
  const created = await race('/users', creation);
  expect(created).to.deep.equal({ 201: addresses, 409: 9 * addresses });
  const listed = await (await fetch(`${other.address}/api/v1/users`)).json();
  const { users } = listed as { users: readonly { id: string; email: string }[] };
  expect(users).to.have.length(addresses);
  expect(new Set(users.map(({ email }) => email)).size).to.equal(addresses);
  const update = (n: number) => ({
    method: 'PATCH',
    headers: { ...headers, 'If-Match': '"1"' },
    body: JSON.stringify({ name: `Ada ${n}` }),
  });
  expect(await race(`/users/${users[0]?.id}`, update)).to.deep.equal({
    200: 1,
    412: racers - 1,
  });

  const withSlug = (method: string, slug: string) => ({
    method,
    headers,
    body: JSON.stringify({ title: 'Hello', slug }),
  });
  const one201 = await race('/posts', () => withSlug('POST', 'hello'));
  expect(one201).to.deep.equal({ 201: 1, 409: racers - 1 });
  await race('/posts', (n) => withSlug('POST', `own-${n}`));
  const ids: string[] = [];
  for await (const { id } of createClient({ url: `${one.address}/api/v1` }).posts.all()) {
    ids.push(`/posts/${id}`);
  }
  for (const method of ['PUT', 'PATCH']) {
    const changed = await race(
      (n) => ids[n] ?? '',
      () => withSlug(method, `by ${method}`),
    );
    expect(changed, method).to.deep.equal({ 200: 1, 409: racers - 1 });
  }
}

const title = 'accept only one of many racing requests for an email address, version or slug';

describe('two processes on one SQLite file', () => {
  it(title, async function () {
    this.timeout(30_000);
    const folder = mkdtempSync(join(tmpdir(), 'rostrum-two-'));
    try {
      await raceOn(`sqlite:${join(folder, 'rostrum.db')}`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

await describeOnMongodb('two processes on one MongoDB database', () => {
  it(title, async function () {
    this.timeout(30_000);
    const database = `two-${randomUUID().slice(0, 8)}`;
    const url = (await sharedServer()).url(database);
    await raceOn(url);
    const client = await new MongoClient(url).connect();
    await client.db(database).dropDatabase();
    await client.close();
  });
});
