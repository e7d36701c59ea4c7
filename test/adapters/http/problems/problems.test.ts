import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { problemCatalogue } from '../../../../src/adapters/http/problems/catalogue.ts';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { RostrumError, storeUnavailable } from '../../../../src/domain/errors.ts';
import type { Around } from '../../../../src/index.ts';
import { contractCodes } from '../../../support/contract-codes.ts';
import { type Api, expectProblem, startApi } from '../support/api.ts';
import { errorsDocument } from '../support/errors-document.ts';
import { keepLog } from '../support/log.ts';

const documentPath = new URL('../../../../docs/errors.md', import.meta.url);

describe('problems', () => {
  it('have the codes and statuses of the contract', () => {
    const codes = Object.entries(problemCatalogue).map(([code, { status }]) => `${status} ${code}`);
    const expected = Object.entries(contractCodes).flatMap(([status, names]) =>
      names.map((name) => `${status} ${name}`),
    );
    expect(codes.toSorted()).to.deep.equal(expected.toSorted());
  });

  it('are documented in docs/errors.md (UPDATE_DOCS=1 rewrites it)', async () => {
    if (process.env.UPDATE_DOCS) {
      const { writeFileSync } = await import('node:fs');
      writeFileSync(documentPath, errorsDocument());
    }
    expect(readFileSync(documentPath, 'utf8')).to.equal(errorsDocument());
  });

  describe('each have a page', () => {
    let api: Api;
    before(async () => {
      api = await startApi();
    });
    after(() => api[Symbol.asyncDispose]());

    it('as HTML and as JSON', async () => {
      for (const [code, { status, title, meaning, advice }] of Object.entries(problemCatalogue)) {
        const page = `${api.server.url}/problems/${code}`;
        const program = await api.get(page, { Accept: 'application/json' });
        const type = `/problems/${code}`;
        expect(program.body).to.deep.equal({ type, title, status, code, meaning, advice });
        expect([program.status, program.headers.get('vary')]).to.deep.equal([200, 'Accept']);
        const person = await api.get(page, { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
        expect(person.headers.get('location')).to.equal(`/problems#${code}`);
      }
    });

    it('as JSON if Accept does not ask for HTML', async () => {
      const page = `${api.server.url}/problems/internal`;
      for (const accept of ['*/*', 'application/problem+json', 'image/png']) {
        const { headers } = await api.get(page, { Accept: accept });
        expect(headers.get('content-type')).to.match(/^application\/json/);
      }
      // Asks for HTML, but is too long to be parsed: the time would grow with the square of its length.
      const long = await api.get(page, { Accept: `text/html,${'a/b,'.repeat(500)}` });
      expect(long.headers.get('content-type')).to.match(/^application\/json/);
      expectProblem(await api.send('POST', page), 405, 'method-not-allowed');
      const options = await api.send('OPTIONS', page);
      expect([options.status, options.headers.get('allow')]).to.deep.equal([
        204,
        'GET, HEAD, OPTIONS',
      ]);
    });
  });

  it('of a custom rule are 409 with its reason, or an opaque 500 for any other error', async () => {
    const errors: Record<string, Error> = {
      taken: new RostrumError('refused', { reason: 'This name is reserved.' }),
      secret: new Error('a secret'),
    };
    const around: Around = (services) => ({
      ...services,
      users: {
        ...services.users,
        create: async (input, options) => {
          const error = errors[String((input as { name: unknown }).name)];
          if (error !== undefined) throw error;
          return services.users.create(input, options);
        },
      },
    });
    await using api = await startApi({ core: { around }, app: { logger: keepLog().logger } });
    const refused = await api.post('/users', { name: 'taken' });
    const { reason, error } = expectProblem(refused, 409, 'refused');
    expect([reason, error]).to.deep.equal(Array(2).fill('This name is reserved.'));
    const failed = await api.post('/users', { name: 'secret' });
    expectProblem(failed, 500, 'internal');
    expect(failed.text).not.to.include('a secret');
    expect((await api.post('/users', { name: 'Ann' })).status).to.equal(201);
  });

  describe('of the store', () => {
    const { logger, lines } = keepLog();
    beforeEach(() => lines.splice(0));

    it('unavailable without a change: 503 with Retry-After, and a warning in the log', async () => {
      await using api = await startApi({ app: { logger } });
      await api.store.close();
      for (const answer of [
        await api.get('/users'),
        await api.get('/posts/x'),
        await api.post('/users', { name: 'Ann' }),
        await api.send('PATCH', '/users/x', {}, {}),
        await api.send('DELETE', '/posts/x'),
      ]) {
        expect(expectProblem(answer, 503, 'store-unavailable').outcome).to.equal('none');
        expect(answer.headers.get('retry-after')).to.match(/^[1-9]\d*$/);
      }
      expect(lines.find(({ level }) => level === 'warn')).to.include({ code: 'store-unavailable' });
    });

    it('unavailable with an unknown outcome: 503 that says so; overloaded: 503 with Retry-After', async () => {
      const store = createMemoryStore();
      const cause = new Error('connect ECONNREFUSED db.internal:27017 password=hunter2');
      store.users.create = () => Promise.reject(storeUnavailable('unknown', cause));
      store.posts.create = () => Promise.reject(new RostrumError('overloaded', {}));
      await using api = await startApi({ store, app: { logger } });
      const answer = await api.post('/users', { name: 'Ann' });
      const { error, outcome } = expectProblem(answer, 503, 'store-unavailable');
      expect(error).to.match(/may or may not have been made/);
      expect(outcome).to.equal('unknown');
      expect(answer.text).not.to.match(/ECONNREFUSED|hunter2/);
      const refused = await api.post('/posts', { title: 'x' });
      expectProblem(refused, 503, 'overloaded');
      expect(refused.headers.get('retry-after')).to.match(/^[1-9]\d*$/);
    });

    it('duplicate id: an opaque 500, logged with the request id', async () => {
      const ids = { next: () => 'always-the-same' };
      await using api = await startApi({ core: { ids }, app: { logger } });
      await api.make('/users', { name: 'Ann' });
      const answer = await api.post('/users', { name: 'Bea' }, { 'X-Request-Id': 'r1' });
      expectProblem(answer, 500, 'internal');
      expect(answer.text).not.to.match(/taken|always/);
      const [line] = lines.filter(({ level }) => level === 'error');
      expect(line).to.deep.include({ requestId: 'r1', code: 'internal', method: 'POST' });
      expect(String(line?.err)).to.match(/id/);
    });

    it('any unexpected error: an opaque 500', async () => {
      const store = createMemoryStore();
      store.users.get = async () => {
        throw new TypeError('Cannot read properties of undefined (reading "secret")');
      };
      store.users.list = () => Promise.reject('not even an error');
      await using api = await startApi({ store, app: { logger } });
      for (const path of ['/users/x', '/users']) {
        const answer = await api.get(path);
        expectProblem(answer, 500, 'internal');
        expect(answer.text).not.to.match(/secret|not even|at |TypeError/);
      }
      expect(lines.filter(({ level }) => level === 'error')).to.have.lengthOf(2);
    });
  });
});
