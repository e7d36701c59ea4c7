import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { readSchemaFiles } from '../../../src/adapters/json-schema/index.ts';
import { rostrum } from '../../support/server.ts';
import { describeOnStores } from '../../support/stores.ts';
import { openTemporarySqlite } from '../../support/temporary-sqlite.ts';
import { failureOf } from '../failure.ts';
import { Imports, isEmpty, lines } from './imports.ts';

const declaredFields = {
  users: { nick: { type: 'text', unique: true } },
  posts: {
    slug: { type: 'text', unique: true },
    number: { type: 'number', unique: true },
    tags: 'text[]',
  },
} as const;

/** A field of each type. */
const typed = {
  posts: { slug: 'text', price: 'number', hot: 'boolean', tags: 'text[]' },
} as const;

const title = 'P';

describe('rostrum import: declared fields', function () {
  this.timeout(60_000);
  const imports = new Imports();

  const tooLong = ['x'.repeat(1001), 'x'.repeat(201)] as const;
  const tooMany = Array.from({ length: 65 }, (_, n) => `${n}`);
  /** Wrong values, by the pointer and the code of their issue. */
  const wrongJson: Readonly<Record<string, readonly unknown[]>> = {
    '/slug type': [5, true, ['a'], {}],
    '/slug too-long': [tooLong[0]],
    '/price type': ['12', true, [], {}],
    '/hot type': ['true', 1, [true], {}],
    '/tags type': ['a', 5, true, { a: 'b' }],
    '/tags/1 type': [
      ['a', 5],
      ['a', null],
    ],
    '/tags/1 too-long': [['a', tooLong[1]]],
    '/tags too-long': [tooMany],
  };
  const wrongCells: Readonly<Record<string, readonly string[]>> = {
    '/slug too-long': [tooLong[0]],
    '/price type': ['abc', 'true', '1,5', '0x10', '1 000', '[12]'],
    '/hot type': ['yes', '2', 'wahr'],
    '/tags type': ['["a"', '{a,b}', '"a", "b"'],
    '/tags/1 type': ['["a", 5]'],
    '/tags/1 too-long': [`a, ${tooLong[1]}`],
    '/tags too-long': [tooMany.join()],
  };

  async function expectRejected(content: unknown, file: string, line: string): Promise<void> {
    await imports.run(content, { file, as: 'posts', declaredFields: typed });
    expect(imports.rejected.splice(0)).to.deep.equal([line]);
    expect(await imports.held()).to.deep.equal(isEmpty);
  }

  for (const [issue, values] of Object.entries(wrongJson)) {
    const [, field = ''] = issue.split(/[/ ]/);
    it(`rejects wrong values in JSON, and adds nothing: ${issue}`, async () => {
      for (const value of values) {
        const posts = [null, value, null].map((one) => ({ title, [field]: one }));
        await expectRejected(posts, 'a.json', `posts[1] ${issue}`);
        await expectRejected(lines(posts), 'a.jsonl', `line 2 ${issue}`);
      }
    });
  }

  for (const [issue, cells] of Object.entries(wrongCells)) {
    const [, field = ''] = issue.split(/[/ ]/);
    it(`rejects wrong cells of CSV, and adds nothing: ${issue}`, async () => {
      for (const cell of cells) {
        const csv = `title,${field}\nA,\nB,"${cell.replaceAll('"', '""')}"\nC,\n`;
        await expectRejected(csv, 'a.csv', `line 3 ${issue}`);
      }
    });
  }

  for (const [cells, price, hot, tags, delimiter = ','] of [
    [['12', 'TRUE', 'a, b'], 12, true, ['a', 'b']],
    [[' -1.5e3 ', 'False', '["a,", ""]'], -1500, false, ['a,', '']],
    [['0', '0', '[]'], 0, false, []],
    [['1.500', '1', ' a,,b ,'], 1.5, true, ['a', 'b']],
    [['', '', ''], undefined, undefined, undefined],
    [[' ', 'NULL', '\\N'], undefined, undefined, undefined],
    [["'-2", 'true', "'-a, 'b"], -2, true, ['-a', "'b"]],
    [['1,5', 'true', 'a'], 1.5, true, ['a'], ';'],
    [['-0,25', 'true', 'a, b'], -0.25, true, ['a', 'b'], ';'],
    [['0.125', 'true', 'a'], 0.125, true, ['a'], ';'],
    [['1234.567', 'true', 'a'], 1234.567, true, ['a'], ';'],
  ] as const) {
    it(`reads the cells ${cells.join(delimiter)}`, async () => {
      const quoted = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`);
      const csv = [
        ['Title', 'PRICE', '_hot', 'T-A-G-S'],
        ['A', ...quoted],
      ]
        .map((row) => `${row.join(delimiter)}\n`)
        .join('');
      const options = { file: 'a.csv', as: 'posts', declaredFields: typed } as const;
      await imports.run(csv, options);
      expect(imports.rejected).to.deep.equal([]);
      const [post] = (await imports.held()).posts;
      expect([post?.price, post?.hot, post?.tags]).to.deep.equal([price, hot, tags]);
    });
  }

  it('rejects numbers that can be read in two ways', async () => {
    const csv = 'title;price\nA;1.500\nB;-12.000\nC;1.234,5\nD;1.234.567\n';
    await imports.run(csv, { file: 'a.csv', as: 'posts', declaredFields: typed });
    expect(imports.rejected).to.deep.equal([2, 3, 4, 5].map((n) => `line ${n} /price type`));
  });

  it('keeps texts of a text field, except one escape before a formula', async () => {
    const cells = ['12', 'true', ' NULL ', "'x", "'=1", "''=1", "''x", "'", "''", "'＠x", '=1'];
    const csv = `title,slug\n${cells.map((cell, n) => `${n},"${cell}"`).join('\n')}\n`;
    await imports.run(csv, { file: 'a.csv', as: 'posts', declaredFields: typed });
    const posts = (await imports.held()).posts.sort((a, b) => Number(a.title) - Number(b.title));
    const texts = ['12', 'true', ' NULL ', "'x", '=1', "'=1", "'x", "'", "'", '＠x', '=1'];
    expect(posts.map(({ slug }) => slug)).to.deep.equal(texts);
  });

  it('says that a transform can convert a text', async () => {
    const path = imports.write(lines([{ title, price: '12' }]), 'posts.jsonl');
    const args = ['--as', 'posts', '--field', 'posts.price:number', '--store', imports.url];
    expect((await rostrum('import', path, ...args)).stdout).to.equal(
      'line 1 /price type: The field "price" must be a number. It is the text "12": a transform can convert it.\n',
    );
  });

  it('matches names of known, declared and schema fields, and exact names first', async () => {
    const schema = imports.write('{ "properties": { "seoTitle": {}, "Title": {} } }', 's.json');
    const customFields = await readSchemaFiles({ postSchema: schema });
    const declaredFields = { posts: { published_at: 'text', fooBar: 'text' } } as const;
    const options = { as: 'posts', customFields, declaredFields } as const;
    const wanted = {
      title,
      seoTitle: 's',
      Title: 'T',
      fooBar: 'f',
      published_at: 'x',
      other_x: 'y',
    };
    const names = ['t_i_t_l_e', 'SEO title', 'Title', 'foo-bar', 'published_at', 'other_x'];
    const values = Object.values(wanted);
    const row = Object.fromEntries(names.map((name, i) => [name, values[i]]));
    await imports.run(`${names.join()},Published At\n${values.join()},\n`, {
      ...options,
      file: 'a.csv',
    });
    await imports.run([{ ...row, 'Published At': null }], options);
    expect(imports.rejected).to.deep.equal([]);
    const { posts } = await imports.held();
    expect(posts).to.have.length(2);
    for (const post of posts) expect(post).to.include({ ...wanted, publishedAt: null });
  });

  it('rejects two columns or members for one field, and names both', async () => {
    const options = { as: 'posts', declaredFields: typed, skipInvalid: true } as const;
    for (const [field, one, other] of [
      ['publishedAt', 'published_at', 'publishedAt'],
      ['tags', 'Tags', 'tags'],
    ]) {
      const csv = imports.run(`title,${one},${other}\nA,,\n`, { ...options, file: 'a.csv' });
      const both = `for the field "${field}": "${one}" and "${other}".`;
      const advice = 'Rename one of its columns, or use --transform FILE.';
      expect(await failureOf(csv)).to.equal(
        `${imports.folder}/a.csv has two columns ${both} ${advice}`,
      );
      expect(await imports.held()).to.deep.equal(isEmpty);
      const records = [{ title }, { title, [`${one}`]: null, [`${other}`]: null }];
      await imports.run(records, { ...options, dryRun: true });
      expect(imports.rejected.splice(0)).to.deep.equal(['posts[1]  invalid']);
      expect(imports.messages.pop()).to.equal(`It has two members ${both}`);
    }
  });

  it('takes the names in an export as they are', async () => {
    const post = {
      title,
      publishedAt: null,
      created_at: 1,
      createdAt: '2020-01-01T00:00:00Z',
      TAGS: 1,
    };
    await imports.run(lines([{ post }]), { file: 'a.jsonl', declaredFields: typed });
    expect(imports.rejected).to.deep.equal([]);
    expect((await imports.held()).posts[0]).to.include({ title, created_at: 1, TAGS: 1 });
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
      return file
        .prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'posts_declared_slug%'")
        .all().length;
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
