import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Folder } from './support/folder.ts';
import { unavailable, user } from './support/records.ts';

describe('a sqlite3 shell that holds the lock of a write', () => {
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

  it('is waited for without holding up the event loop', async () => {
    const path = folder.file();
    const store = folder.open(path);
    await whileLocked(path, async (unlock) => {
      const writes = Promise.all(['1', '2'].map((id) => store.users.create(user(id))));
      let [longest, turns] = [0, 0];
      for (let start = performance.now(), last = start; last - start < 300; ) {
        await sleep(1);
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        turns += 1;
        await store.users.get('1');
      }
      expect(longest, 'the longest turn in ms').to.be.lessThan(150);
      expect(turns, 'turns in 300 ms').to.be.greaterThan(30);
      unlock();
      await writes;
    });
    expect(await store.users.get('2')).not.to.equal(undefined);
  });

  it('is waited for no longer than the limit, while reads go on', async () => {
    const path = folder.file();
    const store = folder.open(path, { writes: { busyMs: 100 } });
    await whileLocked(path, async () => {
      const start = performance.now();
      const { details } = await unavailable(store.users.create(user('1')));
      expect(details.outcome).to.equal('none');
      expect(performance.now() - start, 'ms').to.be.within(95, 2000);
      await unavailable(store.ready());
      expect(await store.users.get('1')).to.equal(undefined);
    });
    await store.ready();
    await store.users.create(user('1'));
  });

  it('is waited for by close too, and close ends in time', async () => {
    const path = folder.file();
    const store = folder.open(path, { writes: { busyMs: 100 } });
    await whileLocked(path, async () => {
      const write = unavailable(store.users.create(user('1')));
      await store.close();
      await write;
    });
  });
});
