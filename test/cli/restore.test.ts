import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { backupSqlite, openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import { restoreCommand } from '../../src/cli/restore.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { rostrum, startServer } from '../support/server.ts';
import { refusalOf } from './refusal.ts';
import { contentOf, fill, records } from './transfer/records.ts';

const given = records(30);
const more = records(40);

describe('rostrum restore', function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let path: (name: string) => string;
  let named: { setting: string; url: string };

  beforeEach(async () => {
    folder = await temporaryDirectory();
    path = (name) => join(folder.path, name);
    named = { setting: '--store', url: `sqlite:${path('data.db')}` };
    await using store = openSqliteStore({ path: path('data.db') });
    await fill(store, given);
    await backupSqlite({ path: path('data.db'), to: path('backup.db') });
    await fill(store, more);
  });

  afterEach(() => folder[Symbol.asyncDispose]());

  const held = async () => {
    await using store = openSqliteStore({ path: path('data.db') });
    return await contentOf(store);
  };

  it('puts a backup in place while a server runs, which serves it from then on', async () => {
    await using server = await startServer('--store', named.url);
    const total = async () => {
      const response = await fetch(`${server.address}/api/v1/users?limit=1&count=exact`);
      return ((await response.json()) as { total: number }).total;
    };
    expect(await total()).to.equal(40);
    const { code, stdout, stderr } = await rostrum(
      'restore',
      path('backup.db'),
      '--store',
      named.url,
    );
    expect([code, stderr.replace(/pages: \d+ of \d+\n/, '')]).to.deep.equal([0, '']);
    expect(stdout).to.match(/^Restored sqlite:.*data\.db from .*backup\.db: \d+ bytes\n$/);
    expect(await total()).to.equal(30);
    expect(await held()).to.deep.equal(given);
  });

  it('moves a data file aside that cannot be opened', async () => {
    writeFileSync(path('data.db'), 'no database '.repeat(100));
    const { code, stdout } = await rostrum('restore', path('backup.db'), '--store', named.url);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^Restored .*\nThe data file could not be opened\. It has "\.damaged"/);
    expect(readFileSync(path('data.db.damaged'), 'utf8')).to.match(/^no database /);
    expect(await held()).to.deep.equal(given);
  });

  it('refuses in one sentence what is not a sound backup, and leaves the store as it is', async () => {
    const backup = readFileSync(path('backup.db'));
    const middle = Math.floor(backup.length / 2);
    writeFileSync(path('cut.db'), backup.subarray(0, middle));
    writeFileSync(path('torn.db'), backup.fill(0x5a, middle, middle + 8192));
    writeFileSync(path('text.db'), 'no database '.repeat(100));
    writeFileSync(path('empty.db'), '');
    const other = new DatabaseSync(path('other.db'));
    other.exec('CREATE TABLE theirs (id)');
    other.close();
    const cases: [RegExp, file: string, url?: string][] = [
      [
        /^--store is "sqlite:.*data\.db": The backup .*cut\.db is damaged: use another one\.$/,
        'cut.db',
      ],
      [/: The backup .*torn\.db is damaged: /, 'torn.db'],
      [/: The backup .*text\.db is damaged: /, 'text.db'],
      [/: The backup .*empty\.db is damaged: /, 'empty.db'],
      [/: The file .*other\.db is a database of another program: /, 'other.db'],
      [/: There is no file .*missing\.db\.$/, 'missing.db'],
      [/: .*data\.db is the data file: name a backup\.$/, 'data.db'],
      [/^--store is "memory:": only an SQLite store /, 'backup.db', 'memory:'],
    ];
    for (const [sentence, file, url = named.url] of cases) {
      const restoring = restoreCommand(path(file), { setting: '--store', url });
      expect(await refusalOf(restoring)).to.match(sentence);
    }
    expect(existsSync(path('data.db.damaged'))).to.equal(false);
    expect(await held()).to.deep.equal(more);
    const { code, stdout, stderr } = await rostrum('restore', path('cut.db'), '--store', named.url);
    expect([code, stdout, stderr.split('\n').length]).to.deep.equal([1, '', 2]);
  });
});
