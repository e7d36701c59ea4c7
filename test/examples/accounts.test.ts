import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type Client,
  createClient,
  isApiProblem,
} from '../../packages/rostrum-client/src/index.ts';
import { blocksOf } from '../docs/markdown.ts';
import { freePort } from '../support/free-port.ts';
import { type Child, outcomeOf, start } from '../support/process.ts';
import { repository } from '../support/repository-copy.ts';

interface Person {
  readonly client: Client;
  readonly ask: (path: string, body?: object) => Promise<Response>;
}

describe('The example of accounts', function () {
  this.timeout(60_000);
  let url: string;
  let server: Child;

  before(async () => {
    const port = await freePort();
    url = `http://localhost:${port}`;
    const cwd = join(repository, 'examples', 'accounts');
    const options = { cwd, env: { PORT: String(port) } };
    server = start(process.execPath, ['--import', '../sources.mjs', 'server.js'], options);
    const ended = outcomeOf(server).then(({ output }) => new Error(output));
    const ready = await Promise.race([once(server.stdout, 'data'), ended]);
    if (ready instanceof Error) throw ready;
  });
  after(() => server.kill());

  /** A browser of one person: its cookie, and a token for each request. */
  function person(): Person {
    let cookie = '';
    const ask = async (path: string, body?: object) => {
      const response = await fetch(`${url}/api/auth${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { 'Content-Type': 'application/json', Origin: url, Cookie: cookie },
        ...(body && { body: JSON.stringify(body) }),
      });
      const [set] = response.headers.getSetCookie();
      if (set !== undefined) cookie = set.split(';')[0] ?? '';
      return response;
    };
    const token = async () => ((await (await ask('/token')).json()) as { token: string }).token;
    return { ask, client: createClient({ url: `${url}/api/v1`, token }) };
  }

  const anybody = () => createClient({ url: `${url}/api/v1` });
  const codeOf = async (call: Promise<unknown>) => {
    const error = await call.catch((reason: unknown) => reason);
    return isApiProblem(error) ? error.code : error;
  };

  it('lets who signs up be a user, with drafts and a profile of its own', async () => {
    expect(await codeOf(anybody().me.get())).to.equal('unauthenticated');
    const credentials = { email: 'ada@example.com', password: 'correct horse' };
    const ada = person();
    const signedUp = await ada.ask('/sign-up/email', { name: 'Ada', ...credentials });
    const { user } = (await signedUp.json()) as { user: { id: string } };
    expect(await codeOf(ada.client.posts.create({ title: 'Too soon' }))).to.equal('invalid-record');
    const { created, record } = await ada.client.me.save({ name: 'Ada', about: 'Engines' });
    expect([created, record.id]).to.deep.equal([true, user.id]);

    const { record: draft } = await ada.client.posts.create({ title: 'On', publishedAt: null });
    expect((await ada.client.posts.list({ authorId: 'me' })).items).to.deep.equal([draft]);
    const grace = person();
    await grace.ask('/sign-up/email', { name: 'Grace', ...credentials, email: 'g@example.com' });
    for (const other of [grace.client, anybody()]) {
      expect((await other.posts.list()).items).to.deep.equal([]);
      expect(await codeOf(other.posts.get(draft.id))).to.equal('post-not-found');
    }
    expect(await codeOf(grace.client.posts.delete(draft.id))).to.equal('post-not-found');
    await ada.client.posts.patch(draft.id, { publishedAt: new Date().toISOString() });
    const { items, users } = await anybody().posts.list({ include: 'author' });
    expect(items.map(({ title }) => title)).to.deep.equal(['On']);
    const { createdAt } = record;
    expect(users).to.deep.equal([{ id: user.id, name: 'Ada', createdAt, about: 'Engines' }]);
    expect((await anybody().users.get(user.id)).record).to.deep.equal(users[0]);
    expect(await codeOf(grace.client.posts.delete(draft.id))).to.equal('forbidden');

    expect((await ada.ask('/sign-out', {})).status).to.equal(200);
    expect((await ada.ask('/token')).status).to.equal(401);
    const later = person();
    expect((await later.ask('/sign-in/email', credentials)).status).to.equal(200);
    expect((await later.client.me.get()).record).to.deep.equal(record);
  });

  it('is what docs/accounts.md shows of it', async () => {
    const names = ['server.js', 'session.js', 'main.js'];
    const read = (name: string) => readFile(join(repository, 'examples', 'accounts', name), 'utf8');
    const source = (await Promise.all(names.map(read))).join('\n');
    const blocks = blocksOf('docs/accounts.md').filter(({ language }) => language === 'js');
    expect(blocks).to.have.length(5);
    for (const { text } of blocks) expect(source).to.include(text);
  });

  it('lets people sign up at either name of this machine, and from no other page', async () => {
    const statusFrom = async (origin: string, email: string) => {
      const headers = { 'Content-Type': 'application/json', Origin: origin, Cookie: 'a=b' };
      const body = JSON.stringify({ name: 'Ada', email, password: 'correct horse' });
      return (await fetch(`${url}/api/auth/sign-up/email`, { method: 'POST', headers, body }))
        .status;
    };
    const other = url.replace('localhost', '127.0.0.1');
    expect(await statusFrom(other, 'here@example.com')).to.equal(200);
    expect(await statusFrom('http://evil.example.com', 'evil@example.com')).to.equal(403);
  });

  it('takes no token of anybody else', async () => {
    const forged = createClient({ url: `${url}/api/v1`, token: 'e30.e30.e30' });
    expect(await codeOf(forged.posts.list())).to.equal('unauthenticated');
  });
});
