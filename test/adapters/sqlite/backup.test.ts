import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { backupSqlite, type SqliteStoreError } from '../../../src/adapters/sqlite/index.ts';
import { errorOf } from '../../support/error-of.ts';
import { Folder } from './support/folder.ts';

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
