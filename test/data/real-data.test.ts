// Data as applications have it: nested, with fields that Rostrum knows nothing of.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Server, startServer } from '../support/server.ts';

type Fields = Readonly<Record<string, unknown>>;

function readData(file: string): Fields[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8'));
}

describe('10 users and 100 posts with fields of their own', () => {
  let folder: string;
  let server: Server;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rostrum-data-'));
    server = await startServer('--store', `sqlite:${join(folder, 'rostrum.db')}`);
  });

  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function send(path: string, body?: Fields): Promise<{ status: number; body: Fields }> {
    const response = await fetch(`${server.address}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Fields };
  }

  it('are loaded over HTTP and read back unchanged', async () => {
    const users = readData('users.json');
    const posts = readData('posts.json');
    expect([users.length, posts.length]).to.deep.equal([10, 100]);
    const ids: unknown[] = [];
    for (const user of users) ids.push((await send('/users', user)).body.id);
    for (const post of posts) {
      const authorId = ids[Number(post.userId) - 1];
      const made = await send('/posts', { ...post, authorId });
      expect(made.status).to.equal(201);
      expect((await send(`/posts/${made.body.id}`)).body).to.deep.include({ ...post, authorId });
    }

    const listed = (await send('/users?sort=createdAt')).body.users as Fields[];
    expect(listed.map(({ id }) => id)).to.have.members(ids);
    for (const [i, user] of users.entries()) {
      const { id, createdAt, updatedAt, ...rest } = (await send(`/users/${ids[i]}`)).body;
      expect([id, createdAt]).to.deep.equal([ids[i], updatedAt]);
      expect(rest).to.deep.equal(user);
      const theirs = (await send(`/posts?authorId=${id}&count=exact`)).body;
      expect(theirs.total).to.equal(10);
    }
  });
});
