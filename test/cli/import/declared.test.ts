import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { rostrum } from '../../support/server.ts';
import { describeOnStores } from '../../support/stores.ts';
import { openTemporarySqlite } from '../../support/temporary-sqlite.ts';
import { Imports, isEmpty, lines } from './imports.ts';

const declaredFields = {
  users: { nick: { type: 'text', unique: true } },
  posts: {
    slug: { type: 'text', unique: true },
    number: { type: 'number', unique: true },
    tags: 'text[]',
  },
} as const;

const title = 'P';

describe('rostrum import: declared fields', function () {
  this.timeout(60_000);
  const imports = new Imports();

  it('rejects an array with too many elements before anything is added', async () => {
    const tags = Array.from({ length: 65 }, String);
    const posts = lines([
      { title, tags: tags.slice(1) },
      { title, tags },
    ]);
    await imports.run(posts, { file: 'a.jsonl', as: 'posts', declaredFields });
    expect(imports.rejected).to.deep.equal(['line 2 /tags too-long']);
    expect(await imports.held()).to.deep.equal(isEmpty);
  });

  it('accepts records that are in the store already', async () => {
    await imports.store.close();
    imports.store = openTemporarySqlite({ declaredFields });
    const posts = lines(['a', 'b'].map((slug) => ({ id: slug, title, slug })));
    const options = { file: 'a.jsonl', as: 'posts', keepIds: true, declaredFields } as const;
    await imports.run(posts, options);
    expect(await imports.run(posts, options)).to.include({ there: 2, rejected: 0 });
    await imports.run(`${lines([{ id: 'c', title, slug: 'a' }])}${posts}`, options);
    expect(imports.rejected).to.deep.equal(['line 1 /slug taken']);
  });

  it('declares them with --field, but creates no index in a dry run', async () => {
    const path = imports.write(lines([{ title, slug: 'a' }]), 'posts.jsonl');
    const run = (...more: string[]) =>
      rostrum('import', path, '--as', 'posts', '--store', imports.url, ...more);
    const index = ['--field', 'posts.slug:text:unique'];
    expect((await run()).code).to.equal(0);
    const indexes = () => {
      using file = new DatabaseSync(imports.dataFile, { readOnly: true });
      return file.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%slug'").all().length;
    };
    for (const [made, ...more] of [[0, '--dry-run'], [2]] as const) {
      const { code, stdout } = await run(...index, ...more);
      expect([code, stdout]).to.deep.equal([
        2,
        'line 1 /slug taken: Another record already has this value of "slug". It is "a".\n',
      ]);
      expect(indexes()).to.equal(made);
    }
    expect(imports.countOf('posts')).to.equal(1);
    const wrong = await run('--field', 'posts.title:text');
    expect(wrong.stderr).to.match(/^--field is "posts\.title:text": "title" cannot be declared/);
  });
});

await describeOnStores(
  'rostrum import: unique fields that the store does not know',
  (open, name) => {
    if (name === 'memory') return; // Nothing is imported into it.
    const imports = new Imports();

    it('rejects a unique value that another record in the file or in the store has', async () => {
      await imports.store.close();
      imports.store = await open();
      const given = {
        users: [
          { name: 'A', nick: 'a' },
          { name: 'B', nick: 'b' },
          { name: 'C', nick: 'a' },
        ],
        posts: [
          { title, slug: 'a' },
          { title, slug: 'A', number: 0 },
          { title, slug: 'a', number: 1 },
          { title, slug: null, number: -0 },
          { title, slug: null, number: '0' },
          { title, slug: 5, number: 1 },
          { title, slug: 5 },
        ],
      };
      const options = { declaredFields, skipInvalid: true };
      expect(await imports.run(given, options)).to.include({ rejected: 3 });
      const inFile = ['users[2] /nick taken', 'posts[2] /slug taken', 'posts[3] /number taken'];
      expect(imports.rejected.splice(0)).to.deep.equal(inFile);
      const again = { users: [{ name: 'D', nick: 'b' }], posts: given.posts.slice(0, 2) };
      expect(await imports.run(again, { declaredFields })).to.include({ rejected: 3 });
      expect(imports.rejected).to.deep.equal([
        ...['users[0] /nick taken', 'posts[0] /slug taken'],
        ...['posts[1] /slug taken', 'posts[1] /number taken'],
      ]);
      expect(imports.messages[0]).to.equal('Another record already has this value of "nick".');
    });
  },
);
