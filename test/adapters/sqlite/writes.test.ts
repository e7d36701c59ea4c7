import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { watched } from './support/faults.ts';
import { Folder, look } from './support/folder.ts';
import { post, unavailable, user } from './support/records.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);

/** Returns 'made' or the code or name of the error for each call. */
async function endsOf(calls: readonly Promise<unknown>[]): Promise<string[]> {
  return (await Promise.allSettled(calls)).map((result) =>
    result.status === 'fulfilled' ? 'made' : (result.reason.code ?? result.reason.name),
  );
}

describe('write groups of the SQLite store', () => {
  const folder = new Folder();

  /** Opens a store and counts the writes in each of its transactions. */
  function openCounting(limits = {}) {
    const groups: number[] = [];
    const driver = watched((sql) => {
      if (sql === 'BEGIN IMMEDIATE') groups.push(0);
      if (/^(INSERT INTO|UPDATE|DELETE FROM) (users|posts)\b/.test(sql)) {
        groups.push((groups.pop() ?? 0) + 1);
      }
    });
    const store = folder.open(folder.file(), { writes: limits }, driver);
    groups.length = 0;
    return { store, groups };
  }

  it('check a record as it was when the call was made', async () => {
    const declaredFields = { users: { tags: 'text[]' } } as const;
    const { users } = folder.open(folder.file(), { declaredFields });
    const tags: (string | number)[] = ['a'];
    const created = users.create({ ...user('1'), tags });
    tags[0] = 1;
    expect((await created).record).to.have.deep.property('tags', ['a']);
  });

  it('combine concurrent writes in one commit, and complete them in order', async () => {
    const { store, groups } = openCounting();
    const ended: string[] = [];
    await Promise.all(
      numbers(50).map(async (id) => {
        await store.users.create(user(id));
        ended.push(id);
      }),
    );
    // A group ends after 3 ms, so a busy machine needs several.
    expect(groups.length, 'commits').to.be.below(50);
    expect(ended).to.deep.equal(numbers(50));
  });

  it('are not affected by a rejected write', async () => {
    const { store, groups } = openCounting();
    await store.users.create(user('taken', { email: 'a@b' }));
    const ends = await endsOf([
      store.users.create(user('1')),
      store.users.create(user('2', { email: 'A@B' })),
      store.users.update('taken', () => {
        throw new RangeError('decided so');
      }),
      store.posts.create(post('p', { authorId: 'nobody' })),
      store.users.create(user('3')),
    ]);
    expect(
      groups.reduce((sum, count) => sum + count),
      'statements',
    ).to.equal(5);
    expect(ends).to.deep.equal(['made', 'email-taken', 'RangeError', 'invalid-record', 'made']);
    expect(await store.users.get('2')).to.equal(undefined);
    expect(await store.users.get('3')).not.to.equal(undefined);
  });

  it('have a bounded size, and let the event loop run between them', async () => {
    const { store, groups } = openCounting();
    const writes = Promise.all(numbers(1200).map((id) => store.users.create(user(id))));
    await new Promise((resolve) => setImmediate(resolve));
    expect(groups.length, 'groups').to.be.below(3);
    await writes;
    expect(Math.max(...groups)).to.be.at.most(500);
    expect(groups.reduce((sum, count) => sum + count)).to.equal(1200);
  });

  it('reject writes as overloaded if the queue is full, but not ready()', async () => {
    const { store } = openCounting({ queuedWrites: 3 });
    const calls = numbers(5).map((id) => store.users.create(user(id)));
    const ready = store.ready();
    expect(await endsOf(calls)).to.deep.equal(['made', 'made', 'made', 'overloaded', 'overloaded']);
    await ready;
    expect(await store.users.get('3')).to.equal(undefined);
    await store.users.create(user('3'));
  });

  it('continue if the logger throws', async () => {
    const fail = () => {
      throw new Error('the disk of the log is full');
    };
    const path = folder.file();
    const logger = { info: fail, warn: fail, error: fail };
    const store = folder.open(path, { logger, writes: { busyMs: 50 } });
    const shell = new DatabaseSync(path);
    shell.exec('BEGIN IMMEDIATE');
    await unavailable(store.users.create(user('1')));
    shell.close();
    await store.users.create(user('1'));
  });
});

