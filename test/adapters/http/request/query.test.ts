import { expect } from 'chai';
import { endpointsFor } from '../../../../src/adapters/http/endpoints/index.ts';
import { scopes } from '../../../../src/index.ts';
import { type Api, expectProblem, startApi } from '../support/api.ts';
import { as, authenticate } from '../support/callers.ts';
import { exchange } from '../support/raw.ts';

const endpoints = endpointsFor({});

describe('the query', () => {
  let api: Api;
  let id = '';
  before(async () => {
    api = await startApi();
    ({ id } = await api.make('/users', { name: 'Ann & Bea = +1 %' }));
  });
  after(() => api[Symbol.asyncDispose]());

  it('rejects unknown parameters on every endpoint, and lists the allowed ones', async () => {
    await using known = await startApi({ app: { authenticate } });
    for (const { method, path, query = [] } of endpoints) {
      const target = `${path.replace(':id', id)}?nonsense=1`;
      const answer = await known.send(method, target, as({ subject: 'ann', scopes }));
      const { errors, allowed } = expectProblem(answer, 400, 'invalid-query');
      expect(errors).to.have.lengthOf(1);
      expect(errors[0]).to.include({ parameter: 'nonsense', code: 'unknown' });
      expect(allowed).to.deep.equal(query.map(({ name }) => name));
    }
    expect((await api.send('HEAD', '/users?nonsense=1')).status).to.equal(400);
  });

  it('rejects a repeated parameter, except id', async () => {
    for (const query of ['limit=1&limit=1', 'name=a&name=b', 'createdAt[gt]=&createdAt[gt]=']) {
      const answer = await api.get(`/users?${query}`);
      const { errors } = expectProblem(answer, 400, 'invalid-query');
      expect(errors).to.have.lengthOf(1);
      expect(errors[0]?.message).to.match(/once/);
    }
    const answer = await api.send('DELETE', `/users/${id}?posts=keep&posts=keep`);
    expectProblem(answer, 400, 'invalid-query');
  });

  it('reports at most a hundred invalid parameters, and names the first in its sentence', async () => {
    const names = Array.from({ length: 1000 }, (_, n) => encodeURIComponent(`$&${n}`));
    const many = await api.get(`/users/x?${names.join('&')}`);
    const { error, errors } = expectProblem(many, 400, 'invalid-query');
    expect(error).to.equal('The query parameter "$&0" is unknown. More errors are in "errors".');
    expect(errors).to.have.lengthOf(100);
    const mixed = await api.get('/users?limit=0&nonsense!=1');
    expect(expectProblem(mixed, 400, 'invalid-query').error).to.equal(
      'The query parameter "limit" must be an integer from 1 to 1000. More errors are in "errors".',
    );
  });

  it('names unknown parameters of a list, and the allowed ones', async () => {
    for (const name of ['page', 'order_by', 'limit[]', 'createdAt', 'id[0]', 'name[gte]', 'lang']) {
      const answer = await api.get(`/users?${encodeURIComponent(name)}=1`);
      const { error } = expectProblem(answer, 400, 'invalid-query');
      expect(error).to.equal(`The query parameter "${name}" is unknown.`);
      expect(answer.body.allowed).to.include.members([
        'limit',
        'createdAt[gte]',
        'id',
        'name[startsWith]',
      ]);
    }
  });

  it('rejects unknown values of posts', async () => {
    for (const value of ['', 'refuse', 'Keep', 'delete,keep']) {
      const answer = await api.send('DELETE', `/users/${id}?posts=${value}`);
      const { errors } = expectProblem(answer, 400, 'invalid-query');
      expect(errors[0]).to.include({ parameter: 'posts' });
    }
  });

  it('rejects names that only resemble known parameters', async () => {
    const times = ['createdAt', 'createdAt[ge]', 'createdAt[gte][]'];
    const others = ['Limit', '', '__proto__', 'constructor', 'cursor%00', 'x'.repeat(5000)];
    for (const query of [...times, ...others].map((name) => `${name}=2026-01-01T00:00:00Z`)) {
      expectProblem(await api.get(`/users?${query}`), 400, 'invalid-query');
    }
  });

  it('is parsed like a form: + is a space, and empty pairs are ignored', async () => {
    for (const query of [
      `name=${encodeURIComponent('Ann & Bea = +1 %')}`,
      'name=Ann+%26+Bea+=+%2B1+%25',
      '&&name=Ann+%26+Bea+%3D+%2B1+%25&',
      'n%61me=Ann+%26+Bea+%3D+%2B1+%25',
    ]) {
      const { body } = await api.get(`/users?${query}`);
      expect(body.users, query).to.have.lengthOf(1);
    }
    expect((await api.get('/users?')).status).to.equal(200);
    expect((await api.get('/users?authorId')).status).to.equal(400);
    expect((await api.get('/posts?authorId')).status).to.equal(200);
  });

  it('with malformed percent-encoding returns 400', async () => {
    for (const query of ['name=%ZZ', '%=1', 'name=%', 'name=%FF', 'name=%ED%A0%80', 'name=%C3']) {
      for (const [method, path] of [
        ['GET', '/api/v1/users'],
        ['DELETE', '/api/v1/posts/x'],
      ]) {
        const request = `${method} ${path}?${query} HTTP/1.1\r\nHost: x\r\n\r\n`;
        const answer = await exchange(api.server, request);
        expect([answer?.status, answer?.body.code], query).to.deep.equal([400, 'invalid-query']);
      }
    }
  });
});
