import { expect } from 'chai';
import { seedRecords } from '../../src/cli/seed.ts';
import { openTemporarySqlite } from '../support/temporary-sqlite.ts';
import { failureOf } from './failure.ts';
import { contentOf } from './transfer/records.ts';

const options = {
  signal: new AbortController().signal,
  progress() {},
  added: { users: 0, posts: 0 },
};

describe('rostrum seed', () => {
  it('adds users and their posts, spread over the past, as often as it is run', async () => {
    await using store = openTemporarySqlite();
    await seedRecords(store, { users: 20, posts: 1100 }, options);
    const { users, posts } = await contentOf(store);
    expect([users.length, posts.length]).to.deep.equal([20, 1100]);
    expect(new Set(posts.map(({ record }) => record.authorId)).size).to.equal(20);
    const times = [...users, ...posts].map(({ record }) => record.createdAt).sort();
    expect(new Set(times).size).to.equal(1120);
    expect(users.every(({ record }) => times.indexOf(record.createdAt) < 20)).to.equal(true);
    expect(times.at(-1)).to.satisfy((last: string) => last < new Date().toISOString());
    await seedRecords(store, { users: 3, posts: 0 }, options);
    await seedRecords(store, { users: 0, posts: 4 }, options);
    const all = await contentOf(store);
    expect([all.users.length, all.posts.length]).to.deep.equal([23, 1104]);
    expect(all.posts.filter(({ record }) => record.authorId === null)).to.have.lengthOf(4);
  });

  it('names the custom field that a schema requires', async () => {
    await using store = openTemporarySqlite();
    const validate = () => ({ issues: [{ message: 'Is missing.', path: ['born'] }] });
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const;
    for (const customFields of [{ users: schema }, { posts: schema }]) {
      const seeding = seedRecords(store, { users: 1, posts: 1 }, { ...options, customFields });
      expect(await failureOf(seeding)).to.match(
        /^rostrum seed sets no custom fields, but the schema rejects \/born: Is missing/,
      );
      expect(await contentOf(store)).to.deep.equal({ users: [], posts: [] });
    }
  });
});
