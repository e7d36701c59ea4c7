import {
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { backupSqlite, restoreSqlite } from '../../../src/adapters/sqlite/index.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { errorOf } from '../../support/error-of.ts';
import { rostrum, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { expectSound, Folder, look } from './support/folder.ts';
import { post, user } from './support/records.ts';

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `${from + i}`);
const order = { field: 'createdAt', direction: 'asc' } as const;
const page = { order, limit: 1000, bytes: 2 ** 24 };
/** Matches all posts. The worker reads it, on its own connection. */
const everything = {
  ...page,
  conditions: [{ field: 'updatedAt', op: 'from', value: '' }],
} as const;

/** Overwrites the beginning of each page except the first. */
function flipBits(path: string): void {
  const file = openSync(path, 'r+');
  for (let at = 4096; at < statSync(path).size; at += 4096) {
    writeSync(file, Buffer.alloc(64, 255), 0, 64, at);
  }
  closeSync(file);
}

describe('a data file that was', function () {
  this.timeout(30_000);
  const folder = new Folder();
  let path: string;
  let backup: string;
  let lines: string[];
  let store: ReturnType<Folder['open']>;

  function open(): typeof store {
    const error = (_: object, message: string) => lines.push(message);
    return folder.open(path, { logger: { info() {}, warn() {}, error } });
  }

  /** A store with 300 posts, of which the backup has the first 100 and the WAL has the last 100. */
  beforeEach(async () => {
    [path, backup] = [folder.file(), folder.file()];
    lines = [];
    store = open();
    const body = 'x'.repeat(2000);
    const create = (id: string) => store.posts.create(post(id, { body }));
    await Promise.all(numbers(0, 100).map(create));
    await backupSqlite({ path, to: backup });
    await Promise.all(numbers(100, 200).map(create));
    await store.close();
    store = open();
    await Promise.all(numbers(200, 300).map(create));
    // File times have the resolution of the kernel's tick, which can be some milliseconds.
    await setTimeout(20);
  });

  afterEach(() => store.close());

  /** Returns the error message of a call, or undefined if it succeeded. */
  async function said(call: Promise<unknown>): Promise<string | undefined> {
    const error = await errorOf(call);
    if (error === undefined) return undefined;
    expect(isRostrumError(error, 'store-unavailable') && error.details.outcome).to.equal('none');
    return ((error as Error).cause as Error).message.replaceAll(path, 'FILE');
  }

  /** Returns the last line of a command's output. */
  async function command(...args: string[]): Promise<string> {
    const { output } = await rostrum(...args, '--store', `sqlite:${path}`);
    const last = output.trim().split('\n').at(-1)?.replaceAll(path, 'FILE') ?? '';
    return last.replace(/^--store is "sqlite:FILE": /, '');
  }

  /** A store looks at its file once a second. */
  const untilLookedAt = () => setTimeout(1100);

  const moved =
    'The data file FILE was moved, replaced or deleted while it was open: put it back, or restart the server.';
  const damaged = 'The data file FILE is damaged: restore a backup (rostrum restore).';
  const overwritten =
    'The data file FILE was overwritten with another one while it was open: restart the server to serve that one, or restore a backup (rostrum restore).';
  const mixed =
    'The data file FILE and its write-ahead log FILE-wal do not belong together. If the file is a backup that you put there, remove FILE-wal and FILE-shm; otherwise go back to a backup (rostrum restore).';

  /** Checks the messages of the store, its log, `rostrum backup` and the next start. */
  async function expectSaid(now: string, copied: RegExp | string, next: RegExp | string) {
    await errorOf(store.posts.list(everything)); // A read detects damage.
    expect(await said(store.users.create(user('after'))), 'a change').to.equal(now);
    expect(await said(store.ready()), 'ready').to.equal(now);
    expect(await said(store.ready()), 'ready again').to.equal(now);
    expect(lines.map((line) => line.replaceAll(path, 'FILE'))).to.deep.equal([now]);
    const match = (text: string, wanted: RegExp | string) =>
      typeof wanted === 'string' ? expect(text).to.equal(wanted) : expect(text).to.match(wanted);
    match(await command('backup', folder.file()), copied);
    await store.close();
    match(await command('export', `${folder.file()}.jsonl`), next);
  }

  const backedUp = /^Backed up /;

  it('removed is reported at once, and as missing at the next start', async () => {
    rmSync(path);
    await expectSaid(moved, 'There is no file FILE.', 'there is no such file.');
  });

  it('moved away and back works again', async () => {
    renameSync(path, `${path}.moved`);
    expect(await said(store.ready())).to.equal(moved);
    expect((await store.posts.get('250'))?.version).to.equal(1);
    renameSync(`${path}.moved`, path);
    await store.ready();
    await store.posts.create(post('back'));
    expect(lines.length).to.equal(1);
  });

  it('moved away has every acknowledged change in its new place', async () => {
    renameSync(path, `${path}.moved`);
    await store.close();
    path += '.moved';
    expect(await postsIn()).to.equal(300);
  });

  it('moved away while its changes are only in the WAL leaves no WAL behind', async () => {
    const young = folder.file();
    const opened = folder.open(young);
    await opened.users.create(user('1'));
    renameSync(young, `${young}.moved`);
    await opened.close();
    const again = folder.open(young);
    expect(await again.users.get('1')).to.equal(undefined);
    expect(await folder.open(`${young}.moved`).users.get('1')).not.to.equal(undefined);
  });

  it('moved and copied back has every acknowledged change at the next start', async () => {
    renameSync(path, `${path}.moved`);
    copyFileSync(`${path}.moved`, path);
    await expectSaid(moved, backedUp, /^ +to /);
    expect(await postsIn()).to.equal(300);
  });

  it('replaced with a backup is served unchanged at the next start', async () => {
    const content = readFileSync(backup);
    renameSync(backup, path);
    await expectSaid(moved, mixed, /^ +to /);
    expect(readFileSync(path).equals(content)).to.equal(true);
    expect(await postsIn()).to.equal(100);
  });

  it('overwritten with a backup is served unchanged at the next start', async () => {
    copyFileSync(backup, path);
    await expectSaid(overwritten, mixed, /^ +to /);
    expect(readFileSync(path).equals(readFileSync(backup))).to.equal(true);
    expect(await postsIn()).to.equal(100);
  });

  it('overwritten with the backup of another store is reported', async () => {
    const other = folder.file();
    const otherStore = folder.open(other);
    await Promise.all(numbers(0, 500).map((id) => otherStore.posts.create(post(id))));
    await backupSqlite({ path: other, to: backup });
    copyFileSync(backup, path);
    await untilLookedAt();
    expect(await said(store.users.create(user('after')))).to.equal(overwritten);
  });

  it('overwritten with the database of another program is reported, and stays as it is', async () => {
    path = folder.file();
    await open().close();
    store = open();
    // From now on, SQLite finds all pages that it needs in the WAL.
    await Promise.all(numbers(0, 10).map((id) => store.users.create(user(id))));
    const other = folder.file();
    look(other, (database) => database.exec('CREATE TABLE notes (text TEXT)'));
    copyFileSync(other, path);
    await untilLookedAt();
    expect(await said(store.users.create(user('after')))).to.equal(damaged);
    expect(await said(store.ready())).to.equal(damaged);
    await store.close();
    expect(readFileSync(path).equals(readFileSync(other))).to.equal(true);
  });

  it('overwritten with a backup from before a checkpoint is reported', async () => {
    await backupSqlite({ path, to: backup });
    await store.posts.create(post('later'));
    look(path, (database) => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
    await untilLookedAt();
    await store.ready();
    copyFileSync(backup, path);
    await untilLookedAt();
    expect(await said(store.ready())).to.equal(overwritten);
  });

  for (const [where, replace] of [
    ['replaced', renameSync],
    ['overwritten', copyFileSync],
  ] as const) {
    it(`${where} with a backup that lacks few changes is rejected after a crash`, async () => {
      await store.close();
      await using server = await startServer('--store', `sqlite:${path}`);
      const create = () =>
        fetch(`${server.address}/api/v1/posts`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: '{"title":"x"}',
        });
      await create();
      await backupSqlite({ path, to: backup });
      await create();
      look(path, (database) => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
      await untilLookedAt();
      await create();
      // Another process declares a field, which says nothing about the file itself.
      await command('field', 'add', 'posts.slug:text');
      await server.stop('SIGKILL');
      replace(backup, path);
      expect(await command('export', `${folder.file()}.jsonl`)).to.equal(mixed);
      expect(await command('backup', folder.file())).to.equal(mixed);
      for (const end of ['-wal', '-shm']) rmSync(path + end);
      expect(await postsIn()).to.equal(301);
    });
  }

  it('truncated is reported as damaged', async () => {
    truncateSync(path, 4096 * 5);
    await expectSaid(damaged, damaged, damaged);
  });

  it('emptied keeps its WAL when a list is read', async () => {
    truncateSync(path);
    expect(await said(store.posts.list(everything))).to.equal(damaged);
    expect(statSync(`${path}-wal`).size).to.be.above(0);
  });

  it('corrupted is reported as damaged', async () => {
    flipBits(path);
    await expectSaid(damaged, damaged, damaged);
  });

  it('moved without its WAL after a crash is rejected, and restored beside the WAL', async () => {
    const crashed = folder.file();
    copyFileSync(`${path}-wal`, `${crashed}-wal`);
    path = crashed;
    expect(await command('export', `${folder.file()}.jsonl`)).to.equal('there is no such file.');
    expect(open).to.throw('is missing or empty, but its write-ahead log');
    expect(statSync(`${crashed}-wal`).size).to.be.above(0);
    expect(await restoreSqlite({ path, from: backup })).to.equal(true);
    expect(await postsIn()).to.equal(100);
  });

  it('replaced with a backup after a crash is rejected unchanged at the next start', async () => {
    const crashed = folder.file();
    copyFileSync(`${path}-wal`, `${crashed}-wal`);
    await setTimeout(20);
    copyFileSync(backup, crashed);
    path = crashed;
    expect(await command('export', `${folder.file()}.jsonl`)).to.equal(mixed);
    expect(readFileSync(crashed).equals(readFileSync(backup))).to.equal(true);
    rmSync(`${crashed}-wal`);
    expect(await postsIn()).to.equal(100);
  });

  it('replaced with a backup after a crash is rejected if the WAL has only a declaration', async () => {
    await store.close();
    const opened = folder.open(path, { declaredFields: { posts: { slug: 'text' } } });
    const crashed = folder.file();
    copyFileSync(`${path}-wal`, `${crashed}-wal`);
    await opened.close();
    copyFileSync(backup, crashed);
    path = crashed;
    expect(await command('export', `${folder.file()}.jsonl`)).to.equal(mixed);
    expect(readFileSync(crashed).equals(readFileSync(backup))).to.equal(true);
  });

  /** Returns how many posts the next start finds. */
  async function postsIn(): Promise<number> {
    const file = `${folder.file()}.jsonl`;
    await command('export', file);
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"title"')).length;
  }

  for (const [accident, happen, now] of [
    ['corrupted', flipBits, damaged],
    ['overwritten', (file: string) => copyFileSync(backup, file), overwritten],
  ] as const) {
    it(`${accident} can be restored while the store is open`, async () => {
      happen(path);
      await errorOf(store.posts.list(everything));
      expect(await said(store.ready())).to.equal(now);
      expect(await restoreSqlite({ path, from: backup })).to.equal(false);
      await store.ready();
      await store.posts.create(post('healed'));
      expect((await store.posts.list(everything)).items.length).to.equal(101);
      await store.close();
      expectSound(path);
    });
  }

  it('checkpointed by other programs is not reported by two stores', async () => {
    const other = open();
    for (let round = 0; round < 30; round++) {
      await Promise.all([store, other].map((one, n) => one.posts.create(post(`${round} ${n}`))));
      const mode = ['PASSIVE', 'FULL', 'RESTART', 'TRUNCATE'][round % 4];
      if (round % 3 > 0) look(path, (database) => database.exec(`PRAGMA wal_checkpoint(${mode})`));
      await Promise.all([store.ready(), other.ready()]);
    }
    expect(lines).to.deep.equal([]);
  });

  it('restored while the store is open can be opened after a crash', async () => {
    await restoreSqlite({ path, from: backup });
    await store.posts.create(post('after'));
    const crashed = folder.file();
    for (const end of ['', '-wal']) copyFileSync(path + end, crashed + end);
    path = crashed;
    expect(await postsIn()).to.equal(101);
  });

  it('overwritten keeps its log while another store has it open', async () => {
    const other = open();
    await other.posts.create(post('other'));
    copyFileSync(backup, path);
    await untilLookedAt();
    expect(await said(store.ready())).to.equal(overwritten);
    await store.close();
    expect(statSync(`${path}-wal`).size).to.be.above(0);
    expect(await said(other.ready())).to.equal(overwritten);
    await other.close();
    expect(readFileSync(path).equals(readFileSync(backup))).to.equal(true);
  });

  it('restored while another program reads it has the backup once that has ended', async () => {
    const reader = new DatabaseSync(path);
    reader.exec('BEGIN; SELECT 1 FROM posts');
    await store.posts.create(post('later'));
    let isRestored = false;
    const restoring = restoreSqlite({ path, from: backup }).then(() => {
      isRestored = true;
    });
    await setTimeout(500);
    expect(isRestored).to.equal(false);
    reader.close();
    await restoring;
    await store.ready();
    await store.close();
    expect(await postsIn()).to.equal(100);
  });

  it('removed makes changes and /readyz of a server return 503 within a second; reads continue', async () => {
    await store.close();
    await using server = await startServer('--store', `sqlite:${path}`);
    let log = '';
    server.process.stderr.on('data', (text: string) => {
      log += text;
    });
    const statusOf = async (request: string, init: RequestInit = {}) =>
      (await fetch(server.address + request, init)).status;
    const change = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"title":"x"}',
    };
    expect(await statusOf('/api/v1/posts', change)).to.equal(201);
    rmSync(path);
    await until(async () => (await statusOf('/api/v1/posts', change)) === 503, '503', 1000);
    expect(await statusOf('/readyz')).to.equal(503);
    expect(await statusOf('/api/v1/posts/250')).to.equal(200);
    await server.stop();
    const told = log.split('\n').filter((line) => line.includes(path));
    expect(told.length, log).to.equal(1);
    expect(JSON.parse(told[0] ?? '')).to.include({
      level: 'error',
      msg: moved.replace('FILE', path),
    });
  });
});
