import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { expect } from 'chai';
import { createContainer, tokens } from '../src/adapters/inversify/container.ts';

describe('the HTTP API', () => {
  const container = createContainer('memory:');
  let server: Server;
  before(async () => {
    server = (await container.getAsync(tokens.app)).listen(0, '127.0.0.1');
  });
  after(() => server?.close());

  async function send(method: string, path: string, body?: object | string, headers = {}) {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...(body && { 'Content-Type': 'application/json' }), ...headers },
      body: typeof body === 'object' ? JSON.stringify(body) : (body ?? null),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
  }
  const addOwner = async () => (await send('POST', '/owners', { name: randomUUID() })).body.id;

  for (const [resource, getInput, change] of [
    ['/owners', async () => ({ name: 'Ada' }), { name: 'Grace' }],
    ['/notes', async () => ({ ownerId: await addOwner(), title: 'Hello' }), { pinned: true }],
  ] as const) {
    it(`serves ${resource}`, async () => {
      const created = await send('POST', resource, await getInput());
      const path = created.headers.get('Location') ?? '';
      expect([created.status, created.headers.get('ETag')]).to.deep.equal([201, '"1"']);
      expect((await send('GET', path)).body).to.deep.equal(created.body);
      const ifMatch = { 'If-Match': created.headers.get('ETag') };
      const changed = await send('PATCH', path, change, ifMatch);
      expect(changed.body).to.deep.equal({ ...created.body, ...change, version: 2 });
      expect(changed.headers.get('ETag')).to.equal('"2"');
      expect((await send('PATCH', path, change, ifMatch)).status).to.equal(412);
      expect((await send('PATCH', path, change, { 'If-Match': '*' })).body.version).to.equal(3);
      const remove = (tags: string) => send('DELETE', path, undefined, { 'If-Match': tags });
      for (const tags of ['W/"3"', '"1", "2"']) expect((await remove(tags)).status).to.equal(412);
      expect((await remove('"2", "3"')).status).to.equal(204);
      expect((await send('GET', path)).status).to.equal(404);
    });
  }

  it('lists pages', async () => {
    for (let times = 0; times < 3; times++) await addOwner();
    const pageAfter = async (id: string) => (await send('GET', `/owners?limit=1&after=${id}`)).body;
    const [first, second, third] = (await send('GET', '/owners')).body.items.slice(-3);
    expect(await pageAfter(first.id)).to.deep.equal({ items: [second], next: second.id });
    expect(await pageAfter(second.id)).to.deep.equal({ items: [third] });
  });

  it('names all invalid fields', async () => {
    const { body } = await send('POST', '/owners', { name: '\ud800', colour: 'red' });
    expect(body.detail).to.equal('The input is invalid. Check name, colour.');
    expect(body.errors[1]).to.deep.equal({ field: 'colour', message: 'Unknown field.' });
  });

  for (const [status, method, path, body, headers] of [
    [400, 'POST', '/owners', '{'],
    [400, 'GET', '/owners?limit=0'],
    [404, 'GET', '/owners/%E0%A4%A'],
    [404, 'GET', '/nowhere'],
    [405, 'PUT', '/owners', {}],
    [413, 'POST', '/owners', { name: 'a'.repeat(1_048_576) }],
    [415, 'POST', '/owners', 'name=Ada', { 'Content-Type': 'text/plain' }],
    [422, 'PATCH', '/owners/1', []],
    [422, 'POST', '/notes', { ownerId: '?', title: 'Hello' }],
  ] as [number, string, string, (object | string)?, object?][]) {
    it(`responds with ${status}: ${method} ${path}`, async () => {
      const response = await send(method, path, body, headers);
      expect([response.status, response.body.status]).to.deep.equal([status, status]);
      expect(response.headers.get('Content-Type')).to.match(/^application\/problem\+json/);
      expect(response.headers.get('Allow')).to.equal(status === 405 ? 'HEAD, GET, POST' : null);
    });
  }

  it('logs unexpected errors, and does not describe them to the client', async () => {
    const app = await container.getAsync(tokens.app);
    const bug = new Error('A secret');
    (await container.getAsync(tokens.store)).owners.find = () => Promise.reject(bug);
    app.silent = true;
    const logged = once(app, 'error');
    const { body } = await send('GET', '/owners/1');
    expect(body).to.deep.equal({ title: 'Internal Server Error', status: 500 });
    expect((await logged)[0]).to.equal(bug);
  });
});
