import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { Connection } from '../../../src/adapters/sqlite/connection/connection.ts';
import { prepareDataFile } from '../../../src/adapters/sqlite/connection/prepare-data-file.ts';
import { SqliteStoreError } from '../../../src/adapters/sqlite/index.ts';
import {
  addSearchField,
  type Migration,
  prepareLayout,
} from '../../../src/adapters/sqlite/layout.ts';
import { node } from '../../support/process.ts';
import { stepped, watched } from './support/faults.ts';
import { Folder, look, value } from './support/folder.ts';
import { post } from './support/records.ts';

const index = join(import.meta.dirname, '../../../src/adapters/sqlite/index.ts');

describe('opening a SQLite store', () => {
  const folder = new Folder();

  /** Expects the file to be rejected with a one-sentence error and to stay unchanged. */
  function refused(path: string, driver?: (file: string) => DatabaseSync): SqliteStoreError {
    const contentOf = () => existsSync(path) && !path.endsWith('/') && readFileSync(path);
    const before = contentOf();
    try {
      folder.open(path, {}, driver);
    } catch (error) {
      if (!(error instanceof SqliteStoreError)) throw error;
      expect(error.message).to.match(/^[A-Z][^\n]*\.$/);
      if (before) expect(before.equals(contentOf() as Buffer), 'is unchanged').to.equal(true);
      return error;
    }
    throw new Error(`${path} was opened.`);
  }

  it('creates missing folders, and files that only their owner can read', async () => {
    const path = join(folder.path, 'a', 'b', 'c.db');
    await folder.open(path).ready();
    for (const end of ['', '-wal', '-shm']) {
      expect((statSync(path + end).mode & 0o777).toString(8), end).to.equal('600');
    }
  });

  it('creates the tables once, even if several processes open the file at the same time', async function () {
    this.timeout(30_000);
    const path = folder.file();
    const program = `
      import { openSqliteStore } from ${JSON.stringify(index)};
      await openSqliteStore({ path: process.argv[1] }).close();`;
    const args = ['--input-type=module', '-e', program, path];
    for (const { code, stderr } of await Promise.all([1, 2, 3, 4].map(() => node(args)))) {
      expect(code, stderr).to.equal(0);
    }
    await folder.open(path).ready();
  });

  it('rejects a custom filter that cannot be indexed, and creates no file', () => {
    const path = folder.file();
    expect(() => folder.open(path, { declaredFields: { posts: { "a'b": 'text' } } }))
      .to.throw(TypeError)
      .with.property('message')
      .that.matches(/^"a'b" cannot be declared as a field of posts/);
    expect(existsSync(path)).to.equal(false);
  });

  it('rejects a file system on which SQLite cannot keep a log', async () => {
    const deaf = stepped((sql, run, exec) =>
      sql.includes('journal_mode = WAL') ? exec(sql.replace('WAL', 'DELETE')) : run(),
    );
    expect(refused(folder.file(), deaf).code).to.equal('store-unsafe-settings');
  });

  it('rejects a file of a newer version', async () => {
    const path = folder.file();
    await folder.open(path).close();
    look(path, (database) => database.exec('PRAGMA user_version = 1000'));
    const error = refused(path);
    expect(error.code).to.equal('store-newer-layout');
    expect(error.message).to.include('1000');
  });

  it('rejects a file of a former layout', async () => {
    const path = folder.file();
    await folder.open(path).close();
    look(path, (database) => database.exec('PRAGMA user_version = 1'));
    const error = refused(path);
    expect(error.code).to.equal('store-former-layout');
    expect(error.message).to.equal(
      `The data file ${path} was made by an earlier version of Rostrum, in a layout that this one cannot read. Export it with that version, then import it with this one: rostrum import --keep-ids, with a --field for each declared field.`,
    );
  });

  it('migrates an earlier layout step by step, whole or not at all', async () => {
    const path = folder.file();
    const store = folder.open(path);
    await store.posts.create(post('p', { title: 'Straße' }));
    await store.close();
    // As if neither titles nor times could be searched before.
    look(path, (database) =>
      database.exec(`DROP INDEX posts_titleKey; DROP INDEX posts_authorId_createdAt;
        DROP INDEX posts_publishedAt; DROP INDEX posts_authorId_publishedAt;
        ALTER TABLE posts DROP COLUMN titleKey; ALTER TABLE posts DROP COLUMN publishedAt`),
    );
    const steps: Migration[] = [
      (connection) => addSearchField(connection, 'posts', 'titleKey'),
      (connection) => addSearchField(connection, 'posts', 'publishedAt'),
    ];
    const migrate = (...all: Migration[]) => {
      const connection = new Connection(() => new DatabaseSync(path));
      try {
        connection.transaction('IMMEDIATE', () => prepareLayout(connection, path, all));
      } finally {
        connection.close();
      }
    };
    const layout = () => look(path, (database) => value(database, 'PRAGMA user_version'));
    const failing: Migration = () => {
      throw new Error('the disk is full');
    };
    expect(() => migrate(...steps, failing)).to.throw('the disk is full');
    expect(layout()).to.equal(2);
    for (let times = 0; times < 2; times++) {
      migrate(...steps);
      expect(layout()).to.equal(4);
      look(path, (database) => {
        expect(value(database, 'SELECT titleKey FROM posts')).to.equal('strasse');
        const indexes =
          "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'posts_%At' OR name = 'posts_titleKey'";
        expect(value(database, indexes)).to.equal(6);
      });
    }
    expect(refused(path).code, 'for a version without these steps').to.equal('store-newer-layout');
  });

  it('rejects a database of another program', () => {
    const path = folder.file();
    look(path, (database) => database.exec('CREATE TABLE users (id)'));
    expect(refused(path).code).to.equal('store-foreign-database');
  });

  it('rejects a file that is not a database, even a tiny one', () => {
    for (const content of ['Dear diary, '.repeat(1000), 'x']) {
      const path = folder.file();
      writeFileSync(path, content);
      expect(refused(path).code).to.equal('store-not-a-database');
    }
  });

  it('rejects a folder that cannot be created, a folder instead of a file, and an empty path', () => {
    const file = folder.file();
    writeFileSync(file, '');
    expect(refused(join(file, 'data.db')).code).to.equal('store-cannot-open');
    expect(refused(join(file, 'a', 'b', 'data.db')).code).to.equal('store-cannot-open');
    expect(refused(`${folder.path}/`).code).to.equal('store-cannot-open');
    expect(refused(':memory:').code).to.equal('store-bad-path');
    expect(refused('').code).to.equal('store-bad-path');
  });

  it('rejects a file on a network file system', () => {
    expect(() => prepareDataFile(folder.file(), () => 0x6969))
      .to.throw(SqliteStoreError, 'network file system')
      .with.property('code', 'store-unsafe-settings');
  });

  it('rejects a file or folder that is not writable', async () => {
    const inside = join(folder.path, 'inside');
    mkdirSync(inside);
    const file = join(inside, 'data.db');
    await folder.open(file).close();
    chmodSync(folder.path, 0o755);
    chmodSync(inside, 0o777);
    chmodSync(file, 0o444);
    // Drops root privileges: permissions don't apply to root.
    const program = `
      import { openSqliteStore } from ${JSON.stringify(index)};
      if (process.getuid() === 0) process.setuid(65534);
      try {
        openSqliteStore({ path: process.argv[1] });
      } catch (error) {
        console.log(error.code);
      }
    `;
    const args = ['--input-type=module', '-e', program, file];
    expect(execFileSync(process.execPath, args).toString()).to.equal('store-cannot-open\n');
    expect(refused(join('/proc', 'data.db')).message).to.match(/for reading and writing/);
  });

  it('releases a file that it rejected', async () => {
    const path = folder.file();
    const failing = () => {
      throw new Error('no');
    };
    expect(refused(path, failing).code).to.equal('store-cannot-open');
    await folder.open(path).ready();
  });

  it('opens an empty file, and the target of a dangling symbolic link', async () => {
    const [path, link, target] = [folder.file(), folder.file(), folder.file()];
    writeFileSync(path, '');
    await folder.open(path).ready();
    symlinkSync(target, link);
    await folder.open(link).ready();
    expect(existsSync(target)).to.equal(true);
  });

  it('creates all tables or none', async () => {
    const path = folder.file();
    const failing = watched((sql) => {
      if (sql.includes('PRAGMA user_version =')) throw new Error('no');
    });
    expect(() => folder.open(path, {}, failing)).to.throw(SqliteStoreError);
    const tables = 'SELECT count(*) FROM sqlite_schema';
    expect(look(path, (database) => value(database, tables))).to.equal(0);
    await folder.open(path).ready();
  });
});