describe("the operator's own constraints in a data file", () => {
  const folder = new Folder();

  const rules = {
    'a unique index': 'CREATE UNIQUE INDEX one ON posts (title)',
    'a trigger that aborts': `CREATE TRIGGER one BEFORE INSERT ON posts
      WHEN EXISTS (SELECT 1 FROM posts WHERE title = new.title)
      BEGIN SELECT RAISE(ABORT, 'no'); END`,
    'a trigger that rolls back': `CREATE TRIGGER one BEFORE INSERT ON posts
      WHEN EXISTS (SELECT 1 FROM posts WHERE title = new.title)
      BEGIN SELECT RAISE(ROLLBACK, 'no'); END`,
    'a foreign key that is checked at the commit': `CREATE TABLE pages
      (title TEXT REFERENCES titles (title) DEFERRABLE INITIALLY DEFERRED);
      CREATE TABLE titles (title TEXT PRIMARY KEY, n INTEGER); INSERT INTO titles VALUES ('first', 1);
      CREATE TRIGGER one AFTER INSERT ON posts WHEN new.title = 'twice' AND new.id <> 'a'
      BEGIN INSERT INTO pages VALUES (new.title); END`,
  };
  for (const [rule, sql] of Object.entries(rules)) {
    it(`with ${rule} reject only the violating change, as "refused"`, async () => {
      const path = folder.file();
      const store = folder.open(path);
      look(path, (database) => database.exec(sql));
      const calls = ['a', 'b', 'c', 'd'].map((id) =>
        store.posts.create(post(id, { title: id === 'a' || id === 'c' ? 'twice' : id })),
      );
      expect(await endsOf(calls)).to.deep.equal(['made', 'made', 'refused', 'made']);
      const error = await calls[2]?.catch((reason: unknown) => reason);
      expect(isRostrumError(error, 'refused') && error.details.reason).to.equal(
        "A rule of this server's database rejects this change.",
      );
      expect((error as Error).cause).to.have.property('errcode');
      expect(await store.posts.get('c')).to.equal(undefined);
      expect(await store.posts.get('d')).not.to.equal(undefined);
    });
  }

  it('with a foreign key on a user prevent the deletion of the user and the posts', async () => {
    const path = folder.file();
    const store = folder.open(path);
    look(path, (database) =>
      database.exec('CREATE TABLE badges (owner TEXT REFERENCES users (id))'),
    );
    await store.users.create(user('ann'));
    await store.posts.create(post('p', { authorId: 'ann' }));
    look(path, (database) => database.exec("INSERT INTO badges VALUES ('ann')"));
    const at = '2026-06-06T06:06:06.000Z';
    expect(await endsOf([store.users.delete('ann', 'delete', at)])).to.deep.equal(['refused']);
    expect((await store.posts.get('p'))?.record.authorId).to.equal('ann');
    expect(await store.posts.lastVersion('p')).to.equal(1);
  });
});

describe('a lock held by a sqlite3 shell', () => {
  const folder = new Folder();

  async function whileLocked(path: string, run: (unlock: () => void) => Promise<void>) {
    const shell = new DatabaseSync(path);
    try {
      shell.exec('BEGIN IMMEDIATE');
      await run(() => shell.exec('ROLLBACK'));
    } finally {
      shell.close();
    }
  }

  it('makes writes wait without blocking the event loop', async () => {
    const path = folder.file();
    const store = folder.open(path);
    await whileLocked(path, async (unlock) => {
      const writes = Promise.all(['1', '2'].map((id) => store.users.create(user(id))));
      // A write that blocked the event loop while it waits would end in an error here.
      for (let n = 0; n < 30; n++) {
        await sleep(1);
        await store.users.get('1');
      }
      unlock();
      await writes;
    });
    expect(await store.users.get('2')).not.to.equal(undefined);
  });

  it('makes writes and ready() fail after the time limit, but not reads', async () => {
    const path = folder.file();
    const store = folder.open(path, { writes: { busyMs: 100 } });
    await whileLocked(path, async () => {
      await store.ready();
      const start = performance.now();
      const { details } = await unavailable(store.users.create(user('1')));
      expect(details.outcome).to.equal('none');
      expect(performance.now() - start, 'ms').to.be.at.least(95);
      await unavailable(store.ready());
      expect(await store.users.get('1')).to.equal(undefined);
    });
    await store.ready();
    await store.users.create(user('1'));
  });

  it('does not delay close() beyond the time limit', async () => {
    const path = folder.file();
    const store = folder.open(path, { writes: { busyMs: 100 } });
    await whileLocked(path, async () => {
      const write = unavailable(store.users.create(user('1')));
      await store.close();
      await write;
    });
  });
});
