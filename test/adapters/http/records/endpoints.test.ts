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

    it(`POST ${path} answers 201 with the ${one}, its Location and its ETag`, async () => {
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

    it(`GET ${path} answers a page`, async () => {
      const made = await api.make(path, input);
      const { status, headers, body } = await api.get(path);
      expect(status).to.equal(200);
      expect(body[path.slice(1)]).to.deep.include(made);
      expect(body.next).to.equal(null);
      expect(body).not.to.have.property('total');
      expect(headers.get('link')).to.equal(null);
      expect(headers.get('cache-control')).to.equal('no-cache');
    });

    it(`GET ${path}/:id answers the ${one}`, async () => {
      const made = await api.make(path, input);
      const { status, headers, body } = await api.get(`${path}/${made.id}`);
      expect([status, headers.get('etag')]).to.deep.equal([200, '"1"']);
      expect(body).to.deep.equal(made);
    });

    it(`PUT ${path}/:id replaces the whole ${one}`, async () => {
      const made = await api.make(path, { ...input, gone: 1 });
      const answer = await api.send('PUT', `${path}/${made.id}`, {}, input);
      expect([answer.status, answer.headers.get('etag')]).to.deep.equal([200, '"2"']);
      expect(answer.body).not.to.have.property('gone');
      expect(answer.body).to.deep.include(input);
      expect(answer.body.updatedAt > made.updatedAt).to.equal(true);
    });

    it(`PUT ${path}/:id takes back what GET gave, and changes nothing by it`, async () => {
      const made = await api.make(path, input);
      const answer = await api.send('PUT', `${path}/${made.id}`, {}, made);
      expect([answer.status, answer.headers.get('etag')]).to.deep.equal([200, '"1"']);
      expect(answer.body).to.deep.equal(made);
    });

    it(`PATCH ${path}/:id changes what is supplied, as either media type`, async () => {
      const made = await api.make(path, input);
      for (const [type, own] of [
        ['application/json', 1],
        ['application/merge-patch+json', 2],
      ] as const) {
        const headers = { 'Content-Type': type };
        const answer = await api.send('PATCH', `${path}/${made.id}`, headers, { own });
        expect(answer.status).to.equal(200);
        expect(answer.headers.get('etag')).to.equal(`"${own + 1}"`);
        expect(answer.body).to.deep.include({ ...made, own, updatedAt: answer.body.updatedAt });
      }
    });

    it(`DELETE ${path}/:id answers { "deleted": true }, and 404 from then on`, async () => {
      const made = await api.make(path, input);
      const answer = await api.send('DELETE', `${path}/${made.id}`);
      expect([answer.status, answer.text]).to.deep.equal([200, '{"deleted":true}']);
      for (const method of ['GET', 'DELETE']) {
        expectProblem(await api.send(method, `${path}/${made.id}`), 404, `${one}-not-found`);
      }
      for (const method of ['PUT', 'PATCH']) {
        const again = await api.send(method, `${path}/${made.id}`, {}, input);
        expectProblem(again, 404, `${one}-not-found`);
      }
    });

    it(`a ${one} that breaks rules is 422 with every field that does`, async () => {
      const answer = await api.post(path, { ...input, name: 5, title: 5, '': 1 });
      const { errors } = expectProblem(answer, 422, 'invalid-record');
      expect(errors).to.have.lengthOf(2);
      expect(errors.map(({ pointer }) => pointer)).to.include.members(['/']);
    });
  }

  it('PUT and PATCH refuse an id that is not the one of the path', async () => {
    const made = await api.make('/users', { name: 'Ann' });
    for (const method of ['PUT', 'PATCH']) {
      const answer = await api.send(method, `/users/${made.id}`, {}, { name: 'Ann', id: 'x' });
      const { errors } = expectProblem(answer, 422, 'invalid-record');
      expect(errors).to.deep.include({
        pointer: '/id',
        code: 'mismatch',
        message: errors[0]?.message,
      });
    }
  });

  it('an email address that is taken is 409, whatever its case', async () => {
    await api.make('/users', { name: 'Eve', email: 'Eve@Example.com' });
    const answer = await api.post('/users', { name: 'Eve', email: 'eVE@example.COM' });
    const { errors } = expectProblem(answer, 409, 'email-taken');
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.include({ pointer: '/email', code: 'taken' });
  });

  it('an author who does not exist is 422', async () => {
    const answer = await api.post('/posts', { title: 'x', authorId: 'nobody' });
    const { errors } = expectProblem(answer, 422, 'invalid-record');
    expect(errors[0]).to.include({ pointer: '/authorId', code: 'unknown' });
  });

  describe('DELETE of a user who has posts', () => {
    async function userWithPosts(): Promise<{ user: string; post: string }> {
      const { id: user } = await api.make('/users', { name: 'Author' });
      await api.make('/posts', { title: 'First', authorId: user });
      const { id: post } = await api.make('/posts', { title: 'Second', authorId: user });
      return { user, post };
    }

    it('is 409 with their number', async () => {
      const { user } = await userWithPosts();
      const answer = await api.send('DELETE', `/users/${user}`);
      expectProblem(answer, 409, 'user-has-posts');
      expect(answer.body.posts).to.equal(2);
    });

    it('deletes them too with ?posts=delete', async () => {
      const { user, post } = await userWithPosts();
      expect((await api.send('DELETE', `/users/${user}?posts=delete`)).status).to.equal(200);
      expectProblem(await api.get(`/posts/${post}`), 404, 'post-not-found');
    });

    it('leaves them without an author with ?posts=keep, each at a new version', async () => {
      const { user, post } = await userWithPosts();
      expect((await api.send('DELETE', `/users/${user}?posts=keep`)).status).to.equal(200);
      const { headers, body } = await api.get(`/posts/${post}`);
      expect([headers.get('etag'), body.authorId]).to.deep.equal(['"2"', null]);
    });
  });
});
