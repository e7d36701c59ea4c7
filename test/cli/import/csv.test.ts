import { expect } from 'chai';
import { failureOf } from '../failure.ts';
import { Imports, type Own, text } from './imports.ts';

/** Users without id and times. */
const plain = (users: readonly Own[]) => users.map(({ id, createdAt, updatedAt, ...rest }) => rest);

const ann = { name: 'Ann', email: 'a@example.com' };

describe('rostrum import: CSV', () => {
  const imports = new Imports();

  const accepted: readonly [title: string, csv: string, user: Own, file?: string][] = [
    ['commas', 'name,email\nAnn,a@example.com\n', ann],
    ['semicolons, CRLF and a byte order mark', '\ufeffname;email\r\nAnn;a@example.com\r\n', ann],
    ['carriage returns alone', 'name,email\rAnn,a@example.com\r', ann],
    ['a mixture of line ends', 'name,email\r\nAnn,a@example.com\n', ann],
    ['tabs', 'name\temail\nAnn\ta@example.com\n', ann],
    ['tabs in .tsv', 'name\temail\nAnn\ta@example.com\n', ann, 'people.tsv'],
    [
      'tabs in .tsv under a heading with commas',
      'name\ta, b, c\nAnn\tx\n',
      { name: 'Ann', email: null, 'a, b, c': 'x' },
      'p.TSV',
    ],
    ['tabs in .txt', 'name\temail\nAnn\ta@example.com\n', ann, 'people.txt'],
    ['a first line sep=;', 'sep=;\r\nname;email\r\nAnn;a@example.com\r\n', ann],
    ['a first line sep=| in quotation marks', '"sep=|"\nname|email\nAnn|a@example.com\n', ann],
    [
      'a comma in a heading',
      'name;email;note, more\nAnn;a@example.com;x\n',
      { ...ann, 'note, more': 'x' },
    ],
    [
      'commas and a line feed in a quoted heading',
      '"name";"email";"a, b,\nc, d"\nAnn;a@example.com;x\n',
      { ...ann, 'a, b,\nc, d': 'x' },
    ],
    ['rows of separators alone', 'name;email\r\nAnn;a@example.com\r\n;\r\n\r\n ; \r\n', ann],
    ['empty columns at the end', 'name,email,,,\nAnn,a@example.com,,,\n', ann],
    ['an empty column in the middle', 'name,,email\nAnn,,a@example.com\n', ann],
    ['headings in other forms', ' Name ,E-Mail\nAnn,a@example.com\n', ann],
    [
      'bare quotation marks inside a cell',
      'name,email\nAnn "B" 5" C,a@example.com\n',
      { ...ann, name: 'Ann "B" 5" C' },
    ],
    ['cells with spaces around them', 'name , email\n Ann\t,\ta@example.com \n', ann],
    [
      'spaces in quotation marks',
      'name,note\nAnn," x "\n',
      { name: 'Ann', email: null, note: ' x ' },
    ],
    [
      'a name on two lines',
      'name,email\n"Ann \r\n\tB\u2028C",\n',
      { name: 'Ann B C', email: null },
    ],
    [
      'quoted cells',
      '"name","email","note"\n"Ann, ""A""","a@example.com","x\n""y"""\n',
      { ...ann, name: 'Ann, "A"', note: 'x\n"y"' },
    ],
  ];
  for (const [title, csv, user, file = 'people.csv'] of accepted) {
    it(`reads ${title}`, async () => {
      await imports.run(csv, { file, as: 'users' });
      expect(plain((await imports.held()).users)).to.deep.equal([user]);
    });
  }

  it('rejects a row with invalid quoting, and continues after it', async () => {
    const rows = ['"A"x,1', 'B,2', '"{\\"a\\":1}",3', 'C,"4\n""c"""', '"D" ,5', 'E,6'];
    const csv = `name,n\r\n${rows.join('\r\n')}\r\n`;
    await imports.run(csv, { file: 'q.csv', as: 'users', skipInvalid: true });
    expect(imports.rejected).to.deep.equal([
      'line 2  invalid',
      'line 4  invalid',
      'line 7  invalid',
    ]);
    expect(imports.messages[0]).to.match(
      /^A quotation mark follows another one in the same cell: /,
    );
    const { users } = await imports.held();
    expect(users.map(({ name, n }) => [name, n])).to.deep.equal([
      ['B', '2'],
      ['C', '4\n"c"'],
      ['E', '6'],
    ]);
  });

  for (const [title, before] of [
    ['alone', ''],
    ['behind cells on several lines', '"two\r\nlines","three\r\n\r\nlines"\r\n"two\r\nlines",'],
  ] as const) {
    it(`names the line of a quotation mark that is never closed, ${title}`, async () => {
      const csv = `name,email\r\nA,a@example.com\r\n${before}"oops\r\nB,\r\n`;
      const sentence = await failureOf(imports.run(csv, { file: 'q.csv', as: 'users' }));
      const line = 3 + (before.match(/\n/g)?.length ?? 0);
      expect(sentence).to.equal(
        `${imports.folder}/q.csv, line ${line}: A quotation mark opens a cell here and is never closed, or the row is longer than 4 MiB.`,
      );
    });
  }

  it('rejects rows with missing cells, and cells without a heading', async () => {
    const csv = 'name,email,,\nA\nB,b@example.com,x\nC,c@example.com,,,y\nD,d@example.com\n';
    await imports.run(csv, { file: 'a.csv', as: 'users', skipInvalid: true });
    expect(imports.rejected.map((line) => line.split(' ', 2).join(' '))).to.deep.equal([
      'line 2',
      'line 3',
      'line 4',
    ]);
    expect(imports.messages).to.deep.equal([
      'The row has 1 cell, and there are 2 headings.',
      'The row has 3 cells, and there are 2 headings.',
      'The row has 5 cells, and there are 2 headings.',
    ]);
  });

  it('says once that a column is missing, and lists the columns', async () => {
    const csv = 'Full name;E-Mail\nAnn;a@example.com\nBob;b@example.com\n';
    const sentence = await failureOf(
      imports.run(csv, { file: 'a.csv', as: 'users', skipInvalid: true }),
    );
    expect(sentence).to.equal(
      `${imports.folder}/a.csv has no column for the field "name". Its columns are "Full name", "E-Mail". ` +
        'Rename one of its columns, or use --transform FILE.',
    );
    expect(imports.rejected).to.deep.equal([]);
  });

  it('rejects a heading that is too long, and repeated headings', async () => {
    const long = 'x'.repeat(70);
    const sentence = await failureOf(
      imports.run(`name,${long}\nA,\n`, { file: 'a.csv', as: 'users' }),
    );
    expect(sentence).to.match(
      /a\.csv has a column whose name is longer than 64 characters: "x{59}…\./,
    );
    const users = () => ({ name: 'A' });
    await imports.run(`name,${long}\nA,\n`, { file: 'a.csv', users });
    expect(imports.added.users).to.equal(1);
    const twice = imports.run('name,name\n', { file: 'a.csv', as: 'users' });
    expect(await failureOf(twice)).to.match(
      /has two columns with the heading "name": rename one\.$/,
    );
  });

  it('converts cells to the types of a schema', async () => {
    const types = { views: 'integer', hot: ['boolean', 'null'], rate: 'number', code: 'string' };
    const properties = Object.entries({ ...types, tags: 'array' }).map(([name, type]) => [
      name,
      { type },
    ]);
    const schema = {
      jsonSchema: { properties: Object.fromEntries(properties) },
      '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
    } as const;
    const csv =
      'title,Views,hot,rate,code,tags\nA,7,TRUE,-1.5,7,"a, b"\nB,NULL,0, 1e3 ,,\nC,010,yes,"1,5","""A""",[\n';
    await imports.run(csv, { file: 'a.csv', as: 'posts', customFields: { posts: schema } });
    const found = (await imports.held()).posts.map(({ title, views, hot, rate, code, tags }) => {
      return [title, views, hot, rate, code, tags];
    });
    expect(found.sort()).to.deep.equal([
      ['A', 7, true, -1.5, '7', ['a', 'b']],
      ['B', undefined, false, 1000, undefined, undefined],
      ['C', '010', 'yes', '1,5', '"A"', '['],
    ]);
  });

  it('says how to convert a file that is not UTF-8', async () => {
    for (const content of [
      Buffer.from('name\n\xe9\n', 'latin1'),
      Buffer.from('\ufeffname\n', 'utf16le'),
    ]) {
      const sentence = await failureOf(imports.run(content, { file: 'a.csv', as: 'users' }));
      expect(sentence).to.match(
        /a\.csv is not UTF-8\. Save it as "CSV UTF-8" if .* iconv -f WINDOWS-1252 -t UTF-8/,
      );
    }
  });

  it('passes each row to both functions of a transform', async () => {
    const csv = 'title,author\nP,ann@example.com\nQ,bob@example.com\nR,ANN@example.com\n';
    const seen = new Set<string>();
    const users = ({ author }: Own) => {
      const email = String(author).toLowerCase();
      return seen.size < seen.add(email).size ? { name: email, email } : null;
    };
    const posts = ({ title, author }: Own) => ({ title, authorId: { email: String(author) } });
    expect(await imports.run(csv, { file: 'a.csv', users, posts })).to.include({ omitted: 1 });
    const held = await imports.held();
    const names = new Map(held.users.map(({ id, name }) => [id, name]));
    expect(
      held.posts.map(({ title, authorId }) => [title, names.get(authorId)]),
    ).to.have.deep.members([
      ['P', 'ann@example.com'],
      ['Q', 'bob@example.com'],
      ['R', 'ann@example.com'],
    ]);
    expect(text(held.users.length)).to.equal('2');
  });
});
