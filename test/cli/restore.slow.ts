import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { backupSqlite, openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import { restoreCommand } from '../../src/cli/backup.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { rostrum, startServer } from '../support/server.ts';
import { failureOf } from './failure.ts';
import { contentOf, fill, records } from './transfer/records.ts';

describe('rostrum restore', function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let path: (name: string) => string;
  const content = records(30);

  /** Backs up a store with these records. */
  beforeEach(async () => {
    folder = await temporaryDirectory();
    path = (name) => join(folder.path, name);
    const store = openSqliteStore({ path: path('first.db') });
    await fill(store, content);
    await backupSqlite({ path: path('first.db'), to: path('backup.db') });
    await store.close();
  });

  afterEach(() => folder[Symbol.asyncDispose]());

  const restore = (name: string) =>
    rostrum('restore', path('backup.db'), '--store', `sqlite:${path(name)}`);

  async function expectContent(name: string): Promise<void> {
    const store = openSqliteStore({ path: path(name) });
    expect(await contentOf(store)).to.deep.equal(content);
    await store.close();
  }

  it('restores under a running server, which then serves the backup and loses no later write', async () => {
    const url = `sqlite:${path('live.db')}`;
    await using server = await startServer('--store', url);
    const posts = `${server.address}/api/v1/posts`;
    const create = async (title: string) => {
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(posts, {
        method: 'POST',
        headers,
        body: JSON.stringify({ title }),
      });
      return { status: response.status, id: ((await response.json()) as { id: string }).id };
    };
    let [isOver, made] = [false, 0];
    const statuses = new Set<number>();
    const writers = Array.from({ length: 4 }, async () => {
      for (; !isOver; made++) statuses.add((await create('meanwhile')).status);
    });
    while (made < 50) await new Promise(setImmediate);
    const { code, stdout, output } = await restore('live.db');
    expect(code, output).to.equal(0);
    expect(stdout).to.match(/^Restored sqlite:.*live\.db from .*backup\.db\n$/);
    isOver = true;
    await Promise.all(writers);
    // A restore of this size takes less time than a write waits for the lock.
    expect([...statuses]).to.deep.equal([201]);
    const { id } = await create('afterwards');
    expect((await fetch(`${posts}/${id}`)).status).to.equal(200);
    expect((await fetch(`${posts}/${content.posts[0]?.record.id}`)).status).to.equal(200);
    expect((await fetch(`${server.address.replace(/\/$/, '')}/readyz`)).status).to.equal(200);
    await server.stop();
    const restored = openSqliteStore({ path: path('live.db') });
    const found = await contentOf(restored);
    expect(found.posts.map(({ record }) => record.id)).to.include.members(
      content.posts.map(({ record }) => record.id),
    );
    expect(found.users).to.deep.equal(content.users);
    await restored.close();
  });

  it('keeps the declared fields of the data file under two running servers', async () => {
    const url = `sqlite:${path('live.db')}`;
    await using one = await startServer('--store', url);
    const fields = ['--field', 'posts.rank:number,posts.slug:text:unique'];
    await using other = await startServer('--store', url, ...fields);
    const post = async ({ address }: { readonly address: string }, values: object) => {
      const response = await fetch(`${address}/api/v1/posts`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ title: 'A', ...values }),
      });
      return response.status;
    };
    const rejected = await restore('live.db');
    expect(rejected.code).to.equal(1);
    expect(rejected.stderr).to.include(
      'The backup does not declare posts.rank:number, posts.slug:text:unique, as the data file does.',
    );

    const backup = ['--store', `sqlite:${path('backup.db')}`];
    await rostrum('field', 'add', 'posts.rank:number', 'posts.slug:text:unique', ...backup);
    const { code, stderr } = await restore('live.db');
    expect([code, stderr]).to.deep.equal([0, '']);
    for (const server of [one, other]) {
      const status = server === one ? 201 : 409;
      expect(await post(server, { rank: 1, slug: 'a' })).to.equal(status);
      expect(await post(server, { rank: 'high' })).to.equal(422);
    }
  });

  it('creates a missing data file that only its owner can read', async () => {
    const { code, output } = await restore('new/data.db');
    expect(code, output).to.equal(0);
    expect((statSync(path('new/data.db')).mode & 0o777).toString(8)).to.equal('600');
    await expectContent('new/data.db');
  });

  it('waits while another process holds the lock', async () => {
    copyFileSync(path('first.db'), path('live.db'));
    const shell = new DatabaseSync(path('live.db'));
    shell.exec('BEGIN IMMEDIATE; DELETE FROM posts');
    setTimeout(() => shell.close(), 1000);
    const { code, output } = await restore('live.db');
    expect(code, output).to.equal(0);
    await expectContent('live.db');
  });

  for (const [what, spoil] of [
    ['truncated', (file: string) => truncateSync(file, 5000)],
    ['shorter than any page', (file: string) => truncateSync(file, 10)],
    ['garbage', (file: string) => writeFileSync(file, 'garbage '.repeat(1000))],
    [
      'of another page size',
      (file: string) => {
        const shell = new DatabaseSync(file);
        shell.exec(
          'PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; PRAGMA journal_mode = WAL',
        );
        shell.close();
      },
    ],
  ] as const) {
    it(`moves aside a data file that is ${what}, and says so`, async () => {
      copyFileSync(path('first.db'), path('live.db'));
      spoil(path('live.db'));
      writeFileSync(path('live.db-wal'), '');
      const before = readFileSync(path('live.db'));
      const { code, stdout, output } = await restore('live.db');
      expect(code, output).to.equal(0);
      expect(stdout).to.match(/\nThe old data file could not be opened.*Restart the servers.*\n$/);
      expect(readFileSync(path('live.db.damaged')).equals(before)).to.equal(true);
      await expectContent('live.db');
    });
  }

  it('rejects backups it cannot restore with one sentence, and leaves the data file alone', async () => {
    const live = path('live.db');
    copyFileSync(path('first.db'), live);
    const [foreign, damaged, text] = [path('foreign.db'), path('damaged.db'), path('text.txt')];
    const shell = new DatabaseSync(foreign);
    shell.exec('CREATE TABLE t (x)');
    shell.close();
    copyFileSync(path('backup.db'), damaged);
    truncateSync(damaged, 4096 * 8);
    writeFileSync(text, 'no database '.repeat(100));
    mkdirSync(path('old'));
    const old = path('old/rostrum.db');
    const made = new DatabaseSync(old);
    made.exec(
      `PRAGMA application_id = ${0x526f7374}; PRAGMA user_version = 1; CREATE TABLE users (id)`,
    );
    made.close();
    const before = readFileSync(live);
    const cases: [RegExp, file: string, url: string][] = [
      [
        /^--store is "memory:": only an SQLite store has a file to restore\.$/,
        path('backup.db'),
        'memory:',
      ],
      [/^\S+old is not a backup, which is an SQLite file\./, path('old'), `sqlite:${live}`],
      [/live\.db is the data file: name a backup\.$/, live, `sqlite:${live}`],
      [/foreign\.db is a database of another program/, foreign, `sqlite:${live}`],
      [/The backup .*damaged\.db is damaged: use another one\.$/, damaged, `sqlite:${live}`],
      [/^\S+text\.txt is not a backup, which is an SQLite file\./, text, `sqlite:${live}`],
      [
        /old.rostrum\.db was made by an earlier version of Rostrum, .* Export it /,
        old,
        `sqlite:${live}`,
      ],
      [/foreign\.db is a database of another program/, path('backup.db'), `sqlite:${foreign}`],
      [
        /old.rostrum\.db was made by an earlier version of Rostrum, .* Export it /,
        path('backup.db'),
        `sqlite:${old}`,
      ],
    ];
    for (const [sentence, file, url] of cases) {
      const said = await failureOf(restoreCommand(file, { setting: '--store', url }));
      expect(said).to.match(sentence);
    }
    const missing = await rostrum('restore', path('missing.db'), '--store', `sqlite:${live}`);
    expect(missing.stderr).to.equal(`There is no file ${path('missing.db')}.\n`);
    expect(readFileSync(live).equals(before)).to.equal(true);
    expect(existsSync(`${live}.damaged`)).to.equal(false);
  });
});
