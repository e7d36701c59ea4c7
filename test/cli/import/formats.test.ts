import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { openDataFile } from '../../../src/cli/import/data-file.ts';
import { blocksOf, shown } from '../../docs/markdown.ts';
import { repository } from '../../support/repository-copy.ts';
import { rostrum } from '../../support/server.ts';
import { refusalOf } from '../refusal.ts';
import { type Given, Imports, isEmpty, lines, type Own, text } from './imports.ts';

function data(file: string): Own[] {
  const records = JSON.parse(readFileSync(join(repository, 'test', 'data', file), 'utf8'));
  return records.map((record: Own, i: number) => ({ ...record, id: i + 1 }));
}

describe('rostrum import: files', () => {
  const imports = new Imports();

  it('takes an object of arrays, as json-server has it, and posts keep their authors', async function () {
    this.timeout(60_000);
    const [users, posts] = [data('users.json'), data('posts.json')];
    const path = imports.write(text({ posts, comments: [{ id: 1, postId: 1 }], users }));
    const args = ['import', path, '--map', 'userId=authorId', '--store', imports.url];
    const { code, stdout, stderr } = await rostrum(...args);
    const [example] = blocksOf('docs/operations.md').filter((block) =>
      block.text.startsWith('Added'),
    );
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(shown(example?.text.replace('db.json', '…') ?? 'nothing'));
    await imports.store.close();
    imports.store = openSqliteStore({ path: imports.dataFile });
    const found = await imports.held();
    // In the order of the file, which is the order of ids, too.
    for (const [i, { id, createdAt, updatedAt, ...rest }] of found.users.entries()) {
      expect({ ...rest, id: i + 1 }).to.deep.equal(users[i]);
      expect(createdAt).to.equal(updatedAt);
    }
    for (const [i, { id, createdAt, updatedAt, authorId, ...rest }] of found.posts.entries()) {
      const userId = found.users.findIndex((author) => author.id === authorId) + 1;
      const { publishedAt, ...given } = rest;
      expect({ ...given, userId, id: i + 1 }).to.deep.equal(posts[i]);
      expect(publishedAt).to.equal(createdAt);
    }
  });

  it('takes an array, JSON Lines and CSV of one list', async () => {
    const users = [{ name: 'Ada, "A"', born: '18\n15' }, { name: 'Grace' }];
    const csv = '\ufeffname,born\r\n"Ada, ""A""","18\n15"\r\n\r\nGrace,\r\n';
    const files: [file: string, content: string][] = [
      ['users.json', text(users)],
      ['users.jsonl', `${lines(users)}\n`],
      ['users.ndjson', `\ufeff${lines(users).trimEnd()}`],
      ['users.csv', csv],
      [
        'users.CSV',
        csv.replace('name,born', 'name;born').replace('","18', '";"18').replace('Grace,', 'Grace;'),
      ],
      ['more.csv', csv.replaceAll(',', '\t').replace('Ada\t', 'Ada,').replace('name\t', 'name\t')],
    ];
    for (const [n, [file, content]] of files.entries()) {
      await imports.run(content, { file, as: 'users' });
      const found = (await imports.held()).users.slice(n * 2);
      const plain = found.map(({ name, born }) => ({ name, ...(born !== undefined && { born }) }));
      expect(plain, file).to.deep.equal(users);
    }
  });

  it('says which packages and options a file needs', async () => {
    const cases: [RegExp, content: string | Buffer, Given][] = [
      [/^\S+a\.jsonl does not say what it holds: use --as/, '{}', { file: 'a.jsonl' }],
      [/^\S+a\.csv does not say/, 'name\nAda\n', { file: 'a.csv' }],
      [/does not say/, ' [{}]', {}],
      [/is a JSON object, .* leave out --as/, '{}', { as: 'users' }],
      [/db\.json is not valid JSON: /, '', { as: 'users' }],
      [/^[^\n]* is not valid JSON: [^\n]*\.$/, '[1,\n2\n,x]', { as: 'users' }],
      [/db\.json has the key "users" twice\./, '{"users":[],"users":[]}', {}],
      [
        /db\.json is not UTF-8: save it as UTF-8\.$/,
        Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]),
        {},
      ],
      [/is neither a JSON object nor an array/, '7', {}],
      [/has "posts" that are no array/, '{"posts":{}}', {}],
      [/has no users and no posts, but authors, tags\.$/, '{"authors":[],"tags":[1]}', {}],
      [/has no posts\.$/, '', { file: 'a.jsonl', as: 'posts' }],
      [/--map "userId" is not like/, '{}', { map: ['userId'] }],
      [/names the column "name" twice/, 'name,name\n', { file: 'a.csv', as: 'users' }],
      [/names a column "__proto__"/, '__proto__\nx\n', { file: 'a.csv', as: 'users' }],
      [/is not valid CSV: .* at line 3/, 'name\nA\n"B"x\n', { file: 'a.csv', as: 'users' }],
      [
        /is not valid CSV: .* at line 3/,
        'name,note\nA,ok\nB,5" x\n',
        { file: 'a.csv', as: 'users' },
      ],
      [/is not UTF-8/, Buffer.from('name\n\xe9\n', 'latin1'), { file: 'a.csv', as: 'users' }],
      [/is not UTF-8/, Buffer.from('{"a":"\xe9"}', 'latin1'), { file: 'a.jsonl', as: 'users' }],
    ];
    for (const [sentence, content, given] of cases) {
      expect(await refusalOf(imports.run(content, given))).to.match(sentence);
    }
    const large = imports.write('', 'large.json');
    truncateSync(large, 256 * 1024 * 1024 + 1);
    const { code, stderr } = await rostrum('import', large, '--store', imports.url);
    expect([code, stderr]).to.deep.equal([
      1,
      `${large} has more than 256 MiB: write it as JSON Lines, a record a line, in a file named .jsonl.\n`,
    ]);
    const directory = openDataFile(imports.folder);
    expect(await refusalOf(directory)).to.match(/ is not a file\.$/);
    expect(await imports.held()).to.deep.equal(isEmpty);
  });

  it('names fields anew, for one list or both, and leaves fields out', async () => {
    const map = ['users.label=name', 'posts.label=title', 'mail=email', 'password='];
    const given = {
      users: [{ label: 'A', mail: 'a@b.c', password: 'x' }],
      posts: [{ label: 'P' }],
    };
    await imports.run(given, { map });
    const { users, posts } = await imports.held();
    expect(users[0]).to.include({ name: 'A', email: 'a@b.c' }).and.not.to.have.property('password');
    expect(posts[0]).to.include({ title: 'P' });
    await refusalOf(imports.run([{ a: 'A', name: 'B' }], { as: 'users', map: ['a=name'] }));
    expect(imports.refused).to.deep.equal(['users[0] /name key']);
  });

  it('adds nothing when no record has a field that is named anew', async () => {
    const given = { users: [{ id: 1, name: 'A' }], posts: [{ title: 'P', userId: 1 }] };
    for (const wrong of ['userID=authorId', 'users.userId=authorId', 'secret=']) {
      const map = ['userId=authorId', 'name=name', wrong];
      const sentence = await refusalOf(imports.run(given, { map, skipInvalid: true }));
      expect(sentence).to.match(/^Nothing is added, because no record has the field of --map "/);
      expect(sentence).to.include(`"${wrong}"`);
    }
    expect(await imports.held()).to.deep.equal(isEmpty);
  });
});
