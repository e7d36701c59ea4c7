import { expect } from 'chai';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { copyRecords } from '../../../src/cli/transfer/copy-records.ts';
import type { Progress } from '../../../src/cli/transfer/progress.ts';
import { storeSource } from '../../../src/cli/transfer/source.ts';
import type { Store } from '../../../src/ports/store.ts';
import { contentOf, fill, post, records, user } from './records.ts';
import { refusalOf } from './refusals.ts';

const quiet: Progress = { begin() {}, advance() {}, end() {}, stop() {} };
const given = records(60);

interface Options {
  readonly overwrite?: boolean;
  readonly signal?: AbortSignal;
}

function copy(from: Store, to: Store, options: Options = {}) {
  const { overwrite = false, signal = new AbortController().signal } = options;
  return copyRecords(storeSource(from, signal), to, { overwrite, progress: quiet, signal });
}

async function stores(content = given): Promise<{ from: Store; to: Store }> {
  const [from, to] = [createMemoryStore(), createMemoryStore()];
  await fill(from, content);
  return { from, to };
}

/** Counts the records that are loaded, and may end the copy after some of them. */
function counting(store: Store, limit = Number.POSITIVE_INFINITY) {
  const abort = new AbortController();
  const counted = { loaded: 0, signal: abort.signal };
  for (const repository of [store.users, store.posts]) {
    const load = repository.load.bind(repository);
    repository.load = async (some: readonly never[]) => {
      await load(some);
      counted.loaded += some.length;
      if (counted.loaded >= limit) abort.abort();
    };
  }
  return counted;
}

describe('copyRecords', () => {
  it('makes the target hold what the source holds, as it is', async () => {
    const { from, to } = await stores();
    const tally = await copy(from, to);
    expect(tally).to.include({ users: 60, posts: 600 });
    expect(await contentOf(to)).to.deep.equal(given);
    expect(await contentOf(from)).to.deep.equal(given);
  });

  it('copies nothing of nothing', async () => {
    const tally = await copy(createMemoryStore(), createMemoryStore());
    expect(tally).to.include({ users: 0, posts: 0 });
  });

  it('writes nothing when it is repeated', async () => {
    const { from, to } = await stores();
    const first = await copy(from, to);
    const counted = counting(to);
    expect(await copy(from, to)).to.deep.equal(first);
    expect(counted.loaded).to.equal(0);
  });

  it('goes on where it was interrupted, wherever that was', async () => {
    for (const limit of [1, 20, 61, 200, 500]) {
      const { from, to } = await stores();
      const { signal } = counting(to, limit);
      const error = await copy(from, to, { signal }).catch((reason: unknown) => reason);
      expect(error).to.equal(signal.reason);
      const before = await contentOf(to);
      const counted = counting(to);
      await copy(from, to);
      expect(counted.loaded).to.equal(660 - before.users.length - before.posts.length);
      expect(await contentOf(to)).to.deep.equal(given);
    }
  });

  it('carries over what changed in the source since', async () => {
    const { from, to } = await stores();
    await copy(from, to);
    await from.users.update(user(4).id, ({ record }) => ({ ...record, name: 'Other' }));
    await from.users.create(user(900));
    await from.posts.update(post(8).id, ({ record }) => ({ ...record, authorId: user(900).id }));
    const counted = counting(to);
    await copy(from, to);
    expect(counted.loaded).to.equal(3);
    expect(await contentOf(to)).to.deep.equal(await contentOf(from));
  });

  it('carries over addresses that went from one user to another', async () => {
    const { from, to } = await stores();
    await copy(from, to);
    const [one, two, three] = [user(1), user(2), user(4)];
    const emails = [three.email, one.email, two.email];
    for (const { id } of [one, two, three]) {
      await from.users.update(id, ({ record }) => ({ ...record, email: null }));
    }
    for (const [n, { id }] of [one, two, three].entries()) {
      await from.users.update(id, ({ record }) => ({ ...record, email: emails[n] ?? null }));
    }
    await copy(from, to);
    expect(await contentOf(to)).to.deep.equal(await contentOf(from));
  });

  for (const kind of ['user', 'post'] as const) {
    it(`refuses a target that has a ${kind} of its own, and changes nothing`, async () => {
      const { from, to } = await stores();
      await to.users.create(user(5));
      const foreign = kind === 'user' ? user(70, { id: 'u0000005x' }) : post(0, { id: '!' });
      await (kind === 'user'
        ? to.users.create(user(70, { id: foreign.id }))
        : to.posts.create(post(0, { id: '!' })));
      const before = await contentOf(to);
      expect(await refusalOf(copy(from, to))).to.match(
        new RegExp(
          `1 record that the source does not have \\(the ${kind} ${foreign.id}\\).*--overwrite`,
        ),
      );
      expect(await contentOf(to)).to.deep.equal(before);
    });
  }

  it('removes what else the target has, when it is told to', async () => {
    const { from, to } = await stores();
    const others = records(1300);
    await fill(to, {
      users: others.users.map(({ record, version }) => ({
        // Some of the ids are the source's, and some of the addresses too.
        record: { ...record, id: record.id.replace('00', 'x') },
        version,
      })),
      posts: others.posts.slice(0, 700).map(({ record, version }) => ({
        record: { ...record, authorId: record.authorId?.replace('00', 'x') ?? null },
        version,
      })),
    });
    expect(await refusalOf(copy(from, to))).to.match(/holds 1400 records/);
    await copy(from, to, { overwrite: true });
    expect(await contentOf(to)).to.deep.equal(given);
  });

  it('does not let an empty source remove everything', async () => {
    const { from, to } = await stores();
    expect(await refusalOf(copy(to, from, { overwrite: true }))).to.match(/holds no record/);
    expect(await contentOf(from)).to.deep.equal(given);
  });

  it('says that the sides differ when somebody writes meanwhile, and the next run carries it over', async () => {
    const { from, to } = await stores();
    const load = to.posts.load.bind(to.posts);
    let written = false;
    to.posts.load = async (some) => {
      await load(some);
      if (written) return;
      written = true;
      // A post that names a user who was not there when users were copied, and one that is behind.
      await from.users.create(user(800));
      await from.posts.create(post(9000, { authorId: user(800).id }));
      await from.posts.delete(post(0).id);
    };
    expect(await refusalOf(copy(from, to))).to.match(
      /The two sides differ \(.*run the same command again/,
    );
    expect(await refusalOf(copy(from, to))).to.match(/does not have \(the post p0000000\)/);
    await copy(from, to, { overwrite: true });
    expect(await contentOf(to)).to.deep.equal(await contentOf(from));
  });

  it('walks records of any size', async () => {
    const body = 'x'.repeat(90_000);
    const large = Array.from({ length: 40 }, (_, n) => ({ record: post(n, { body }), version: 1 }));
    const { from, to } = await stores({ users: [], posts: large });
    const limits: number[] = [];
    const scan = from.posts.scan.bind(from.posts);
    from.posts.scan = (limit, after) => {
      limits.push(limit);
      return scan(limit, after);
    };
    await copy(from, to);
    expect((await contentOf(to)).posts).to.deep.equal(large);
    expect(Math.max(...limits.slice(1))).to.be.at.most(20);
  });
});
