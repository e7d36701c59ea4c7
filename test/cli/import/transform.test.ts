import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { loadTransforms } from '../../../src/cli/import/transform.ts';
import { rostrum } from '../../support/server.ts';
import { failureOf } from '../failure.ts';
import { user } from '../transfer/records.ts';
import { Imports, isEmpty, lines, type Own, text } from './imports.ts';

describe('rostrum import --transform', function () {
  this.timeout(60_000);
  const imports = new Imports();

  it('turns a row into one record, several or none, synchronously or not', async () => {
    const posts = async ({ title, n }: Own) => {
      if (n === 0) return null;
      return n === 1 ? { title } : [{ title: `${title} 1` }, { title: `${title} 2` }, {}];
    };
    const rows = [
      { title: 'A', n: 0 },
      { title: 'B', n: 1 },
      { title: 'C', n: 2 },
    ];
    const result = await imports.run(rows, { posts, skipInvalid: true });
    expect(result).to.deep.include({ omitted: 1, records: 4, rejected: 1 });
    expect(imports.rejected).to.deep.equal(['posts[2], record 3 /title required']);
    const titles = (await imports.held()).posts.map(({ title }) => title);
    expect(titles).to.have.members(['B', 'C 1', 'C 2']);
  });

  it('rejects rows for which it throws or returns something else than a record', async () => {
    const made: unknown[] = [undefined, 'text', [[]], 7];
    const posts = ({ n }: Own) => {
      if (n === 0) throw new TypeError(`No n: "\u001b[31m${n}"`);
      if (n === 1) throw 'a text';
      return made[Number(n) - 2] as never;
    };
    await imports.run(lines([0, 1, 2, 3, 4, 5].map((n) => ({ n }))), {
      file: 'a.jsonl',
      posts,
      skipInvalid: true,
    });
    expect(imports.rejected).to.deep.equal([
      ...['line 1  invalid', 'line 2  invalid', 'line 3  invalid'],
      ...['line 4  invalid', 'line 5  invalid', 'line 6  invalid'],
    ]);
    expect(imports.messages.slice(0, 2)).to.deep.equal(['No n: "\u001b[31m0"', 'a text']);
  });

  it('gets the rows in order, one at a time, with their place and file', async () => {
    const calls: unknown[] = [];
    let running = 0;
    const users = async (row: Own, context: { place: string; file: string }) => {
      running += 1;
      await new Promise((done) => setTimeout(done, Number(row.wait)));
      calls.push([running, row.name, context.place, context.file]);
      running -= 1;
      return { name: `${row.name}` };
    };
    const rows = [
      { name: 'A', wait: 5 },
      { name: 'B', wait: 0 },
    ];
    await imports.run(lines(rows), { file: 'a.jsonl', users });
    const file = `${imports.folder}/a.jsonl`;
    expect(calls).to.deep.equal([
      [1, 'A', 'line 1', file],
      [1, 'B', 'line 2', file],
    ]);
  });

  it('finds authors by email address, in the file and in the store', async () => {
    await imports.store.users.create(user(1));
    const { email } = user(1);
    const given = {
      users: [
        { id: 7, name: 'A', email: 'A@Example.com' },
        { name: 'B', email: 'x' },
        { name: 'C', email: 'c@example.com' },
      ],
      posts: [
        'a@example.COM',
        ` ${email} `,
        'c@example.com',
        '',
        'x',
        'nobody@example.com',
        null,
        undefined,
        'a\0',
      ].map((author) => ({ author })),
    };
    const stored = 'posts[1] /authorId unknown';
    const posts = ({ author }: Own) => ({
      title: `= ${String(author).replace('\0', '0')}`,
      authorId: author === null ? null : { email: author as string },
    });
    await imports.run(given, { posts, dryRun: true });
    expect(imports.rejected.splice(0)).to.include(stored);
    expect(imports.messages.splice(0)).to.include(
      'Only a user in the store has this email address, and users can set any address.',
    );
    const options = { posts, skipInvalid: true, matchStoredAuthors: true };
    const { storedAuthors } = await imports.run(given, options);
    expect([...storedAuthors.found]).to.deep.equal([email]);
    expect(imports.rejected).to.deep.equal([
      'users[1] /email invalid',
      'posts[4] /authorId unknown',
      'posts[5] /authorId unknown',
      'posts[7] /authorId type',
      'posts[8] /authorId unknown',
    ]);
    const held = await imports.held();
    const names = new Map(held.users.map(({ id, name }) => [id, name]));
    const authors = held.posts.map(({ title, authorId }) => [title, names.get(authorId)]);
    expect(authors).to.have.deep.members([
      ['= a@example.COM', 'A'],
      [`=  ${email}`, user(1).name],
      ['= c@example.com', 'C'],
      ['=', undefined],
      ['= null', undefined],
    ]);
  });

  it('finds lists anywhere in a JSON document with source', async () => {
    const source = {
      users: ([document]: readonly [{ people: Own[] }]) => document.people.values(),
      posts: ([document]: readonly [{ posts: Own }]) => Object.values(document.posts),
    };
    const post = { title: 'P', authorId: 'a' };
    const given = [{ people: [{ id: 'a', name: 'A' }], posts: { x: post } }];
    await imports.run(given, { source });
    expect(imports.added).to.deep.equal({ users: 1, posts: 1 });
    await imports.run([{ posts: { y: { title: 'Q' } } }], { source, as: 'posts' });
    expect(imports.added).to.deep.equal({ users: 1, posts: 2 });
    const wrong = await failureOf(imports.run([], { source }));
    expect(wrong).to.match(
      /^source\.users of the transform found no list: Cannot read properties of undefined/,
    );
    const none = await failureOf(imports.run({}, { source: { posts: ({ list }) => list } }));
    expect(none).to.match(/^source\.posts of the transform found no list: /);
  });

  it('lists the fields that it did not read, except empty ones', async () => {
    const csv = 'id,title,tags,visibility,empty\n1,A,x,public,\n2,B,,,\n';
    const path = imports.write(csv, 'posts.csv');
    const transform = imports.write('export const posts = ({ title }) => ({ title });', 't.mjs');
    const run = ['import', path, '--transform', transform, '--store', imports.url];
    const { code, stdout } = await rostrum(...run);
    expect([code, stdout.split('\n').slice(1)]).to.deep.equal([
      0,
      [
        `  from ${path}`,
        `  to   ${imports.url}`,
        '  posts: 2 public, 2 without an author, 2 with an empty body',
        '  not used: id, tags, visibility',
        'Published 2 posts ("A", "B"), because they have no publishedAt. To import them as drafts, use --drafts.',
        '',
      ],
    ]);
    const copying = `export const posts = ({ id, ...row }) =>
      [{ ...row, n: id }, Object.assign({}, { title: id, tags: row.tags })][id - 1];`;
    const all = imports.write(copying, 'u.mjs');
    const again = await rostrum(
      ...run.slice(0, 2),
      '--transform',
      all,
      ...run.slice(4),
      '--drafts',
    );
    expect(again.stdout.split('\n').slice(3)).to.deep.equal([
      '  posts: 2 drafts, 2 without an author, 2 with an empty body',
      '  stored as custom fields: tags (1 record, for example "x"), visibility (1 record, for example "public"), n (1 record, for example "1")',
      '',
    ]);
    const some = imports.write(
      'export const posts = (row) => ({ title: { ...row }.title });',
      's.mjs',
    );
    const last = await rostrum(
      ...run.slice(0, 2),
      '--transform',
      some,
      ...run.slice(4),
      '--drafts',
    );
    expect(last.stdout).to.contain('\n  copied, but not stored: tags, visibility\n');
  });

  it('leaves rows out for reasons that the summary counts', async () => {
    const rows = [{ type: 'page' }, { type: 'menu' }, { type: 'menu' }, { type: 'A' }];
    const path = imports.write(text(rows));
    const transform = imports.write(
      `export const posts = ({ type }, { leaveOut }) =>
        type === 'A' ? { title: type, publishedAt: null } : leaveOut(type);`,
      'some.mjs',
    );
    const args = ['import', path, '--transform', transform, '--store', imports.url];
    const { stdout } = await rostrum(...args);
    expect(stdout).to.match(/^Added 0 users and 1 post; left out by the transform: 3\n/);
    expect(stdout).to.contain('\n  left out: 1 page, 2 menu\n');
  });

  it('stops if it never settles, and says at which record', async () => {
    const wait: never[] = [];
    // biome-ignore lint/suspicious/noThenProperty: Transforms can return any thenable.
    const thenable = { then() {} };
    for (const [n, posts] of [() => new Promise(() => wait), () => thenable].entries()) {
      const running = imports.run([{ title: 'A' }], { posts: posts as never, waitMs: 10 });
      expect(await failureOf(running), `${n}`).to.equal(
        'The transform of posts[0] did not end within 0.01 seconds: its promise does not settle.',
      );
    }
    const path = imports.write('await new Promise(() => {}); export const posts = 1;', 'w.mjs');
    expect(await failureOf(loadTransforms(path, undefined, 10))).to.match(
      /^Loading the transform \S+w\.mjs did not end within 0\.01 seconds/,
    );
  });

  it('reports a malformed row once, even with two functions', async () => {
    const users = () => ({ name: 'A' });
    const posts = () => ({ title: 'A' });
    await imports.run('title,b\nA,1\nB\n', { file: 'a.csv', users, posts, skipInvalid: true });
    expect(imports.rejected).to.deep.equal(['line 3  invalid']);
    expect(imports.added).to.deep.equal({ users: 1, posts: 1 });
  });

  it('can be TypeScript, with types from rostrum/import', async () => {
    const module = `
      import type { Transform } from 'rostrum/import';
      export const posts: Transform = (row, { instant, place }) => {
        if (row.title === 'C') throw new Error(\`no \${place}\`);
        return { title: row.title, publishedAt: row.at ? instant(row.at, { timeZone: 'Europe/Berlin' }) : null };
      };`;
    const transform = imports.write(module, 'posts.ts');
    const csv = imports.write('title,at\nA,2019-06-15 10:05\nB,\nC,\n', 'posts.csv');
    const args = [
      'import',
      csv,
      '--transform',
      transform,
      '--store',
      imports.url,
      '--skip-invalid',
    ];
    const { code, stdout, stderr } = await rostrum(...args);
    expect([code, stdout.split('\n').slice(0, 2)], stderr).to.deep.equal([
      2,
      ['line 4 invalid: no line 4', 'Added 0 users and 2 posts; rejected: 1'],
    ]);
    const exported = await rostrum('export', '-', '--store', imports.url);
    expect(exported.stdout)
      .to.include('"publishedAt":"2019-06-15T08:05:00.000Z"')
      .and.include('"publishedAt":null');
  });

  it('is rejected with one sentence if it cannot be used', async () => {
    const cases: [RegExp, string][] = [
      [/^The transform \S+t\.mjs cannot be loaded\. SyntaxError: .*\.$/, 'export const posts = ('],
      [/cannot be loaded\. Error: no\.$/, 'throw new Error("no")'],
      [/must export a function named users or posts\./, 'export const post = () => null;'],
      [/must export a function named users or posts\./, 'export const posts = {};'],
      [
        /must export a function named users or posts\./,
        'export const posts = () => null; export const source = { posts: 1 };',
      ],
    ];
    for (const [n, [sentence, module]] of cases.entries()) {
      // A new name each time, because Node loads a module only once.
      const path = imports.write(module, `${n}t.mjs`);
      expect(await failureOf(loadTransforms(path)), module).to.match(sentence);
    }
    const users = imports.write('export const users = () => null;', 'users.mjs');
    expect(await failureOf(loadTransforms(users, 'posts'))).to.match(
      /^The transform \S+users\.mjs must export a function named posts\./,
    );
    const csv = imports.write('title\nA\n', 'posts.csv');
    const none = `${imports.folder}/none.ts`;
    const { code, stderr } = await rostrum(
      'import',
      csv,
      '--transform',
      none,
      '--store',
      imports.url,
    );
    expect([code, stderr]).to.deep.equal([1, `There is no file ${none}.\n`]);
    expect(await imports.held()).to.deep.equal(isEmpty);
  });

  it('can modify and return the row', async () => {
    const posts = (row: Own) => {
      row.authorId = null;
      delete row.author;
      return row as never;
    };
    await imports.run([{ title: 'A', author: 'x' }], { posts });
    const [post] = (await imports.held()).posts;
    expect(post).to.include({ title: 'A', authorId: null }).and.not.to.have.property('author');
    expect(text(readFileSync(`${imports.folder}/db.json`, 'utf8'))).to.contain('author');
  });
});
