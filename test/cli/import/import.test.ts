import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { openSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { type List, openDataFile } from '../../../src/cli/import/data-file.ts';
import { readNames } from '../../../src/cli/import/field-names.ts';
import { type ImportOptions, importRecords } from '../../../src/cli/import/import-records.ts';
import type { Refusal } from '../../../src/cli/import/list-import.ts';
import type { Store } from '../../../src/ports/store.ts';
import { later } from '../../../src/testing/fixtures.ts';
import { blocksOf, shown } from '../../docs/markdown.ts';
import { node, outcomeOf } from '../../support/process.ts';
import { repository, temporaryDirectory } from '../../support/repository-copy.ts';
import { rostrum, startCommand } from '../../support/server.ts';
import { openTemporarySqlite } from '../../support/temporary-sqlite.ts';
import { refusalOf } from '../refusal.ts';
import { contentOf, user } from '../transfer/records.ts';

type Own = Record<string, unknown>;

const text = (value: unknown) => JSON.stringify(value);
const lines = (values: readonly unknown[]) => values.map((value) => `${text(value)}\n`).join('');

function data(file: string): Own[] {
  const records = JSON.parse(readFileSync(join(repository, 'test', 'data', file), 'utf8'));
  return records.map((record: Own, i: number) => ({ ...record, id: i + 1 }));
}

describe('rostrum import', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let store: Store;
  let refused: string[];
  let added: Record<List, number>;

  beforeEach(async () => {
    folder = await temporaryDirectory();
    store = openTemporarySqlite();
    refused = [];
    added = { users: 0, posts: 0 };
  });
  afterEach(async () => {
    await store.close();
    await folder[Symbol.asyncDispose]();
  });

  const url = () => `sqlite:${join(folder.path, 'rostrum.db')}`;

  /** How many records the file of `url` holds; none when it is not there yet. */
  function countOf(list: List): number {
    const path = join(folder.path, 'rostrum.db');
    if (!existsSync(path)) return 0;
    const file = new DatabaseSync(path, { readOnly: true });
    try {
      return Number(file.prepare(`SELECT count(*) AS n FROM ${list}`).get()?.n);
    } catch {
      return 0; // The tables are not there yet.
    } finally {
      file.close();
    }
  }

  interface Given extends Partial<ImportOptions> {
    readonly file?: string;
    readonly as?: List;
    readonly map?: readonly string[];
    /** Called when a part of the import begins: `checking posts (bytes)`, `posts`. */
    onBegin?(what: string): unknown;
  }

  function write(content: string | Buffer, file = 'db.json'): string {
    const path = join(folder.path, file);
    writeFileSync(path, content);
    return path;
  }

  async function importing(content: unknown, given: Given = {}) {
    const { file, as, map = [], onBegin = () => {}, ...options } = given;
    const raw = typeof content === 'string' || Buffer.isBuffer(content);
    const path = write(raw ? content : text(content), file);
    return importRecords(await openDataFile(path, as), store, {
      keepIds: false,
      skipInvalid: false,
      names: readNames(map),
      signal: new AbortController().signal,
      progress: { begin: (what) => onBegin(what), advance() {}, end() {}, stop() {} },
      report({ place, issues }) {
        for (const { pointer, code } of issues) refused.push(`${place} ${pointer} ${code}`);
      },
      onAdded(list, count) {
        added[list] += count;
      },
      ...options,
    });
  }

  const held = async () => {
    const { users, posts } = await contentOf(store);
    const plain = (one: { record: object }) => one.record as Own;
    return { users: users.map(plain), posts: posts.map(plain) };
  };
  const isEmpty = { users: [], posts: [] };

  it('takes an object of arrays, as json-server has it, and posts keep their authors', async function () {
    this.timeout(60_000);
    const [users, posts] = [data('users.json'), data('posts.json')];
    const path = write(text({ posts, comments: [{ id: 1, postId: 1 }], users }));
    const file = join(folder.path, 'rostrum.db');
    const args = ['import', path, '--map', 'userId=authorId', '--store', `sqlite:${file}`];
    const { code, stdout, stderr } = await rostrum(...args);
    const [example] = blocksOf('docs/operations.md').filter((block) =>
      block.text.startsWith('Added'),
    );
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(shown(example?.text.replace('db.json', '…') ?? 'nothing'));
    await store.close();
    store = openSqliteStore({ path: file });
    const found = await held();
    // In the order of the file, which is the order of ids, too.
    for (const [i, { id, createdAt, updatedAt, ...rest }] of found.users.entries()) {
      expect({ ...rest, id: i + 1 }).to.deep.equal(users[i]);
      expect(createdAt).to.equal(updatedAt);
    }
    for (const [i, { id, createdAt, updatedAt, authorId, ...rest }] of found.posts.entries()) {
      const userId = found.users.findIndex((author) => author.id === authorId) + 1;
      expect({ ...rest, userId, id: i + 1 }).to.deep.equal(posts[i]);
    }
  });

  it('takes an array, JSON Lines and CSV of one list', async () => {
    const users = [{ name: 'Ada, "A"', born: '1815' }, { name: 'Grace\nHopper' }];
    const csv = '\ufeffname,born\r\n"Ada, ""A""",1815\r\n\r\n"Grace\nHopper",\r\n';
    const files: [file: string, content: string][] = [
      ['users.json', text(users)],
      ['users.jsonl', `${lines(users)}\n`],
      ['users.ndjson', `\ufeff${lines(users).trimEnd()}`],
      ['users.csv', csv],
      [
        'users.CSV',
        csv.replace('name,born', 'name;born').replace('",1815', '";1815').replace('",\r', '";\r'),
      ],
      ['more.csv', csv.replaceAll(',', '\t').replace('Ada\t', 'Ada,').replace('name\t', 'name\t')],
    ];
    for (const [n, [file, content]] of files.entries()) {
      await importing(content, { file, as: 'users' });
      const found = (await held()).users.slice(n * 2);
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
      [/is not the JSON that it should be: there is no \{/, '', { as: 'users' }],
      [
        /is an export: load it by rostrum restore\.$/,
        '{"kind":"end","format":1}\n',
        { file: 'a.jsonl' },
      ],
      [/has no users and no posts, but authors, tags\.$/, '{"authors":[],"tags":[1]}', {}],
      [/has no posts\.$/, '', { file: 'a.jsonl', as: 'posts' }],
      [/--map "userId" is not like/, '{}', { map: ['userId'] }],
      [/names the column "name" twice/, 'name,name\n', { file: 'a.csv', as: 'users' }],
      [/names a column "__proto__"/, '__proto__\nx\n', { file: 'a.csv', as: 'users' }],
      [/is not the CSV .* at line 3/, 'name\nA\n"B"x\n', { file: 'a.csv', as: 'users' }],
      [/is not the CSV .* at line 3/, 'name,note\nA,ok\nB,5" x\n', { file: 'a.csv', as: 'users' }],
      [/is not UTF-8/, Buffer.from('name\n\xe9\n', 'latin1'), { file: 'a.csv', as: 'users' }],
    ];
    for (const [sentence, content, given] of cases) {
      expect(await refusalOf(importing(content, given))).to.match(sentence);
    }
    const directory = openDataFile(folder.path);
    expect(await refusalOf(directory)).to.match(/ is not a file\.$/);
    expect(await held()).to.deep.equal(isEmpty);
  });

  it('names fields anew, for one list or both, and leaves fields out', async () => {
    const map = ['users.label=name', 'posts.label=title', 'mail=email', 'password='];
    const given = {
      users: [{ label: 'A', mail: 'a@b.c', password: 'x' }],
      posts: [{ label: 'P' }],
    };
    await importing(given, { map });
    const { users, posts } = await held();
    expect(users[0]).to.include({ name: 'A', email: 'a@b.c' }).and.not.to.have.property('password');
    expect(posts[0]).to.include({ title: 'P' });
    expect(await refusalOf(importing([{ a: 'A', name: 'B' }], { as: 'users', map: ['a=name'] })));
    expect(refused).to.deep.equal(['users[0] /name key']);
  });

  it('adds nothing when no record has a field that is named anew', async () => {
    const given = { users: [{ id: 1, name: 'A' }], posts: [{ title: 'P', userId: 1 }] };
    for (const wrong of ['userID=authorId', 'users.userId=authorId', 'secret=']) {
      const map = ['userId=authorId', 'name=name', wrong];
      const sentence = await refusalOf(importing(given, { map, skipInvalid: true }));
      expect(sentence).to.match(/^Nothing is added, because no record has the field of --map "/);
      expect(sentence).to.include(`"${wrong}"`);
    }
    expect(await held()).to.deep.equal(isEmpty);
  });

  it('keeps ids and times on request', async () => {
    const times = { createdAt: '2020-01-01T02:00:00+01:00', updatedAt: '2021-01-01T00:00:00Z' };
    const given = {
      users: [
        { id: 7, name: 'A', ...times },
        { name: 'B', createdAt: times.createdAt },
      ],
      posts: [{ id: 'p', title: 'P', authorId: 7, updatedAt: times.updatedAt }],
    };
    await importing(given, { keepIds: true });
    const [created, updated] = ['2020-01-01T01:00:00.000Z', '2021-01-01T00:00:00.000Z'];
    const { users, posts } = await held();
    const other = users.find(({ name }) => name === 'B');
    expect(other).to.include({ createdAt: created, updatedAt: created });
    expect(users.find(({ id }) => id === '7')).to.include({
      createdAt: created,
      updatedAt: updated,
    });
    expect(posts).to.deep.equal([
      { id: 'p', title: 'P', body: '', authorId: '7', createdAt: updated, updatedAt: updated },
    ]);
  });

  it('refuses to keep the id of a record that was deleted, and adds nothing', async () => {
    const posts = [
      { id: 'p', title: 'P' },
      { id: 'q', title: 'Q' },
    ];
    await importing(
      { users: [{ id: 'u', name: 'U' }], posts: posts.slice(0, 1) },
      { keepIds: true },
    );
    await store.posts.delete('p');
    await store.users.delete('u', 'refuse', later);
    const again = { users: [{ id: 'u', name: 'U' }], posts };
    await refusalOf(importing(again, { keepIds: true }));
    expect(refused).to.deep.equal(['users[0] /id taken', 'posts[0] /id taken']);
    expect(await held()).to.deep.equal(isEmpty);
  });

  it('gives posts the author of the store who has the kept id', async () => {
    const users = [
      { id: 1, name: 'A', email: 'a@b.c' },
      { id: 2, name: '' },
      { id: 3, name: 'C', email: 'A@b.c' },
    ];
    await importing({ users: users.slice(0, 1) }, { keepIds: true });
    const posts = users.map(({ id }) => ({ title: `P${id}`, authorId: id }));
    await importing({ users, posts }, { keepIds: true, skipInvalid: true });
    expect(refused).to.deep.equal([
      ...['users[0] /id taken', 'users[0] /email taken', 'users[1] /name too-short'],
      ...['users[2] /email taken', 'posts[1] /authorId unknown', 'posts[2] /authorId unknown'],
    ]);
    expect((await held()).posts.map(({ authorId }) => authorId)).to.deep.equal(['1']);
  });

  it('takes authors of the store, too', async () => {
    const { record } = await store.users.create(() => user(1));
    const given = { users: [{ id: 1, name: 'A' }], posts: [{ title: 'P', authorId: record.id }] };
    await importing(given);
    expect((await held()).posts[0]?.authorId).to.equal(record.id);
  });

  it('reports everything that a rule refuses, with its place, and adds nothing', async () => {
    await store.users.create(() => user(1, { id: '2' }));
    const given = {
      users: [
        { id: 1, name: 'A', email: 'a@b.c' },
        { id: 2, name: '', email: 'x' },
        { id: 3, name: 'C', email: 'A@B.C' },
        { id: 1, name: 'D' },
        { name: 'E', email: 'USER.1@example.com' },
        7,
        { id: 1e300, name: 'F' },
      ],
      posts: [
        { title: 'P', authorId: 1 },
        { title: 'P', authorId: 2 },
        { authorId: 'nobody' },
        { title: 'P', authorId: {} },
        { title: 'P', authorId: 1e300, id: 1, 'a\u0000': 1 },
        { title: 'P', id: 1 },
      ],
    };
    const before = await held();
    const sentence = await refusalOf(importing(given));
    expect(sentence).to.match(
      /^Nothing is added, because 10 of 13 records are refused \(.*\): .*--skip-invalid/,
    );
    expect(sentence).to.contain('(2 × /email taken, 2 × /authorId unknown, 1 × /name too-short, ');
    expect(refused).to.deep.equal([
      'users[1] /name too-short',
      'users[1] /email invalid',
      'users[2] /email taken',
      'users[3] /id taken',
      'users[4] /email taken',
      'users[5]  type',
      'users[6] /id number-range',
      'posts[1] /authorId unknown',
      'posts[2] /title required',
      'posts[2] /authorId unknown',
      'posts[3] /authorId type',
      'posts[4] /authorId number-range',
      'posts[4] /a\u0000 key',
    ]);
    expect(await held()).to.deep.equal(before);
    expect(await importing(given, { skipInvalid: true })).to.include({ refused: 10 });
    expect(added).to.deep.equal({ users: 1, posts: 2 });
    const after = await held();
    expect([after.users.length, after.posts.length]).to.deep.equal([2, 2]);
  });

  it('counts the reasons, and names --skip-invalid only where there are other records', async () => {
    const names = ['', 'A', ...Array.from({ length: 25 }, (_, n) => `B${n}`)];
    const users = names.map((name, n) => ({ name, [`x${n}\0`]: 1 }));
    expect(await refusalOf(importing({ users }))).to.match(
      /^Nothing is added, because 27 of 27 records are refused \(8 × other reasons, 1 × \/name too-short, .*\): mend them\.$/,
    );
    expect(await refusalOf(importing({ users: [{ name: '' }, { name: 'A' }] }))).to.equal(
      'Nothing is added, because 1 of 2 records is refused (1 × /name too-short): ' +
        'mend it, or use --skip-invalid to add the others.',
    );
    const { reasons } = await importing({ users: [{}, { name: 'A' }] }, { skipInvalid: true });
    expect(reasons).to.equal('1 × /name required');
  });

  it('says where in a record JSON ends, and that it is no place in the file', async () => {
    const sentences: string[] = [];
    const report = ({ place, issues }: Refusal) =>
      sentences.push(...issues.map(({ message }) => `${place} ${message}`));
    await refusalOf(importing('{"users": [{}, {"name" "A"}]}', { report }));
    expect(sentences.at(-1)).to.match(
      /^users\[1\] It is not JSON: .* at character 8 of this record, /,
    );
  });

  it('refuses ids and times that it cannot keep', async () => {
    await store.users.create(() => user(1));
    const [name, title] = ['A', 'P'];
    const given = {
      users: [
        { name, id: user(1).id },
        { name, id: '' },
        { name, id: '..' },
        { name, id: [] },
        { name, id: 'x'.repeat(256) },
        { name, createdAt: 'yesterday' },
        { name, createdAt: '2020-01-02T00:00:00Z', updatedAt: '2020-01-01T00:00:00Z' },
      ],
      posts: [
        { title, id: 1 },
        { title, id: '1' },
      ],
    };
    await refusalOf(importing(given, { keepIds: true }));
    expect(refused).to.deep.equal([
      'users[0] /id taken',
      'users[1] /id invalid',
      'users[2] /id invalid',
      'users[3] /id type',
      'users[4] /id too-long',
      'users[5] /createdAt invalid',
      'users[6] /updatedAt invalid',
      'posts[1] /id taken',
    ]);
  });

  it('reports the lines of JSON Lines and of CSV', async () => {
    const jsonl = Buffer.from(
      '{"name":"A"}\n\n{"name":\n\xff\n{"name":"A","name":"B"}\n{}',
      'latin1',
    );
    await refusalOf(importing(jsonl, { file: 'a.jsonl', as: 'users' }));
    const csv = 'name,born\nA,1\n\n"\nB\n",2,3\n,"4\n"\nC\n';
    await refusalOf(importing(csv, { file: 'a.csv', as: 'users' }));
    expect(refused).to.deep.equal([
      ...['line 3  invalid', 'line 4  invalid', 'line 5  invalid', 'line 6 /name required'],
      ...['line 4  invalid', 'line 7 /name required', 'line 9  invalid'],
    ]);
  });

  it('applies the schemas of the deployment', async () => {
    const validate = () => ({ issues: [{ message: 'no', path: ['born'] }] });
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const;
    const given = { users: [{ name: 'A' }], posts: [{ title: 'P' }] };
    await refusalOf(importing(given, { ownFields: { users: schema } }));
    expect(refused).to.deep.equal(['users[0] /born invalid']);
  });

  it('reads the schemas from the files that a server has', async function () {
    this.timeout(60_000);
    const schema = write(text({ properties: { born: { type: 'integer' } } }), 'schema.json');
    const path = write(text({ users: [{ name: 'A', born: 'x' }] }));
    const args = ['import', path, '--user-schema', schema, '--store', `sqlite:${path}.db`];
    const { code, stdout } = await rostrum(...args);
    expect([code, stdout]).to.eql([1, 'users[0] /born invalid: Must be of the type integer.\n']);
  });

  it('says when somebody writes to the store between check and addition', async () => {
    const given = { users: [{ name: 'A' }, { name: 'B', email: user(1).email }] };
    const onBegin = (what: string) => what === 'users' && store.users.create(() => user(1));
    const sentence = await refusalOf(importing(given, { onBegin }));
    expect(sentence).to.match(/^1 record was refused while the others were added: somebody/);
    expect([refused, added.users]).to.deep.equal([['users[1] /email taken'], 1]);
  });

  it('ends at a signal, and knows what it added until then', async () => {
    const abort = new AbortController();
    const posts = Array.from({ length: 1700 }, (_, n) => ({ title: `P${n}` }));
    const onAdded = (list: List, count: number) => {
      added[list] += count;
      if (added.posts >= 1000) abort.abort();
    };
    const given = { file: 'posts.jsonl', as: 'posts', signal: abort.signal, onAdded } as const;
    const error = await importing(lines(posts), given).catch((reason: unknown) => reason);
    expect(error).to.equal(abort.signal.reason);
    expect((await held()).posts.length)
      .to.equal(added.posts)
      .and.to.be.within(1000, 1500);
  });

  for (const [options, left] of [
    [['--keep-ids'], /^Interrupted: .* with --skip-invalid: 100 users and (\d+) posts are added/],
    [[], /^Interrupted: remove the 100 users and (\d+) posts that are added already: /],
  ] as const) {
    it(`says what to do after an interruption ${options.join()}`.trim(), async function () {
      this.timeout(30_000);
      const users = Array.from({ length: 100 }, (_, n) => ({ ...user(n), id: `u${n}` }));
      const posts = Array.from({ length: 60_000 }, (_, n) => {
        return { id: `p${n}`, title: `P${n}`, authorId: `u${n % 100}` };
      });
      const command = ['import', write(text({ users, posts })), '--store', url(), ...options];
      const child = startCommand(command);
      const ended = outcomeOf(child);
      while (countOf('posts') === 0) await sleep(5);
      child.kill('SIGINT');
      const { code, stderr } = await ended;
      expect(code).to.equal(1);
      const last = stderr.trimEnd().split('\n').at(-1) ?? '';
      expect(last).to.match(left);
      const count = Number(left.exec(last)?.[1]);
      expect(countOf('posts')).to.equal(count).and.to.be.below(60_000);
      if (options.length === 0) return;
      expect((await rostrum(...command, '--skip-invalid')).code).to.equal(0);
      expect(countOf('posts')).to.equal(60_000);
    });
  }

  it('holds a part of the file only', async function () {
    this.timeout(30_000);
    const posts = Array.from({ length: 60 }, (_, n) => ({
      title: `P${n}`,
      own: 'x'.repeat(500_000),
    }));
    const path = write(text({ posts }));
    const heap = '--max-old-space-size=40';
    const { code, output } = await node([heap, 'src/main.ts', 'import', path, '--store', url()]);
    expect(code, output).to.equal(0);
  });
});
