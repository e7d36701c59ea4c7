// Calls all 12 endpoints of the program on every store, and checks that the data survives a restart.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { describeOnMongodb, sharedServer } from './support/mongod/shared.ts';
import { type Server, startServer } from './support/server.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Fields;
}

function caller({ address }: Server) {
  return async (method: string, path: string, body?: Fields): Promise<Answer> => {
    const response = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Fields,
    };
  };
}

/** Calls every endpoint and returns the one user that is left at the end. */
async function callAll(server: Server): Promise<Fields> {
  const call = caller(server);
  const user = await call('POST', '/users', { name: 'Ada', own: { 'a.b': [1, { $x: null }] } });
  expect(user.status).to.equal(201);
  const one = `/users/${user.body.id}`;
  expect(user.headers.get('Location')).to.equal(`/api/v1${one}`);
  expect((await call('GET', one)).body).to.deep.equal(user.body);
  expect((await call('GET', '/users')).body.users).to.deep.equal([user.body]);
  const put = await call('PUT', one, { name: 'Grace' });
  expect([put.status, put.body.own, put.headers.get('ETag')]).to.deep.equal([
    200,
    undefined,
    '"2"',
  ]);
  const patched = await call('PATCH', one, { email: 'g@example.com', own: { kept: true } });
  expect(patched.body).to.deep.include({ name: 'Grace', own: { kept: true } });

  const post = await call('POST', '/posts', { title: 'On', authorId: user.body.id });
  expect(post.status).to.equal(201);
  const it = `/posts/${post.body.id}`;
  expect((await call('GET', it)).body).to.deep.equal(post.body);
  expect((await call('GET', `/posts?authorId=${user.body.id}`)).body.posts).to.have.length(1);
  expect((await call('PATCH', it, { body: 'x' })).body).to.deep.include({ title: 'On', body: 'x' });
  const replaced = await call('PUT', it, { title: 'Off', authorId: user.body.id });
  expect(replaced.body).to.deep.include({ title: 'Off', body: '' });
  const refused = await call('DELETE', one);
  expect([refused.status, refused.body.posts]).to.deep.equal([409, 1]);
  expect((await call('DELETE', it)).body).to.deep.equal({ deleted: true });

  const gone = await call('POST', '/users', { name: 'Gone' });
  expect((await call('DELETE', `/users/${gone.body.id}`)).body).to.deep.equal({ deleted: true });
  expect((await call('GET', `/users/${gone.body.id}`)).status).to.equal(404);
  return patched.body;
}

/** Calls every endpoint, restarts the server and checks that the user is still there. */
async function callOver(store: string): Promise<void> {
  const first = await startServer('--store', store);
  const left = await callAll(first);
  expect(await first.stop()).to.equal(0);
  await using second = await startServer('--store', store);
  expect((await caller(second)('GET', `/users/${left.id}`)).body).to.deep.equal(left);
}

describe('the 12 endpoints', function () {
  this.timeout(30_000);

  it('work on the memory store', async () => {
    await using server = await startServer('--store', 'memory:');
    await callAll(server);
  });

  it('work on SQLite, and the data survives a restart', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rostrum-endpoints-'));
    await callOver(`sqlite:${join(folder, 'rostrum.db')}`);
    rmSync(folder, { recursive: true, force: true });
  });
});

await describeOnMongodb('the 12 endpoints on MongoDB', () => {
  it('work, and the data survives a restart', async function () {
    this.timeout(60_000);
    const database = `endpoints-${randomUUID().slice(0, 8)}`;
    const url = (await sharedServer()).url(database);
    await callOver(url);
    const client = await new MongoClient(url).connect();
    await client.db(database).dropDatabase();
    await client.close();
  });
});
