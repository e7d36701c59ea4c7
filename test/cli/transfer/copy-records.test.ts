import { expect } from 'chai';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { systemClock } from '../../../src/adapters/system/index.ts';
import { copyRecords } from '../../../src/cli/transfer/copy-records.ts';
import { utf8Bytes } from '../../../src/domain/records/text.ts';
import type { Store } from '../../../src/ports/store.ts';
import type { RecordTransfer } from '../../../src/ports/transfer.ts';
import { failureOf } from '../failure.ts';
import { contentOf, fill, post, records, transferOf, user } from './records.ts';

const given = records(60);

interface Options {
  readonly overwrite?: boolean;
  readonly signal?: AbortSignal;
}

function copy(from: Store, to: Store, options: Options = {}) {
  const { overwrite = false, signal = new AbortController().signal } = options;
  return copyRecords(from, to, { overwrite, progress: () => {}, signal });
}

async function stores(content = given): Promise<{ from: Store; to: Store }> {
  const [from, to] = [createMemoryStore(), createMemoryStore()];
  await fill(from, content);
  return { from, to };
}

/** Counts what is read and loaded through a store's transfer. `onLoad` runs after each load. */
function watch(store: Store, onLoad?: (loaded: number) => Promise<void> | void) {
  const seen = { loaded: 0, readings: 0, batches: [] as number[] };
  const wrap = <R>(transfer: RecordTransfer<R>) => {
    const [scan, load] = [transfer.scan.bind(transfer), transfer.load.bind(transfer)];
    transfer.scan = async (request) => {
      // Each reading scans users and posts. Scans of one record only check whether there are any.
      if (request.after === undefined && request.limit > 1) seen.readings += 0.5;
      const batch = await scan(request);
      seen.batches.push(batch.reduce((sum, { json }) => sum + utf8Bytes(json), 0));
      return batch;
    };
    transfer.load = async (batch) => {
      await load(batch);
      seen.loaded += batch.length;
      await onLoad?.(seen.loaded);
    };
  };
  const { users, posts } = transferOf(store);
  wrap(users);
  wrap(posts);
  return seen;
}

