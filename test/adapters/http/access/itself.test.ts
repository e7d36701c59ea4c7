// When a person signs in on two devices at once, only one request creates the user, on every store.

import { expect } from 'chai';
import { describeOnStores } from '../../../support/stores.ts';
import { startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';

await describeOnStores('PUT /users/me', (open) => {
  it('creates one user from 64 concurrent requests, and replaces it with the others', async function () {
    this.timeout(60_000);
    await using api = await startApi({ store: await open(), app: { authenticate } });
    for (const body of [{ name: 'Ann', email: 'ann@x.org' }, { name: 'Bob' }]) {
      const headers = as({ subject: body.name, scopes: ['users:write:own'] });
      const all = Array.from({ length: 64 }, () => api.send('PUT', '/users/me', headers, body));
      const answers = await Promise.all(all);
      const counts = Map.groupBy(answers, ({ status }) => status);
      expect([...counts].map(([status, of]) => [status, of.length])).to.have.deep.members([
        [201, 1],
        [200, 63],
      ]);
      for (const { text, headers: shown } of answers) {
        expect([text, shown.get('etag')]).to.deep.equal([answers[0]?.text, '"1"']);
      }
      expect(answers[0]?.body.id).to.equal(body.name);
    }
  });

  it('recreates a deleted user once, with the version after its last one', async function () {
    this.timeout(60_000);
    await using api = await startApi({ store: await open(), app: { authenticate } });
    const headers = as({ subject: 'gone', scopes: ['users:write:own'] });
    const put = () => api.send('PUT', '/users/me', headers, { name: 'Ann', email: 'ann@x.org' });
    expect((await put()).status).to.equal(201);
    expect((await api.send('DELETE', '/users/me', headers)).status).to.equal(200);
    const answers = await Promise.all(Array.from({ length: 64 }, put));
    const counts = Map.groupBy(answers, ({ status }) => status);
    expect([...counts].map(([status, of]) => [status, of.length])).to.have.deep.members([
      [201, 1],
      [200, 63],
    ]);
    for (const { body, headers: shown } of answers) {
      expect([body.id, shown.get('etag')]).to.deep.equal(['gone', '"2"']);
    }
  });
});
