import { expect } from 'chai';
import { expectProblem, startApi } from './support/api.ts';

describe('the probes', () => {
  it('/livez is 200 while the process answers, whatever the store does', async () => {
    await using api = await startApi();
    await api.store.close();
    const { status, headers, body } = await api.get(`${api.server.url}/livez`);
    expect([status, body]).to.deep.equal([200, { status: 'ok' }]);
    expect(headers.get('cache-control')).to.equal('no-store');
  });

  it('/readyz is 200 when the store can serve, and 503 when it cannot', async () => {
    await using api = await startApi();
    const path = `${api.server.url}/readyz`;
    expect((await api.get(path)).status).to.equal(200);
    await api.store.close();
    expectProblem(await api.get(path), 503, 'store-unavailable');
  });

  it('/readyz is 503 when the store does not say in time, or whatever it fails with', async () => {
    const silent = () => new Promise<void>(() => {});
    for (const ready of [silent, () => Promise.reject(new Error('a secret'))]) {
      await using api = await startApi({ app: { ready } });
      const answer = await api.get(`${api.server.url}/readyz`);
      expectProblem(answer, 503, 'store-unavailable');
      expect(answer.text).not.to.contain('secret');
    }
  });

  it('can only be read', async () => {
    await using api = await startApi();
    for (const probe of ['livez', 'readyz']) {
      const answer = await api.send('POST', `${api.server.url}/${probe}`);
      expectProblem(answer, 405, 'method-not-allowed');
      expect(answer.headers.get('allow')).to.equal('GET, HEAD, OPTIONS');
      expect((await api.send('OPTIONS', `${api.server.url}/${probe}`)).status).to.equal(204);
    }
  });
});
