import { expect } from 'chai';
import { expectProblem, startApi } from './support/api.ts';

describe('the probes', () => {
  it('/livez returns 200 even if the store is closed', async () => {
    await using api = await startApi();
    await api.store.close();
    const { status, headers, body } = await api.get(`${api.server.url}/livez`);
    expect([status, body]).to.deep.equal([200, { status: 'ok' }]);
    expect(headers.get('cache-control')).to.equal('no-store');
  });

  it('/readyz returns 200 if the store is available, and 503 if not', async () => {
    await using api = await startApi();
    const path = `${api.server.url}/readyz`;
    expect((await api.get(path)).status).to.equal(200);
    await api.store.close();
    expectProblem(await api.get(path), 503, 'store-unavailable');
  });

  it('/readyz returns 503 if the store fails or does not respond in time', async () => {
    const silent = () => new Promise<void>(() => {});
    for (const ready of [silent, () => Promise.reject(new Error('a secret'))]) {
      await using api = await startApi({ app: { ready } });
      const answer = await api.get(`${api.server.url}/readyz`);
      expectProblem(answer, 503, 'store-unavailable');
      expect(answer.text).not.to.contain('secret');
    }
  });

  it('reject methods other than GET and HEAD', async () => {
    await using api = await startApi();
    for (const probe of ['livez', 'readyz']) {
      const answer = await api.send('POST', `${api.server.url}/${probe}`);
      expectProblem(answer, 405, 'method-not-allowed');
      expect(answer.headers.get('allow')).to.equal('GET, HEAD, OPTIONS');
      expect((await api.send('OPTIONS', `${api.server.url}/${probe}`)).status).to.equal(204);
    }
  });
});
