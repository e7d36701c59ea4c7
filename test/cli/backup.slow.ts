import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import { backupCommand } from '../../src/cli/backup.ts';
import { runProgram } from '../../src/cli/program.ts';
import { outcomeOf, start } from '../support/process.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { program, rostrum, startServer } from '../support/server.ts';
import { failureOf } from './failure.ts';
import { contentOf, fill, records } from './transfer/records.ts';

describe('rostrum backup', function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let path: (name: string) => string;

  beforeEach(async () => {
    folder = await temporaryDirectory();
    path = (name) => join(folder.path, name);
  });

  afterEach(() => folder[Symbol.asyncDispose]());

  const backup = (name: string) =>
    rostrum('backup', path('copy.db'), '--store', `sqlite:${path(name)}`);

  it('backs up a server under write load, with every write acknowledged before', async () => {
    await using server = await startServer('--store', `sqlite:${path('live.db')}`);
    const acknowledged: string[] = [];
    let isOver = false;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; !isOver; n++) {
        const response = await fetch(`${server.address}/api/v1/posts`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ title: `${writer}-${n}`, body: 'x'.repeat(5000) }),
        });
        acknowledged.push(((await response.json()) as { id: string }).id);
      }
    });
    while (acknowledged.length < 300) await new Promise(setImmediate);
    const before = [...acknowledged];
    const { code, stdout, stderr } = await backup('live.db');
    const during = acknowledged.length - before.length;
    isOver = true;
    await Promise.all(writers);

    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.match(
      /^Backed up sqlite:.*live\.db to .*copy\.db, and checked all its tables and indexes\n$/,
    );
    expect(during, 'writes went on meanwhile').to.be.above(0);
    expect(existsSync(path('copy.db.part'))).to.equal(false);
    const database = new DatabaseSync(path('copy.db'), { readOnly: true });
    expect(database.prepare('PRAGMA integrity_check').all()).to.deep.equal([
      { integrity_check: 'ok' },
    ]);
    database.close();
    const store = openSqliteStore({ path: path('copy.db') });
    const ids = new Set((await contentOf(store)).posts.map(({ record }) => record.id));
    await store.close();
    expect(before.filter((id) => !ids.has(id))).to.deep.equal([]);
  });

  it('makes an equal copy of a store that no server uses', async () => {
    const content = records(30);
    const store = openSqliteStore({ path: path('still.db') });
    await fill(store, content);
    await store.close();
    // The file of an interrupted backup is overwritten.
    writeFileSync(path('copy.db.part'), 'half of a backup');
    const { code, stderr } = await backup('still.db');
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(readdirSync(folder.path).filter((name) => /-(wal|shm)$/.test(name))).to.deep.equal([]);
    const copy = openSqliteStore({ path: path('copy.db') });
    expect(await contentOf(copy)).to.deep.equal(content);
    await copy.close();
  });

  for (const command of ['backup', 'export']) {
    it(`removes the partial file when the disk is full: ${command}`, async () => {
      const store = openSqliteStore({ path: path('still.db') });
      await fill(store, records(100));
      await store.close();
      const url = `sqlite:${path('still.db')}`;
      // Limits the size of files. Without the trap, the signal would end Node.
      const script = `trap '' XFSZ; ulimit -f 200; exec "$@"`;
      const run = [process.execPath, program, command, path('new.jsonl'), '--store', url];
      const { code, stderr } = await outcomeOf(start('sh', ['-c', script, 'sh', ...run]));
      expect(code, stderr).to.equal(1);
      const left = readdirSync(folder.path).filter((name) => name.startsWith('new'));
      expect(left, stderr).to.deep.equal([]);
    });
  }

  it('rejects what it cannot back up with one sentence, and leaves files alone', async () => {
    const [live, there, text] = [path('live.db'), path('there.db'), path('text.db')];
    await openSqliteStore({ path: live }).close();
    for (const file of [there, text]) writeFileSync(file, 'precious, and no database '.repeat(30));
    const fresh = path('new.db');
    const cases: [RegExp, file: string, url: string][] = [
      [/^The file .*there\.db exists: /, there, `sqlite:${live}`],
      [/^--store is "": it has to be /, fresh, ''],
      [/^--store is "memory:": only an SQLite store /, fresh, 'memory:'],
      [/^--store is "mongodb:\/\/a:\*\*\*@h\/d": only an SQLite/, fresh, 'mongodb://a:b@h/d'],
      [
        /^--store is "sqlite:.*missing\.db": There is no file/,
        fresh,
        `sqlite:${path('missing.db')}`,
      ],
      [
        /^--store is "sqlite:.*text\.db": The file .*text\.db is not an SQLite database/,
        fresh,
        `sqlite:${text}`,
      ],
    ];
    for (const [sentence, file, url] of cases) {
      expect(await failureOf(backupCommand(file, { setting: '--store', url }))).to.match(sentence);
    }
    const nowhere = ['backup', join(path('no'), 'new.db'), '--store', `sqlite:${live}`];
    expect(await failureOf(runProgram(nowhere))).to.equal(
      `There is no folder ${path('no')}: make it first.`,
    );
    expect(existsSync(path('new.db'))).to.equal(false);
  });
});
