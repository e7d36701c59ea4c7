import { expect } from 'chai';
import { type Api, expectProblem, startApi } from '../support/api.ts';

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('the endpoints', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  after(() => api[Symbol.asyncDispose]());

  for (const { path, input, absent } of [
    {
      path: '/users',
      input: { name: 'Ann', own: { a: [1, null] } },
      absent: { email: null },
    },
    { path: '/posts', input: { title: 'A post', own: true }, absent: { body: '', authorId: null } },
  ]) {
    const one = path.slice(1, -1);

    it(`POST ${path} returns 201 with the ${one}, its Location and its ETag`, async () => {
      const { status, headers, body } = await api.post(path, input);
      expect(status).to.equal(201);
      expect(body).to.deep.include({ ...input, ...absent });
      expect(body.id).to.be.a('string');
      expect(body.createdAt).to.match(instant);
      expect(body.updatedAt).to.equal(body.createdAt);
      expect(headers.get('location')).to.equal(`/api/v1${path}/${body.id}`);
      expect(headers.get('etag')).to.equal('"1"');
      expect(headers.get('cache-control')).to.equal('no-cache');
      expect(headers.get('content-type')).to.match(/^application\/json(;|$)/);
    });

    it(`GET ${path} returns a page, and GET ${path}/:id the ${one}`, async () => {
      const made = await api.make(path, input);
      const page = await api.get(path);
      expect(page.body[path.slice(1)]).to.deep.include(made);
      expect(page.body).to.include({ next: null }).and.not.have.property('total');
      expect(page.headers.get('link')).to.equal(null);
      expect(page.headers.get('cache-control')).to.equal('no-cache');
      const record = await api.get(`${path}/${made.id}`);
      expect([record.status, record.headers.get('etag')]).to.deep.equal([200, '"1"']);
      expect(record.body).to.deep.equal(made);
    });

    it(`PUT ${path}/:id replaces the ${one}; sending back an unchanged one changes nothing`, async () => {
      const made = await api.make(path, { ...input, gone: 1 });
      const same = await api.send('PUT', `${path}/${made.id}`, {}, made);
      expect([same.status, same.headers.get('etag')]).to.deep.equal([200, '"1"']);
      expect(same.body).to.deep.equal(made);
      const answer = await api.send('PUT', `${path}/${made.id}`, {}, input);
      expect([answer.status, answer.headers.get('etag')]).to.deep.equal([200, '"2"']);
      expect(answer.body).to.deep.include(input).and.not.have.property('gone');
      expect(answer.body.updatedAt > made.updatedAt).to.equal(true);
    });

    it(`PATCH ${path}/:id changes the given fields, with either media type`, async () => {
      const made = await api.make(path, input);
      for (const [type, own] of [
        ['application/json', 1],
        ['application/merge-patch+json', 2],
      ] as const) {
        const headers = { 'Content-Type': type };
        const answer = await api.send('PATCH', `${path}/${made.id}`, headers, { own });
        expect(answer.headers.get('etag')).to.equal(`"${own + 1}"`);
        expect(answer.body).to.deep.include({ ...made, own, updatedAt: answer.body.updatedAt });
      }
    });

    it(`DELETE ${path}/:id returns { "deleted": true }; later requests return 404`, async () => {
      const made = await api.make(path, input);
      const answer = await api.send('DELETE', `${path}/${made.id}`);
      expect([answer.status, answer.text]).to.deep.equal([200, '{"deleted":true}\n']);
      for (const method of ['GET', 'DELETE', 'PUT', 'PATCH']) {
        const body = method.startsWith('P') ? input : undefined;
        const again = await api.send(method, `${path}/${made.id}`, {}, body);
        expectProblem(again, 404, `${one}-not-found`);
      }
    });
  }

  it('errors name each invalid field with a code', async () => {
    const { id } = await api.make('/users', { name: 'Eve', email: 'Eve@Example.com' });
    for (const [method, path, body, status, errors] of [
      ['POST', '/users', { name: 5, '': 1 }, 422, ['/name type', '/ key']],
      ['PUT', `/users/${id}`, { name: 'Ann', id: 'x' }, 422, ['/id mismatch']],
      ['PATCH', `/users/${id}`, { id: 'x' }, 422, ['/id mismatch']],
      ['POST', '/posts', { title: 'x', authorId: 'nobody' }, 422, ['/authorId unknown']],
      ['POST', '/users', { name: 'Eve', email: 'eVE@example.COM' }, 409, ['/email taken']],
    ] as const) {
      const answer = await api.send(method, path, {}, body);
      const code = status === 409 ? 'email-taken' : 'invalid-record';
      const told = expectProblem(answer, status, code).errors;
      expect(told.map(({ pointer, code }) => `${pointer} ${code}`)).to.have.members(errors);
    }
  });

  it('DELETE of a user with posts returns 409 with their number, unless ?posts= is given', async () => {
    for (const mode of ['', 'delete', 'keep']) {
      const { id: authorId } = await api.make('/users', { name: 'Author' });
      await api.make('/posts', { title: 'First', authorId });
      const { id } = await api.make('/posts', { title: 'Second', authorId });
      const answer = await api.send('DELETE', `/users/${authorId}${mode && `?posts=${mode}`}`);
      const post = await api.get(`/posts/${id}`);
      const left = [answer.status, answer.body.posts, post.status, post.body.authorId];
      const version = post.headers.get('etag');
      if (mode === '') expect(left).to.deep.equal([409, 2, 200, authorId]);
      else if (mode === 'delete') expect(left).to.deep.equal([200, undefined, 404, undefined]);
      else expect([...left, version]).to.deep.equal([200, undefined, 200, null, '"2"']);
    }
  });
});
