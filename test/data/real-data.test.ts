// Data as in real applications: nested, with custom fields.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Body } from '../adapters/http/support/answer.ts';
import { type Api, startApi } from '../adapters/http/support/api.ts';
import { openTemporarySqlite } from '../support/temporary-sqlite.ts';

function readData(file: string): object[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8'));
}

describe('10 users and 100 posts with custom fields', () => {
  let api: Api;
  before(async () => {
    api = await startApi({ store: openTemporarySqlite() });
  });
  after(() => api[Symbol.asyncDispose]());

  it('can be created over HTTP and are read back unchanged', async () => {
    const users = readData('users.json');
    const posts = readData('posts.json') as { userId: number }[];
    expect([users.length, posts.length]).to.deep.equal([10, 100]);
    const made: Body[] = [];
    for (const user of users) made.push(await api.make('/users', user));
    for (const post of posts) {
      const authorId = made[post.userId - 1]?.id;
      const { id } = await api.make('/posts', { ...post, authorId });
      expect((await api.get(`/posts/${id}`)).body).to.deep.include({ ...post, authorId });
    }

    const listed = (await api.get('/users?sort=createdAt')).body.users;
    expect(listed).to.have.deep.members(made);
    for (const [i, { id, createdAt, updatedAt, ...rest }] of made.entries()) {
      expect(createdAt).to.equal(updatedAt);
      expect(rest).to.deep.equal(users[i]);
      const theirs = (await api.get(`/posts?authorId=${id}&count=exact`)).body;
      expect(theirs.total).to.equal(10);
    }
  });
});
