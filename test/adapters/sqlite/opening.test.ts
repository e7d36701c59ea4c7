import {
  existsSync,
  linkSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import type { OpenDatabase } from '../../../src/adapters/sqlite/database.ts';
import { SqliteStoreError } from '../../../src/adapters/sqlite/errors.ts';
import { Folder, look, value } from './support/folder.ts';
import { post, user } from './support/records.ts';

describe('opening a sqlite store', () => {
  const folder = new Folder();

  function refused(path: string, database?: OpenDatabase): SqliteStoreError {
    try {
      folder.open(path, database ? { database } : {});
    } catch (error) {
      expect(error).to.be.instanceOf(SqliteStoreError);
      if (error instanceof SqliteStoreError) return error;
    }
    throw new Error(`${path} was opened.`);
  }

  it('makes the folders that are missing', async () => {
    const path = join(folder.path, 'a', 'b', 'c.db');
    const store = folder.open(path);
    await store.ready();
    expect(existsSync(path)).to.equal(true);
  });

  it('finds everything again: records, versions, claims', async () => {
    const path = folder.file();
    const first = folder.open(path);
    const claim = {
      key: 'k',
      fingerprint: 'f',
      from: '2026-05-05T05:05:05.000Z',
      until: '2026-05-06T05:05:05.000Z',
    };
    const ann = user('ann', { email: 'Ann@É.example', tags: [1, { a: null }], '😀': 'x' });
    await first.users.create(ann, claim);
    await first.users.update('ann', ({ record }) => ({ ...record, name: 'Anna' }));
    await first.posts.create(post('p', { authorId: 'ann', body: 'x'.repeat(100_000) }));
    await first.close();

    const again = folder.open(path);
    expect(await again.users.get('ann')).to.deep.equal({
      record: { ...ann, name: 'Anna' },
      version: 2,
    });
    expect(await again.users.replay(claim)).to.deep.equal({ record: ann, version: 1 });
    expect((await again.posts.get('p'))?.record.body).to.have.length(100_000);
  });

  it('sets WAL, full synchronisation and foreign keys', async () => {
    const path = folder.file();
    let opened: DatabaseSync | undefined;
    folder.open(path, {
      database: (file) => {
        opened = new DatabaseSync(file);
        return opened;
      },
    });
    if (opened === undefined) throw new Error('No database was opened.');
    expect(value(opened, 'PRAGMA journal_mode')).to.equal('wal');
    expect(value(opened, 'PRAGMA synchronous')).to.equal(2);
    expect(value(opened, 'PRAGMA foreign_keys')).to.equal(1);
  });

  for (const setting of ['journal_mode', 'synchronous', 'foreign_keys']) {
    it(`refuses a driver on which ${setting} does not take`, () => {
      const deaf: OpenDatabase = (file) => {
        const database = new DatabaseSync(file);
        database.exec('PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF');
        return {
          exec: (sql) => sql.includes(setting) || database.exec(sql),
          prepare: (sql) => database.prepare(sql),
          close: () => database.close(),
        };
      };
      const error = refused(folder.file(), deaf);
      expect(error.code).to.equal('store-unsafe-settings');
      expect(error.message).to.include(setting);
    });
  }

  it('refuses a file of a newer version, and leaves it as it is', async () => {
    const path = folder.file();
    await folder.open(path).close();
    look(path, (database) => database.exec('PRAGMA user_version = 1000'));
    const before = readFileSync(path);
    const error = refused(path);
    expect(error.code).to.equal('store-newer-schema');
    expect(error.message).to.include('1000');
    expect(readFileSync(path).equals(before)).to.equal(true);
  });

  it('refuses a database of another program, and leaves it as it is', () => {
    const path = folder.file();
    look(path, (database) => database.exec('CREATE TABLE users (id)'));
    const before = readFileSync(path);
    expect(refused(path).code).to.equal('store-foreign-database');
    expect(readFileSync(path).equals(before)).to.equal(true);
  });

  it('refuses a file that is no database, and leaves it as it is', () => {
    const path = folder.file();
    writeFileSync(path, 'Dear diary, '.repeat(1000));
    expect(refused(path).code).to.equal('store-not-a-database');
    expect(readFileSync(path, 'utf8')).to.equal('Dear diary, '.repeat(1000));
  });

  it('refuses a folder that cannot be made, a folder in place of a file, and no path', () => {
    const file = folder.file();
    writeFileSync(file, '');
    expect(refused(join(file, 'data.db')).code).to.equal('store-folder-unusable');
    expect(refused(join(file, 'a', 'b', 'data.db')).code).to.equal('store-folder-unusable');
    if (process.platform === 'linux') {
      expect(refused('/proc/rostrum/a/data.db').code).to.equal('store-folder-unusable');
    }
    expect(refused(folder.path).code).to.equal('store-cannot-open');
    expect(refused(':memory:').code).to.equal('store-bad-path');
    expect(refused('').code).to.equal('store-bad-path');
  });

  it('refuses a file that has another name, and so another lock', async () => {
    const file = folder.file();
    await folder.open(file).close();
    linkSync(file, `${file}.link`);
    expect(refused(`${file}.link`).message).to.match(/hard links/);
    rmSync(`${file}.link`);
    await folder.open(file).close();
  });

  it('refuses a file that is too small for a database, and leaves it as it is', () => {
    const file = folder.file();
    writeFileSync(file, 'x');
    expect(refused(file).code).to.equal('store-not-a-database');
    expect(readFileSync(file, 'utf8')).to.equal('x');
  });

  it('refuses a file that the driver opens for reading only', async () => {
    const file = folder.file();
    await folder.open(file).close();
    const readOnly: OpenDatabase = (path) =>
      new DatabaseSync(path, { readOnly: path === realpathSync(file) });
    expect(refused(file, readOnly).message).to.match(/for reading and writing/);
  });

  it('says in one sentence what is wrong', () => {
    const { message } = refused(':memory:');
    expect(message).to.match(/^[A-Z][^\n]*\.$/);
  });

  it('frees the file when it refuses it', async () => {
    const path = folder.file();
    const failing: OpenDatabase = (file) => {
      if (file.endsWith('-lock')) return new DatabaseSync(file);
      throw new Error('no');
    };
    expect(refused(path, failing).code).to.equal('store-cannot-open');
    await folder.open(path).ready();
  });

  it('opens an empty file, and one behind a link that leads nowhere yet', async () => {
    const [path, link, target] = [folder.file(), folder.file(), folder.file()];
    writeFileSync(path, '');
    await folder.open(path).ready();
    symlinkSync(target, link);
    await folder.open(link).ready();
    expect(existsSync(target)).to.equal(true);
  });

  it('takes a migration whole or not at all', async () => {
    const path = folder.file();
    const failing: OpenDatabase = (file) => {
      const database = new DatabaseSync(file);
      return {
        exec(sql) {
          if (sql.startsWith('PRAGMA user_version =')) throw new Error('no');
          database.exec(sql);
        },
        prepare: (sql) => database.prepare(sql),
        close: () => database.close(),
      };
    };
    expect(refused(path, failing).code).to.equal('store-cannot-open');
    expect(
      look(path, (database) => value(database, 'SELECT count(*) FROM sqlite_schema')),
    ).to.equal(0);
    await folder.open(path).ready();
  });
});
