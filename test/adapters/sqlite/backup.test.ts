import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  backupSqlite,
  checkSqlite,
  type SqliteStoreError,
} from '../../../src/adapters/sqlite/index.ts';
import { errorOf } from '../../support/error-of.ts';
import { Folder, look } from './support/folder.ts';
import { post } from './support/records.ts';

describe('a backup of an SQLite store', () => {
  const folder = new Folder();

  async function messageOf(path: string, to: string): Promise<[code: string, message: string]> {
    const error = (await errorOf(backupSqlite({ path, to }))) as SqliteStoreError;
    return [error.code, error.message.replace(path, 'SOURCE').replaceAll(to, 'TARGET')];
  }

  it('blames the source if that is not a database', async () => {
    const source = folder.file();
    writeFileSync(source, 'garbage '.repeat(1000));
    expect(await messageOf(source, folder.file())).to.deep.equal([
      'store-not-a-database',
      'The file SOURCE is not an SQLite database: choose another path.',
    ]);
  });

  it('is not written over the data file itself', async () => {
    const path = folder.file();
    const store = folder.open(path);
    await store.posts.create(post('p'));
    const error = (await errorOf(backupSqlite({ path, to: path }))) as SqliteStoreError;
    expect(error.code).to.equal('store-bad-path');
    expect(await store.posts.get('p')).not.to.equal(undefined);
  });

  it('rejects a file with an index that differs from its table, as a check does', async () => {
    const path = folder.file();
    const store = folder.open(path);
    await store.posts.create(post('p'));
    await store.close();
    look(path, (database) => {
      // The table changes while it is without its index.
      const index = "FROM sqlite_schema WHERE name = 'posts_titleKey'";
      database.enableDefensive?.(false);
      database.exec(
        `PRAGMA writable_schema = ON; CREATE TABLE kept AS SELECT * ${index}; DELETE ${index}`,
      );
    });
    look(path, (database) => database.exec("UPDATE posts SET titleKey = 'other'"));
    look(path, (database) => {
      database.enableDefensive?.(false);
      database.exec('PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM kept');
    });
    const sentence = 'The data file SOURCE is damaged: restore a backup (rostrum restore).';
    expect(await messageOf(path, folder.file())).to.deep.equal(['store-damaged', sentence]);
    const error = (await errorOf(checkSqlite({ path }))) as SqliteStoreError;
    expect(error.message.replace(path, 'SOURCE')).to.equal(sentence);
  });

  it('blames the target if that is a file it cannot overwrite', async () => {
    const [source, target] = [folder.file(), folder.file()];
    await folder.open(source).close();
    writeFileSync(target, 'garbage '.repeat(1000));
    expect(await messageOf(source, target)).to.deep.equal([
      'store-cannot-open',
      'The backup cannot be written to TARGET (file is not a database): check that its disk has space, and that the file does not exist or is an older backup.',
    ]);
  });
});
