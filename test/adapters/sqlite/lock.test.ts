import { symlinkSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { expect } from 'chai';
import { Folder, look, value } from './support/folder.ts';
import { killed, openElsewhere } from './support/process.ts';
import { user } from './support/records.ts';

describe('one sqlite store to a file', () => {
  const folder = new Folder();

  it('a second one in this process is refused, by whatever path it comes', () => {
    const path = folder.file();
    folder.open(path);
    const link = folder.file();
    symlinkSync(path, link);
    const folderLink = folder.file();
    symlinkSync(folder.path, folderLink);
    const paths = [path, relative('.', path), link, `${folderLink}/${basename(path)}`];
    for (const one of paths) {
      expect(() => folder.open(one))
        .to.throw(`Another server has the data file ${path} open`)
        .with.property('code', 'store-in-use');
    }
  });

  it('is freed by close', async () => {
    const path = folder.file();
    await folder.open(path).close();
    await folder.open(path).ready();
  });

  it('a second process is refused, and let in when the first one was killed', async () => {
    const path = folder.file();
    const first = await openElsewhere(path);
    try {
      expect(first.said).to.equal('open');
      expect(() => folder.open(path))
        .to.throw()
        .with.property('code', 'store-in-use');
    } finally {
      await killed(first.child);
    }
    await folder.open(path).ready();
    const second = await openElsewhere(path);
    await killed(second.child);
    expect(second.said).to.equal('store-in-use');
  });

  it('readers get in meanwhile, and see what was committed', async () => {
    const path = folder.file();
    const store = folder.open(path);
    await store.users.create(user('ann'));
    look(path, (database) => {
      expect(value(database, 'SELECT name FROM users')).to.equal('Name of ann');
      expect(value(database, 'PRAGMA integrity_check')).to.equal('ok');
    });
    await store.users.create(user('ben'));
  });
});
