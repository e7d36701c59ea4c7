import { expect } from 'chai';
import { seedRecords } from '../../src/cli/seed.ts';
import type { Store } from '../../src/ports/store.ts';
import { openTemporarySqlite } from '../support/temporary-sqlite.ts';
import { refusalOf } from './refusal.ts';
import { contentOf } from './transfer/records.ts';

const options = {
  signal: new AbortController().signal,
  progress: { begin() {}, advance() {}, end() {}, stop() {} },
};

/** What a store holds, less what differs between two runs. */
async function fieldsOf(store: Store) {
  const { users, posts } = await contentOf(store);
  const names = new Map(users.map(({ record }) => [record.id, record.name]));
  return {
    users: users.map(({ record: { name, email } }) => `${name} ${email}`).sort(),
    posts: posts
      .map(({ record: { title, body, authorId } }) => [title, body, names.get(authorId ?? '')])
      .sort(),
  };
}

describe('rostrum seed', () => {
  it('makes the same data for the same seed, and other data for another', async () => {
    const made = [];
    for (const seed of [7, 7, 8]) {
      await using store = openTemporarySqlite();
      await seedRecords(store, { ...options, users: 20, posts: 1100, seed });
      made.push(await fieldsOf(store));
    }
    const [first, second, third] = made;
    expect([first?.users.length, first?.posts.length]).to.deep.equal([20, 1100]);
    expect(first).to.deep.equal(second);
    expect(first?.posts).not.to.deep.equal(third?.posts);
    expect(new Set(first?.posts.map(([, , author]) => author)).size).to.be.within(10, 20);
  });

  it('spreads times, with every post after its author', async () => {
    await using store = openTemporarySqlite();
    await seedRecords(store, { ...options, users: 5, posts: 50, seed: 1 });
    const { users, posts } = await contentOf(store);
    const times = [...users, ...posts].map(({ record }) => record.createdAt).sort();
    expect(new Set(times).size).to.equal(55);
    expect(users.every(({ record }) => times.indexOf(record.createdAt) < 5)).to.equal(true);
    expect(times.at(-1)).to.satisfy((last: string) => last < new Date().toISOString());
  });

  it('can be run again, but not with the same seed', async () => {
    await using store = openTemporarySqlite();
    for (const seed of [1, 2]) await seedRecords(store, { ...options, users: 3, posts: 0, seed });
    const again = seedRecords(store, { ...options, users: 5, posts: 9, seed: 2 });
    expect(await refusalOf(again)).to.match(/^The store has users of the seed 2: choose another/);
    expect((await fieldsOf(store)).users).to.have.lengthOf(6);
    await seedRecords(store, { ...options, users: 0, posts: 4, seed: 2 });
    expect((await fieldsOf(store)).posts.map(([, , author]) => author)).to.deep.equal([
      ...Array.from({ length: 4 }),
    ]);
  });

  it('knows what it added until a signal', async () => {
    await using store = openTemporarySqlite();
    const abort = new AbortController();
    const added = { users: 0, posts: 0 };
    const progress = { ...options.progress, advance: () => added.posts > 0 && abort.abort() };
    const run = { signal: abort.signal, progress, added };
    await seedRecords(store, { ...run, users: 3, posts: 2000, seed: 1 }).catch(() => {});
    const { users, posts } = await contentOf(store);
    expect(added).to.deep.equal({ users: users.length, posts: posts.length });
    expect(added.posts).to.be.within(1, 1999);
  });

  it('names the field that a schema of the deployment asks for', async () => {
    await using store = openTemporarySqlite();
    const validate = () => ({ issues: [{ message: 'Is missing.', path: ['born'] }] });
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const;
    for (const customFields of [{ users: schema }, { posts: schema }]) {
      const seeding = seedRecords(store, { ...options, users: 1, posts: 1, seed: 1, customFields });
      expect(await refusalOf(seeding)).to.match(
        /^Seed makes no records that fit the schema of custom fields, which says of \/born: /,
      );
      expect(await fieldsOf(store)).to.deep.equal({ users: [], posts: [] });
    }
  });
});
