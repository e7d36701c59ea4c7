import { expect } from 'chai';
import { type Client, createClient } from '../src/index.ts';
import { type Api, startApi } from './support/api.ts';
import { problemOf } from './support/problem-of.ts';

const own = ['users:read:public', 'users:write:own', 'posts:read', 'posts:write:own'] as const;
const callers = {
  ada: { name: 'ada', subject: 'ada', scopes: own },
  grace: { name: 'grace', subject: 'grace', scopes: own },
  nobody: { name: 'nobody', subject: null, scopes: own },
  writer: { name: 'writer', subject: null, scopes: ['users:read:public', 'users:write'] },
} as const;
const anonymous = ['users:read:public', 'posts:read'] as const;

describe('the client, for a caller with a user', () => {
  let api: Api;
  const as = (token?: keyof typeof callers): Client => createClient({ url: api.url, token });

  beforeEach(async () => {
    api = await startApi({ callers, anonymous });
  });
  afterEach(() => api[Symbol.asyncDispose]());

  it('creates, replaces, reads, updates and deletes the caller’s own user', async () => {
    const { me } = as('ada');
    expect(await problemOf(me.get())).to.have.property('code', 'user-not-found');
    const made = await me.save({ name: 'Ada', email: 'ada@example.com' });
    expect(made).to.deep.include({ created: true, version: 1, etag: '"1"' });
    expect(made.record).to.include({ id: 'ada', name: 'Ada' });
    const saved = await me.save({ name: 'Countess' });
    expect(saved).to.deep.include({ created: false, version: 2 });
    expect(saved.record).to.include({ name: 'Countess', email: null });
    expect(await problemOf(me.save({ name: 'Lost' }, { ifNoneMatch: '*' }))).to.include({
      code: 'version-mismatch',
    });
    expect(await problemOf(me.save({ name: 'Lost' }, { ifMatch: made.version }))).to.include({
      code: 'version-mismatch',
      version: 2,
    });
    const patched = await me.patch({ email: 'ada@example.com' }, { ifMatch: saved.version });
    expect((await me.get()).record).to.deep.equal(patched.record);
    await me.delete();
    expect(await me.save({ name: 'Ada' })).to.include({ created: true, version: 4 });
  });

  it('gets an error from me without a subject or a token', async () => {
    expect(await problemOf(as('nobody').me.get())).to.have.property('code', 'forbidden');
    expect(await problemOf(as().me.get())).to.have.property('code', 'unauthenticated');
  });

  it('is anonymous while its token function returns undefined', async () => {
    const { record } = await as('ada').me.save({ name: 'Ada' });
    let token: string | undefined;
    const client = createClient({ url: api.url, token: () => token });
    expect((await client.users.get('ada')).record).to.have.keys('id', 'name', 'createdAt');
    token = 'ada';
    expect((await client.me.get()).record).to.deep.equal(record);
  });

  it('reads the public view of a user, and refuses to update the user with it', async () => {
    await as('ada').me.save({ name: 'Ada', email: 'ada@example.com', born: 1815 });
    const { users } = as('writer');
    const seen = await users.get('ada');
    expect(seen.version).to.equal(1);
    expect(seen.etag).to.match(/^"1-[\w-]{8}"$/);
    expect(seen.record).to.have.keys('id', 'name', 'createdAt');
    const change = users.update('ada', (user) => ({ ...user, name: 'Countess' }));
    expect(await problemOf(change)).to.include({ code: 'forbidden', outcome: 'none' });
    await users.patch('ada', { name: 'Countess' }, { ifMatch: seen.version });
    const { record } = await as('ada').me.get();
    expect(record).to.include({ name: 'Countess', email: 'ada@example.com', born: 1815 });
  });

  it('lists the caller’s drafts, and public posts of others', async () => {
    const { me, posts } = as('ada');
    await me.save({ name: 'Ada' });
    await posts.create({ title: 'Draft', publishedAt: null });
    const { record } = await posts.create({ title: 'Public' });
    await posts.create({ title: 'Later', publishedAt: '2999-01-01T00:00:00Z' });
    const titles = async (query: Parameters<typeof posts.list>[0], client = as('ada')) =>
      (await client.posts.list(query)).items.map(({ title }) => title).join(' ');
    expect(await titles({ authorId: 'me', sort: 'title' })).to.equal('Draft Later Public');
    expect(await titles({ authorId: 'me', publishedAt: null })).to.equal('Draft');
    expect(await titles({ authorId: 'me', publishedAt: { gt: new Date() } })).to.equal('Later');
    const { publishedAt } = record;
    expect(publishedAt).to.equal(record.createdAt);
    expect(await titles({ publishedAt: { lte: new Date(publishedAt ?? 0) } })).to.equal('Public');
    expect(await titles({ authorId: 'ada' }, as('grace'))).to.equal('Public');
    expect(await titles({ title: { startsWith: 'PUB' } }, as())).to.equal('Public');
  });

  it('lists posts with the public view of each author, once', async () => {
    for (const name of ['ada', 'grace'] as const) {
      const { me, posts } = as(name);
      await me.save({ name, email: `${name}@example.com` });
      for (const number of [1, 2]) await posts.create({ title: `${name} ${number}` });
    }
    const { posts, users } = as();
    const { items, users: authors, next } = await posts.list({ include: 'author', sort: 'title' });
    expect(items.map(({ authorId }) => authorId)).to.deep.equal(['ada', 'ada', 'grace', 'grace']);
    expect(next).to.equal(null);
    const seen = (await users.list({ sort: 'name' })).items;
    expect(seen.map((user) => Object.keys(user).sort().join())).to.deep.equal(
      seen.map(() => 'createdAt,id,name'),
    );
    expect(authors).to.have.deep.members([...seen]);
    const some = await posts.list({ include: 'author', fields: ['title'], limit: 1 });
    expect(some.items[0]).to.have.keys('id', 'title', 'authorId');
    expect(await posts.list({ include: 'author', id: [] })).to.deep.include({ users: [] });
    expect((await users.list({ name: { startsWith: 'GR' } })).items).to.have.length(1);
  });
});
