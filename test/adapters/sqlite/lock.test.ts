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
    const [early, link, folderLink] = [folder.file(), folder.file(), folder.file()];
    symlinkSync(path, early); // It leads nowhere yet.
    folder.open(early);
    symlinkSync(early, link);
    symlinkSync(folder.path, folderLink);
    for (const one of [path, relative('.', path), early, link, `${folderLink}/${basename(path)}`]) {
      expect(() => folder.open(one), one)
        .to.throw(`Another server has the data file ${path} open`)
        .with.property('code', 'store-in-use');
    }
  });

  it('a second process is refused after a second store of this one was', async () => {
    const path = folder.file();
    folder.open(path);
    expect(() => folder.open(path)).to.throw('Another server has');
    const second = await openElsewhere(path);
    await killed(second.child);
    expect(second.said).to.equal('store-in-use');
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
    await store.users.create(() => user('ann'));
    look(path, (database) => {
      expect(value(database, 'SELECT name FROM users')).to.equal('Name of ann');
    });
    await store.users.create(() => user('ben'));
  });
});
