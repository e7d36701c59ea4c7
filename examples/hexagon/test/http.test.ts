import { once } from 'node:events';
import { expect } from 'chai';
import { tokens } from '../src/adapters/inversify/container.ts';
import { serve } from './serve.ts';

describe('the HTTP API', () => {
  const { send } = serve();
  const addOwner = async () => (await send('POST', '/owners', { name: 'Ada', quota: 1 })).body.id;

  it('serves notes', async () => {
    const [ada, grace] = [await addOwner(), await addOwner()];
    const created = await send('POST', '/notes', { ownerId: ada, title: 'Hello' });
    const path = created.headers.get('Location') ?? '';
    expect(created.status).to.equal(201);
    expect((await send('GET', path)).body).to.deep.equal(created.body);
    expect((await send('POST', '/notes', { ownerId: ada, title: 'Again' })).status).to.equal(409);
    const ifMatch = { 'If-Match': created.headers.get('ETag') };
    const changed = await send('PATCH', path, { pinned: true }, ifMatch);
    expect([changed.status, changed.headers.get('ETag')]).to.deep.equal([200, '"2"']);
    expect((await send('PATCH', path, { pinned: false }, ifMatch)).status).to.equal(412);
    const moved = await send('PUT', `${path}/owner`, { ownerId: grace }, { 'If-Match': '*' });
    expect(moved.body).to.deep.equal({ ...changed.body, ownerId: grace, version: 3 });
    const page = await send('GET', `/notes?ownerId=${grace}&limit=1`);
    expect(page.body).to.deep.equal({ notes: [moved.body] });
    expect((await send('GET', `/owners/${grace}`)).body.noteCount).to.equal(1);
    const remove = (tags: string) => send('DELETE', path, undefined, { 'If-Match': tags });
    for (const tags of ['W/"3"', '"1", "2"']) expect((await remove(tags)).status).to.equal(412);
    expect((await remove('"2", "3"')).status).to.equal(204);
    expect((await send('GET', path)).status).to.equal(404);
  });

  for (const [status, method, path, body, headers] of [
    [400, 'POST', '/notes', '{'],
    [400, 'GET', '/notes?limit=0'],
    [404, 'GET', '/notes/%E0%A4%A'],
    [404, 'GET', '/owners/1'],
    [404, 'GET', '/nowhere'],
    [405, 'PUT', '/notes', {}],
    [413, 'POST', '/notes', { title: 'a'.repeat(102_400) }],
    [415, 'POST', '/notes', 'title=Hello', { 'Content-Type': 'text/plain' }],
    [422, 'POST', '/notes', { ownerId: '?', title: 'Hello' }],
    [422, 'PATCH', '/notes/1', []],
  ] as [number, string, string, (object | string)?, object?][]) {
    it(`responds with ${status}: ${method} ${path}`, async () => {
      const response = await send(method, path, body, headers);
      expect([response.status, response.body.status]).to.deep.equal([status, status]);
      expect(response.headers.get('Content-Type')).to.match(/^application\/problem\+json/);
      expect(response.headers.get('Allow')).to.equal(status === 405 ? 'HEAD, GET, POST' : null);
    });
  }
});

describe('the HTTP API after a bug', () => {
  const { container, send } = serve();

  it('logs unexpected errors, and does not describe them to the client', async () => {
    const bug = new Error('A secret');
    (await container.getAsync(tokens.store)).notes.get = () => Promise.reject(bug);
    const logged = once(await container.getAsync(tokens.app), 'error');
    const { body } = await send('GET', '/notes/1');
    expect(body).to.deep.equal({ title: 'Internal Server Error', status: 500 });
    expect((await logged)[0]).to.equal(bug);
  });
});
