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
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { backupSqlite, restoreSqlite } from '../../../src/adapters/sqlite/index.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';
import { errorOf } from '../../support/error-of.ts';
import { rostrum, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { expectSound, Folder } from './support/folder.ts';
import { post, user } from './support/records.ts';

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `${from + i}`);
const order = { field: 'createdAt', direction: 'asc' } as const;
const page = { order, limit: 1000, bytes: 2 ** 24 };
/** Matches all posts, and is read by the worker, on a connection of its own. */
const everything = {
  ...page,
  conditions: [{ field: 'updatedAt', op: 'from', value: '' }],
} as const;

/** Overwrites the beginning of each page but the first. */
function flipBits(path: string): void {
  const file = openSync(path, 'r+');
  for (let at = 4096; at < statSync(path).size; at += 4096) {
    writeSync(file, Buffer.alloc(64, 255), 0, 64, at);
  }
  closeSync(file);
}

describe('accidents of a data file', function () {
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

  /** A store with 300 posts: a backup has the first 100, and the log has the last 100. */
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
    // A file system's times are those of the last tick of a clock, which can be some milliseconds ago.
    await setTimeout(20);
  });

  afterEach(() => store.close());

  /** What a call says of the data file; undefined when it was fulfilled. */
  async function said(call: Promise<unknown>): Promise<string | undefined> {
    const error = await errorOf(call);
    if (error === undefined) return undefined;
    expect(isRostrumError(error, 'store-unavailable') && error.details.outcome).to.equal('none');
    return ((error as Error).cause as Error).message.replaceAll(path, 'FILE');
  }

  /** What a command says of the data file at its end. */
  async function command(...args: string[]): Promise<string> {
    const { output } = await rostrum(...args, '--store', `sqlite:${path}`);
    const last = output.trim().split('\n').at(-1)?.replaceAll(path, 'FILE') ?? '';
    return last.replace(/^--store is "sqlite:FILE": /, '');
  }

  const moved =
    'The data file FILE was moved, replaced or deleted while it was open: put it back, or restart the server.';
  const damaged = 'The data file FILE is damaged: restore a backup (rostrum restore).';
  const mixed =
    'The data file FILE and its log FILE-wal do not fit together. If the file is a backup that was put there, remove FILE-wal and FILE-shm; otherwise go back to a backup (rostrum restore).';

  /** Checks what the store, its log, `rostrum backup` and the next start say. */
  async function expectSaid(now: string, copied: RegExp | string, next: RegExp | string) {
    await errorOf(store.posts.list(everything)); // Damage is found by a read.
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

  it('removed: the next start begins with an empty file', async () => {
    rmSync(path);
    await expectSaid(moved, 'There is no file FILE.', 'there is no such file.');
  });

  it('moved away and back: the store goes on', async () => {
    renameSync(path, `${path}.moved`);
    expect(await said(store.ready())).to.equal(moved);
    expect((await store.posts.get('250'))?.version).to.equal(1);
    renameSync(`${path}.moved`, path);
    await store.ready();
    await store.posts.create(post('back'));
    expect(lines.length).to.equal(1);
  });

  it('moved away: the file has every acknowledged change at its new place', async () => {
    renameSync(path, `${path}.moved`);
    expect(await said(store.ready())).to.equal(moved);
    await new Promise(setImmediate);
    path += '.moved';
    expect(await postsIn()).to.equal(300);
  });

  it('moved and copied: the copy has every acknowledged change at the next start', async () => {
    renameSync(path, `${path}.moved`);
    copyFileSync(`${path}.moved`, path);
    await expectSaid(moved, backedUp, /^ +to /);
    expect(await postsIn()).to.equal(300);
  });

  it('replaced by a backup: the next start says that the log does not fit', async () => {
    renameSync(backup, path);
    await expectSaid(moved, backedUp, mixed);
    for (const end of ['-wal', '-shm']) rmSync(path + end);
    expect(await postsIn()).to.equal(100);
  });

  it('overwritten by a backup', async () => {
    copyFileSync(backup, path);
    await expectSaid(damaged, damaged, mixed);
  });

  it('truncated', async () => {
    truncateSync(path, 4096 * 5);
    await expectSaid(damaged, damaged, mixed);
  });

  it('flipped bits', async () => {
    flipBits(path);
    await expectSaid(damaged, damaged, damaged);
  });

  it('killed, and a backup copied beside the log: the next start changes nothing', async () => {
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

  /** How many posts the next start finds. */
  async function postsIn(): Promise<number> {
    const file = `${folder.file()}.jsonl`;
    await command('export', file);
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"title"')).length;
  }

  for (const [accident, happen] of [
    ['flipped bits', flipBits],
    ['overwritten', (file: string) => copyFileSync(backup, file)],
  ] as const) {
    it(`${accident}: a restore heals the file, and the store is ready again`, async () => {
      happen(path);
      await errorOf(store.posts.list(everything));
      expect(await said(store.ready())).to.equal(damaged);
      expect(await restoreSqlite({ path, from: backup })).to.equal(false);
      await store.ready();
      await store.posts.create(post('healed'));
      expect((await store.posts.list(everything)).items.length).to.equal(101);
      await store.close();
      expectSound(path);
    });
  }

  it('a server says so: changes and /readyz are 503 within a second, reads go on', async () => {
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
