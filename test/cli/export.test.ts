import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import { exportFile } from '../../src/cli/export.ts';
import { runProgram } from '../../src/cli/program.ts';
import type { Store } from '../../src/ports/store.ts';
import { blocksOf, shown } from '../docs/markdown.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { rostrum } from '../support/server.ts';
import { failureOf } from './failure.ts';
import { contentOf, fill, records, transferOf } from './transfer/records.ts';

const progress = () => {};
const given = records(60);

describe('exported files', () => {
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  let store: Store;
  let path: string;

  beforeEach(async () => {
    folder = await temporaryDirectory();
    path = join(folder.path, 'export.jsonl');
    store = createMemoryStore();
    await fill(store, given);
  });

  afterEach(() => folder[Symbol.asyncDispose]());

  const exported = (signal = new AbortController().signal) =>
    exportFile(store, path, { progress, signal });

  it('have one record per line, users before posts, ordered by id', async () => {
    expect(await exported()).to.deep.equal({ users: 60, posts: 600 });
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).to.deep.equal([
      ...given.users.map(({ record }) => ({ user: record })),
      ...given.posts.map(({ record }) => ({ post: record })),
    ]);
    expect(existsSync(`${path}.part`)).to.equal(false);
  });

  it('can be imported with the same ids, times, fields and declarations', async function () {
    this.timeout(60_000);
    const url = (name: string) => `sqlite:${join(folder.path, name)}`;
    const declaredFields = {
      posts: { rank: 'number', slug: { type: 'text', unique: true } },
    } as const;
    const source = openSqliteStore({ path: join(folder.path, 'source.db'), declaredFields });
    await fill(source, given);
    await source.close();
    const written = await rostrum('export', path, '--store', url('source.db'));
    expect(written.stdout, written.stderr).to.match(/^Exported 60 users and 600 posts\n/);
    const load = ['import', path, '--keep-ids', '--store', url('target.db')];
    const loaded = await rostrum(...load);
    expect(loaded.stdout, loaded.stderr).to.match(/^Added 60 users and 600 posts\n/);
    const target = openSqliteStore({ path: join(folder.path, 'target.db') });
    const plain = ({ users, posts }: typeof given) => [...users, ...posts].map((one) => one.record);
    expect(plain(await contentOf(target))).to.deep.equal(plain(given));
    expect(target.declaredFields).to.deep.equal({ users: {}, ...declaredFields });
    await target.close();
    const again = await rostrum(...load);
    expect([again.code, again.stdout.split('\n')[0]]).to.deep.equal([
      0,
      'Added 0 users and 0 posts; there already: 660',
    ]);
  });

  it('are rejected if a line is invalid, and the message names the line', async () => {
    writeFileSync(
      path,
      '\ufeff{ "user": {"name":"Ada"}}\n{"comment":{}}\n{"post":{"title":"A"},"n":1}\n',
    );
    const outcome = await rostrum('import', path, '--store', `sqlite:${join(folder.path, 'a.db')}`);
    expect(outcome.code).to.equal(2);
    expect(outcome.stdout).to.equal(
      [2, 3]
        .map((n) => `line ${n} invalid: It is neither {"user":{…}} nor {"post":{…}}.\n`)
        .join(''),
    );
  });

  it('are empty for an empty store', async () => {
    store = createMemoryStore();
    expect(await exported()).to.deep.equal({ users: 0, posts: 0 });
    expect(readFileSync(path, 'utf8')).to.equal('');
  });

  it('look as docs/operations.md shows', async () => {
    const times = { createdAt: '2020-01-01T00:00:00.000Z', updatedAt: '2020-01-01T00:00:00.000Z' };
    store = createMemoryStore();
    await store.users.create({ id: 'a', name: 'Ada', email: null, ...times });
    await store.posts.create({
      id: 'o',
      title: 'On engines',
      body: '',
      authorId: 'a',
      ...times,
      publishedAt: times.createdAt,
    });
    await exported();
    const [example] = blocksOf('docs/operations.md').filter(({ text }) =>
      text.startsWith('{"user"'),
    );
    expect(readFileSync(path, 'utf8')).to.match(shown(example?.text ?? 'nothing'));
  });

  it('are named in the message if they or their folder do not exist', async () => {
    const url = `sqlite:${join(folder.path, 'source.db')}`;
    await openSqliteStore({ path: join(folder.path, 'source.db') }).close();
    const none = join(folder.path, 'none');
    for (const [sentence, ...args] of [
      [`There is no folder ${none}: make it first.`, 'export', join(none, 'x.jsonl')],
      [`There is no file ${none}.`, 'import', none],
    ] as const) {
      expect(await failureOf(runProgram([...args, '--store', url]))).to.equal(sentence);
    }
  });

  it('cannot have the names of other formats', async () => {
    for (const name of ['export.csv', 'export.json', 'export']) {
      const args = ['export', name, '--store', `sqlite:${folder.path}/source.db`];
      expect(await failureOf(runProgram(args))).to.equal(
        `rostrum export writes JSON Lines: use a name that ends in .jsonl, not "${name}".`,
      );
    }
  });

  it('are never overwritten', async () => {
    writeFileSync(path, 'precious');
    expect(await failureOf(exported())).to.match(/exists/);
    expect(readFileSync(path, 'utf8')).to.equal('precious');
  });

  it('are written from the start after an interruption', async () => {
    const abort = new AbortController();
    const { posts } = transferOf(store);
    const scan = posts.scan.bind(posts);
    posts.scan = async (request) => {
      if (request.after !== undefined) abort.abort();
      return scan(request);
    };
    const error = await exported(abort.signal).catch((reason: unknown) => reason);
    expect(error).to.equal(abort.signal.reason);
    expect(existsSync(path)).to.equal(false);
    posts.scan = scan;
    writeFileSync(`${path}.part`, 'more than the whole export '.repeat(100_000));
    await exported();
    expect(readFileSync(path, 'utf8').split('\n')).to.have.lengthOf(661);
  });
});