describe('copyRecords', () => {
  it('copies all records, and reads both sides again to verify', async () => {
    const { from, to } = await stores();
    const [source, target] = [watch(from), watch(to)];
    expect(await copy(from, to)).to.include({ users: 60, posts: 600 });
    expect([source.readings, target.readings]).to.deep.equal([2, 2]);
    expect(await contentOf(to)).to.deep.equal(given);
    expect(await contentOf(from)).to.deep.equal(given);
  });

  it('writes nothing and reads once if both sides are equal', async () => {
    const { from, to } = await stores();
    const first = await copy(from, to);
    const [source, target] = [watch(from), watch(to)];
    expect(await copy(from, to)).to.deep.equal(first);
    expect(target.loaded).to.equal(0);
    expect([source.readings, target.readings]).to.deep.equal([1, 1]);
  });

  it('copies the rest when it is run again, wherever it was interrupted', async () => {
    for (const limit of [1, 61, 200, 500]) {
      const { from, to } = await stores(records(100));
      const abort = new AbortController();
      watch(to, (loaded) => {
        if (loaded >= limit) abort.abort();
      });
      const error = await copy(from, to, abort).catch((reason: unknown) => reason);
      expect(error).to.equal(abort.signal.reason);
      const before = await contentOf(to);
      const { users, posts } = await contentOf(from);
      const again = watch(to);
      await copy(from, to);
      expect(again.loaded).to.equal(1100 - before.users.length - before.posts.length);
      expect(await contentOf(to)).to.deep.equal({ users, posts });
    }
  });

  it('copies later changes of the source', async () => {
    const { from, to } = await stores();
    await copy(from, to);
    await from.users.update(user(4).id, ({ record }) => ({ ...record, name: 'Other' }));
    await from.users.create(user(900));
    await from.posts.update(post(8).id, ({ record }) => ({ ...record, authorId: user(900).id }));
    const target = watch(to);
    await copy(from, to);
    expect(target.loaded).to.equal(3);
    expect(await contentOf(to)).to.deep.equal(await contentOf(from));
  });

  it('copies email addresses that moved from one user to another', async () => {
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

  it('rejects a target with other or newer records, and changes nothing', async () => {
    const name = 'Other';
    const others: [RegExp, (to: Store) => Promise<unknown>, version?: number][] = [
      [
        /records that the source does not have.*, such as the user u0000005x: /,
        (to) => to.users.create(user(70, { id: 'u0000005x' })),
      ],
      [
        /records that the source does not have.*, such as the post !: /,
        (to) => to.posts.create(post(0, { id: '!' })),
      ],
      [
        /in an older version, such as the user u0000002: /,
        (to) => fill(to, { users: [{ record: user(2, { name }), version: 9 }] }),
        10,
      ],
      [
        /in an older version, such as the user u0000002: /,
        (to) =>
          fill(to, {
            users: [{ record: user(2, { updatedAt: '2030-01-01T00:00:00.000Z' }), version: 3 }],
          }),
      ],
    ];
    for (const [sentence, write, version = 3] of others) {
      const { from, to } = await stores();
      await write(to);
      const before = await contentOf(to);
      expect(await failureOf(copy(from, to))).to.match(sentence);
      expect(await contentOf(to)).to.deep.equal(before);
      expect(await transferOf(to).isFilling()).to.equal(false);
      await copy(from, to, { overwrite: true });
      const users = given.users.with(2, { record: user(2), version });
      expect(await contentOf(to)).to.deep.equal({ ...given, users });
      expect(await copy(from, to)).to.include({ users: 60, posts: 600 });
    }
  });

  it('with overwrite, removes other records of the target, whatever addresses and ids they have', async () => {
    const { from, to } = await stores();
    const others = records(1300);
    await fill(to, {
      users: others.users.map(({ record, version }) => ({
        // Some ids and email addresses are also in the source.
        record: { ...record, id: record.id.replace('00', 'x') },
        version,
      })),
      posts: others.posts.slice(0, 700).map(({ record, version }) => ({
        record: { ...record, authorId: record.authorId?.replace('00', 'x') ?? null },
        version,
      })),
    });
    expect(await failureOf(copy(from, to))).to.match(
      /^The target has records that the source does not have/,
    );
    await copy(from, to, { overwrite: true });
    expect(await contentOf(to)).to.deep.equal(given);
  });

  it('does not empty the target if the source is empty', async () => {
    const { from, to } = await stores();
    expect(await failureOf(copy(to, from, { overwrite: true }))).to.match(/has no records/);
    expect(await contentOf(from)).to.deep.equal(given);
    expect(await copy(to, createMemoryStore())).to.include({ users: 0, posts: 0 });
  });

  it('marks the target until both sides are equal', async () => {
    const { from, to } = await stores();
    const abort = new AbortController();
    const marks: boolean[] = [];
    watch(to, async () => {
      marks.push(await transferOf(to).isFilling());
      if (marks.length === 3) abort.abort();
    });
    await copy(from, to, abort).catch(() => {});
    expect(marks).to.deep.equal([true, true, true]);
    expect(await transferOf(to).isFilling()).to.equal(true);
    await copy(from, to);
    expect(await transferOf(to).isFilling()).to.equal(false);
    // A copy that is interrupted after the last record, before the mark is removed.
    await transferOf(to).begin();
    await copy(from, to);
    expect(await transferOf(to).isFilling()).to.equal(false);
  });

  it('copies deleted ids, so that no version is used twice', async () => {
    const { from, to } = await stores();
    await from.posts.delete(post(2).id);
    await from.users.delete(user(59).id, 'keep', systemClock.now());
    // The target has a record that the source has deleted, and has deleted one that the source has.
    await fill(to, { users: given.users, posts: given.posts.slice(0, 4) });
    await to.posts.delete(post(3).id);
    await copy(from, to, { overwrite: true });
    const [post2, user59] = [
      await from.posts.lastVersion(post(2).id),
      await from.users.lastVersion(user(59).id),
    ];
    expect((await to.posts.create(post(2))).version).to.equal((post2 ?? 0) + 1);
    expect((await to.users.create(user(59))).version).to.equal((user59 ?? 0) + 1);
    expect((await to.posts.get(post(3).id))?.version).to.equal(2);
    await to.posts.delete(post(2).id);
    await to.users.delete(user(59).id, 'keep', systemClock.now());
    expect(await copy(from, to)).to.include({ users: 59, posts: 599 });
  });

  it('says that the sides differ if another process wrote during the copy', async () => {
    const { from, to } = await stores();
    let isWritten = false;
    watch(to, async (loaded) => {
      if (isWritten || loaded <= 60) return;
      isWritten = true;
      // A post whose author was created after users were copied, and a deletion.
      await from.users.create(user(800));
      await from.posts.create(post(9000, { authorId: user(800).id }));
      await from.posts.delete(post(0).id);
    });
    expect(await failureOf(copy(from, to))).to.match(
      /The two sides differ in the user .*run the same command again/,
    );
    expect(await failureOf(copy(from, to))).to.match(
      /that the source does not have.*, such as the post p0000000: /,
    );
    await copy(from, to, { overwrite: true });
    expect(await contentOf(to)).to.deep.equal(await contentOf(from));
  });

  it('limits batches by their size in bytes', async () => {
    const body = 'x'.repeat(90_000);
    const large = Array.from({ length: 40 }, (_, n) => ({ record: post(n, { body }), version: 1 }));
    const { from, to } = await stores({ users: [], posts: large });
    const source = watch(from);
    await copy(from, to);
    expect((await contentOf(to)).posts).to.deep.equal(large);
    expect(Math.max(...source.batches)).to.be.within(900_000, 1024 * 1024);
  });

  it('rejects a store without transfer', async () => {
    const { from, to } = await stores();
    const served = { ...to, transfer: undefined } as unknown as Store;
    expect(await failureOf(copy(from, served))).to.match(/does not support copy/);
    expect(await failureOf(copy(served, to))).to.match(/does not support copy/);
  });
});
