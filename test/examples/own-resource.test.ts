import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { type Child, outcomeOf, start } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';

describe('the own-resource example', function () {
  this.timeout(60_000);
  const scope = new AsyncDisposableStack();
  let api: string;
  let file: string;
  let server: Child;

  before(async () => {
    const port = await freePort();
    api = `http://127.0.0.1:${port}/api/v1`;
    file = join(scope.use(await temporaryDirectory()).path, 'blog.db');
    const cwd = join(repository, 'examples', 'own-resource');
    const options = { cwd, env: { PORT: String(port), DATA_FILE: file } };
    server = start(process.execPath, ['--import', '../sources.mjs', 'server.ts'], options);
    const ended = outcomeOf(server).then(({ output }) => new Error(output));
    const ready = await Promise.race([once(server.stdout, 'data'), ended]);
    if (ready instanceof Error) throw ready;
    for (const name of ['ada', 'grace']) await send('PUT', '/users/me', name, { name });
  });
  after(async () => {
    const ended = outcomeOf(server);
    server.kill();
    expect((await ended).code).to.equal(0);
    await scope.disposeAsync();
  });

  async function send(method: string, path: string, name?: string, body?: object) {
    const response = await fetch(`${api}${path}`, {
      method,
      headers: {
        ...(name && { Authorization: `Bearer ${name}-token` }),
        ...(body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  }

  const write = async (name: string, post: object = {}): Promise<string> =>
    (await send('POST', '/posts', name, { title: 'A post', ...post })).body.id;
  const comment = (post: string, name: string | undefined, text: unknown = 'A comment') =>
    send('POST', `/posts/${post}/comments`, name, { text });
  const list = (post: string, name?: string) => send('GET', `/posts/${post}/comments`, name);
  /** Returns the comments of a post from the data file, even if the post is deleted. */
  const rowsOf = (post: string) => {
    using database = new DatabaseSync(file, { readOnly: true });
    return database.prepare('SELECT * FROM blog_comments WHERE postId = ?').all(post);
  };

  it('adds comments to a post and lists them', async () => {
    const post = await write('ada');
    const { status, body } = await comment(post, 'grace', 'First');
    expect(status).to.equal(201);
    expect(body).to.deep.include({ postId: post, authorId: 'grace', text: 'First' });
    expect((await list(post)).body).to.deep.equal({ comments: [body], next: null });
    expect((await comment(post, undefined)).status).to.equal(401);
    expect((await comment(post, 'nobody')).status).to.equal(401);
    expect((await comment(post, 'ada', ' ')).status).to.equal(422);
  });

  it('shows and accepts comments only if the caller can see the post', async () => {
    const draft = await write('ada', { publishedAt: null });
    expect((await comment(draft, 'ada')).status).to.equal(201);
    expect((await list(draft, 'ada')).body.comments).to.have.length(1);
    for (const name of ['grace', undefined]) expect((await list(draft, name)).status).to.equal(404);
    expect((await comment(draft, 'grace')).status).to.equal(404);
  });

  it('lets only the author delete a comment', async () => {
    const post = await write('ada');
    const { id } = (await comment(post, 'grace')).body;
    for (const [name, status] of [
      ['ada', 404],
      [undefined, 401],
      ['grace', 204],
      ['grace', 404],
    ] as const) {
      expect((await send('DELETE', `/comments/${id}`, name)).status).to.equal(status);
    }
  });

  it('deletes comments with their post, even if they are added concurrently', async () => {
    const post = await write('ada');
    await comment(post, 'grace');
    const comments = Array.from({ length: 20 }, () => comment(post, 'grace'));
    const deletion = await send('DELETE', `/posts/${post}`, 'ada');
    expect(deletion.status).to.equal(200);
    for (const { status } of await Promise.all(comments)) expect(status).to.be.oneOf([201, 404]);
    expect(rowsOf(post)).to.deep.equal([]);
    expect((await list(post)).status).to.equal(404);
  });

  it('keeps comments of a deleted user, but deletes those on the user’s deleted posts', async () => {
    const [kept, deleted] = [await write('ada'), await write('grace')];
    for (const post of [kept, deleted]) await comment(post, 'grace');
    expect((await send('DELETE', '/users/me?posts=delete', 'grace')).status).to.equal(200);
    expect(rowsOf(kept)).to.have.length(1);
    expect(rowsOf(kept)[0]).to.deep.include({ authorId: null });
    expect(rowsOf(deleted)).to.deep.equal([]);
    // The token is still valid, but its user is gone.
    expect((await comment(kept, 'grace')).status).to.equal(422);
  });
});
