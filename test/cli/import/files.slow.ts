import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openText } from '../../../src/cli/import/text.ts';
import { outcomeOf, start } from '../../support/process.ts';
import { repository } from '../../support/repository-copy.ts';
import { program, rostrum } from '../../support/server.ts';
import { failureOf } from '../failure.ts';
import { type Given, Imports, isEmpty, lines, type Own, text } from './imports.ts';

function data(file: string): Own[] {
  const records = JSON.parse(readFileSync(join(repository, 'test', 'data', file), 'utf8'));
  return records.map((record: Own, i: number) => ({ ...record, id: i + 1 }));
}

describe('rostrum import: files', function () {
  this.timeout(60_000);
  const imports = new Imports();

  it('reads the db.json of json-server, and posts keep their authors', async () => {
    const [users, posts] = [data('users.json'), data('posts.json')];
    const given = { posts, comments: [{ id: 1, postId: 1 }], users };
    await imports.run(given, { posts: ({ userId, ...post }) => ({ ...post, authorId: userId }) });
    const found = await imports.held();
    // Ids are in the order of the file.
    for (const [i, { id, createdAt, updatedAt, ...rest }] of found.users.entries()) {
      expect({ ...rest, id: i + 1 }).to.deep.equal(users[i]);
      expect(createdAt).to.equal(updatedAt);
    }
    for (const [i, { id, createdAt, updatedAt, authorId, ...rest }] of found.posts.entries()) {
      const userId = found.users.findIndex((author) => author.id === authorId) + 1;
      const { publishedAt, ...post } = rest;
      expect({ ...post, userId, id: i + 1 }).to.deep.equal(posts[i]);
      expect(publishedAt).to.equal(createdAt);
    }
  });

  it('detects arrays and JSON Lines by file name and by content', async () => {
    const users = [{ name: 'Ada, "A"', born: '18\n15' }, { name: 'Grace' }];
    const files: [file: string, content: string][] = [
      ['users.json', text(users)],
      ['users', ` \n${text(users)}`],
      ['users.jsonl', `${lines(users)}\n`],
      ['users.ndjson', `\ufeff${lines(users).trimEnd()}`],
      // As mongoexport names them.
      ['lines.json', lines(users)],
      ['users.txt', lines(users)],
    ];
    for (const [n, [file, content]] of files.entries()) {
      await imports.run(content, { file, as: 'users' });
      const found = (await imports.held()).users.slice(n * 2);
      const plain = found.map(({ name, born }) => ({ name, ...(born !== undefined && { born }) }));
      expect(plain, file).to.deep.equal(users);
    }
  });

  it('reads only the list that --as names', async () => {
    await imports.run({ users: [{ name: 'A' }], posts: [{ title: 'P' }] }, { as: 'posts' });
    expect(imports.added).to.deep.equal({ users: 0, posts: 1 });
  });

  it('says what is wrong with a file that it cannot read', async () => {
    const cases: [RegExp, content: string | Buffer, Given][] = [
      [/^\S+a\.jsonl does not say what it contains: use --as/, '{}', { file: 'a.jsonl' }],
      [/^\S+a\.csv does not say/, 'name\nAda\n', { file: 'a.csv' }],
      [/does not say/, ' [{}]', {}],
      [/db\.json is not valid JSON: /, '', { as: 'users' }],
      [/db\.json is not valid JSON: /, '<rss>', {}],
      [/db\.json is not UTF-8\./, Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), {}],
      [/has no array named users or posts\./, '7', {}],
      [
        /has no array named posts\. Its members are users, posts\. .* export "source" from a transform\.$/,
        '{"users":[],"posts":{"a":{}}}',
        {},
      ],
      [
        /has no array named users or posts\. Its members are db\./,
        '{"db":[{"data":{"posts":[]}}]}',
        {},
      ],
      [/has no array named users or posts\. Its members are Posts\./, '{"Posts":[]}', {}],
      [
        /has no array named users or posts\. Its members are data, meta\./,
        '{"data":[{}],"meta":1}',
        {},
      ],
      [/has no records\.$/, '{"users":[{}]}', { as: 'posts' }],
      [/a\.json has no records\.$/, '{"users":[]}', { file: 'a.json' }],
      [/has no records\.$/, '', { file: 'a.jsonl', as: 'posts' }],
      [/has no records\.$/, 'name,email\n', { file: 'a.csv', as: 'users' }],
      [/has no records\.$/, '', { file: 'a.csv', as: 'users' }],
      [/is not UTF-8/, Buffer.from('{"a":"\xe9"}', 'latin1'), { file: 'a.jsonl', as: 'users' }],
      [
        /, line 2: .* the row is longer than 4 MiB/,
        `name\n${'x'.repeat(5_000_000)}`,
        { file: 'a.csv', as: 'users' },
      ],
    ];
    for (const [sentence, content, given] of cases) {
      expect(await failureOf(imports.run(content, given))).to.match(sentence);
    }
    const large = imports.write('', 'large.json');
    truncateSync(large, 256 * 1024 * 1024 + 1);
    const { code, stderr } = await rostrum('import', large, '--store', imports.url);
    expect([code, stderr]).to.deep.equal([
      1,
      `${large} is longer than 256 MiB: convert it to JSON Lines (.jsonl).\n`,
    ]);
    const folder = openText(imports.folder, new AbortController().signal);
    expect(await failureOf(folder)).to.match(/ is a folder\.$/);
    expect(await imports.held()).to.deep.equal(isEmpty);
  });

  it('reads standard input, such as a piped export', async () => {
    const pipe = (script: string) => {
      const [from, to] = [`${imports.url}.from`, imports.url];
      const env = { NODE: process.execPath, MAIN: program, FROM: from, TO: to };
      return outcomeOf(
        start('bash', ['-c', `set -o pipefail; R="$NODE $MAIN"; ${script}`], { env }),
      );
    };
    const csv = await pipe(`printf 'Title;x\\nA;1\\n' | $R import - --as posts --store $FROM`);
    expect(csv.stdout, csv.stderr).to.match(/^Added 0 users and 1 post\n {2}from standard input\n/);
    const json = await pipe(`echo '{"users":[{"name":"A"}]}' | $R import - --store $FROM`);
    expect(json.stdout, json.stderr).to.match(/^Added 1 user and 0 posts\n/);
    const moved = await pipe('$R export - --store $FROM | $R import - --keep-ids --store $TO');
    expect(moved.stdout, moved.stderr).to.match(/^Added 1 user and 1 post\n/);
    expect(moved.stderr).to.match(/^Exported 1 user and 1 post\n {2}from sqlite:/);
    const [from, to] = [
      await pipe('$R export - --store $FROM'),
      await pipe('$R export - --store $TO'),
    ];
    expect(from.stdout.split('\n').length).to.equal(3);
    expect(from.stdout).to.equal(to.stdout);
  });

  it('masks control characters in file names and contents', async () => {
    const esc = '\u001b[31mevil';
    const module = imports.write(
      'export const posts = ({ a }) => { throw new Error(a); };',
      't.mjs',
    );
    const cases: [content: string, file: string, ...args: string[]][] = [
      [`{"${esc}":[1]}`.replace('\u001b', '\\u001b'), 'b.json'],
      [`${esc},${esc}\nx,y\n`, 'd.csv', '--as', 'users'],
      [`${esc}\nx\n`, 'e.csv', '--as', 'users'],
      [`a,${esc}\n${esc},x\n`, 'f.csv', '--transform', module],
      [`name,email\nA,${esc}\u202e\u009b\n`, 'g.csv', '--as', 'users'],
      ['', `${esc}.csv`, '--as', 'users'],
      [`[${esc}`, 'h.json'],
      [`name,${esc}${'x'.repeat(70)}\nA,\n`, 'i.csv', '--as', 'users'],
    ];
    for (const [content, file, ...args] of cases) {
      const path = imports.write(content, file);
      const { output } = await rostrum('import', path, ...args, '--store', imports.url);
      expect(output, file).to.match(/\\u(?:\{1b\}|001b)\[31mevil/);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
      expect(output, file).not.to.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });
});
