import { expect } from 'chai';
import type { Body } from '../support/answer.ts';
import { type Api, expectProblem, startApi } from '../support/api.ts';

describe('conditional requests', () => {
  let api: Api;
  let user: Body;
  let path: string;
  before(async () => {
    api = await startApi();
  });
  after(() => api[Symbol.asyncDispose]());
  beforeEach(async () => {
    const made = await api.make('/users', { name: 'Ann' });
    path = `/users/${made.id}`;
    user = (await api.send('PATCH', path, {}, { n: 1 })).body; // Version 2.
  });

  for (const method of ['GET', 'HEAD']) {
    it(`${method} returns 304 if If-None-Match matches`, async () => {
      for (const tag of ['"2"', 'W/"2"', '*', '"1", "2"', '"x",W/"2"', ',, "2" ,']) {
        const { status, headers, text } = await api.send(method, path, { 'If-None-Match': tag });
        expect([status, text], tag).to.deep.equal([304, '']);
        expect(headers.get('etag')).to.equal('"2"');
        expect(headers.get('cache-control')).to.equal('no-cache');
      }
      const others = ['"1"', 'W/"1"', '"02"', '"two"', '""', '"2.0"', '"99999999999999999999"'];
      for (const tag of others) {
        const { status } = await api.send(method, path, { 'If-None-Match': tag });
        expect(status, tag).to.equal(200);
      }
    });
  }

  it('GET returns 412 if If-Match does not match', async () => {
    expect((await api.get(path, { 'If-Match': '"2"' })).status).to.equal(200);
    expectProblem(await api.get(path, { 'If-Match': '"1"' }), 412, 'version-mismatch');
  });

  it('lists and POST ignore both headers', async () => {
    const headers = { 'If-Match': '"1"', 'If-None-Match': '*' };
    const list = await api.get('/users', headers);
    expect([list.status, list.headers.get('etag')]).to.deep.equal([200, null]);
    expect((await api.post('/users', { name: 'Bea' }, headers)).status).to.equal(201);
  });

  it('the 412 explains that a weak ETag never matches', async () => {
    const weak = await api.send('PATCH', path, { 'If-Match': 'W/"2"' }, { n: 2 });
    expect(expectProblem(weak, 412, 'version-mismatch').detail).to.match(/weak entity tag/);
    const strong = await api.send('PATCH', path, { 'If-Match': '"1"' }, { n: 2 });
    expect(expectProblem(strong, 412, 'version-mismatch').detail).not.to.match(/weak/);
  });

  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const body = method === 'DELETE' ? undefined : { name: 'Bea' };

    it(`${method} returns 412 with the current ETag if a condition fails`, async () => {
      for (const [header, tag] of [
        ...['"1"', 'W/"2"', '"3"', '"x"', 'W/"2", "1"'].map((tag) => ['If-Match', tag] as const),
        ...['"2"', 'W/"2"', '*'].map((tag) => ['If-None-Match', tag] as const),
      ]) {
        const answer = await api.send(method, path, { [header]: tag }, body);
        expectProblem(answer, 412, 'version-mismatch');
        expect(answer.headers.get('etag')).to.equal('"2"');
      }
      expect((await api.get(path)).body).to.deep.equal(user);
      for (const [header, tag] of [
        ...['"2"', '*', '"7", "2"', 'W/"2", "2"'].map((tag) => ['If-Match', tag] as const),
        ['If-None-Match', '"1"'],
      ] as const) {
        const { id } = await api.make('/users', { name: 'Ann' });
        await api.send('PATCH', `/users/${id}`, {}, { n: 1 });
        const { status, text } = await api.send(method, `/users/${id}`, { [header]: tag }, body);
        expect(status, `${tag} ${text}`).to.equal(200);
      }
    });
  }

  it('a malformed ETag returns 400', async () => {
    for (const tag of ['2', '""2"', '"2', 'w/"2"', '"2" "3"', '*, "2"', '"a b"', '', ',', 'W/2']) {
      for (const header of ['If-Match', 'If-None-Match']) {
        const answer = await api.send('DELETE', path, { [header]: tag });
        const { errors } = expectProblem(answer, 400, 'invalid-header');
        expect(errors[0]).to.include({ header, code: 'invalid' });
      }
    }
  });

  it('changes without If-Match return 428 if it is required; reads and creations don’t', async () => {
    await using strict = await startApi({ app: { requireIfMatch: true } });
    const { id } = await strict.make('/users', { name: 'Ann' });
    expect((await strict.get(`/users/${id}`)).status).to.equal(200);
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const body = method === 'DELETE' ? undefined : { name: 'Bea' };
      const refused = await strict.send(method, `/users/${id}`, {}, body);
      expectProblem(refused, 428, 'precondition-required');
      const fine = await strict.send(method, `/users/${id}`, { 'If-Match': '*' }, body);
      expect(fine.status).to.equal(200);
    }
  });

  it('lists and creations ignore conditional headers', async () => {
    expect((await api.get('/users', { 'If-None-Match': '*' })).status).to.equal(200);
    const made = await api.post('/users', { name: 'Cid' }, { 'If-None-Match': '*' });
    expect(made.status).to.equal(201);
  });
});
