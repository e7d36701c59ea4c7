import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { openSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { runProgram } from '../../../src/cli/program.ts';
import type { Progress } from '../../../src/cli/progress.ts';
import { checkFile } from '../../../src/cli/transfer/check-file.ts';
import { copyRecords } from '../../../src/cli/transfer/copy-records.ts';
import { exportFile } from '../../../src/cli/transfer/export-file.ts';
import { fileSource } from '../../../src/cli/transfer/file-source.ts';
import { storeSource } from '../../../src/cli/transfer/source.ts';
import type { Store } from '../../../src/ports/store.ts';
import { blocksOf, shown } from '../../docs/markdown.ts';
import { temporaryDirectory } from '../../support/repository-copy.ts';
import { rostrum } from '../../support/server.ts';
import { refusalOf } from '../refusal.ts';
import { contentOf, fill, post, records, transferOf, user } from './records.ts';

const quiet: Progress = { begin() {}, advance() {}, end() {}, stop() {} };
const given = records(60);

function options(signal = new AbortController().signal) {
  return { progress: quiet, signal };
}

async function restoreFile(path: string, store: Store): Promise<unknown> {
  const { progress, signal } = options();
  const file = await checkFile(path, { progress, signal });
  return copyRecords(fileSource(file, signal), store, { confirm() {}, progress, signal });
}

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

  const exported = (signal?: AbortSignal) => {
    const run = options(signal);
    return exportFile(storeSource(store, run.signal), path, run);
  };

  /** Does something when posts are read for the nth time. */
  const onScan = (nth: number, act: () => unknown) => {
    const { posts } = transferOf(store);
    const scan = posts.scan.bind(posts);
    let scans = 0;
    posts.scan = async (request) => {
      if (++scans === nth) await act();
      return scan(request);
    };
  };

  it('have a record a line, users before posts, by id, and a last line with the sum', async () => {
    const summary = await exported();
    const lines = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).to.deep.equal([
      ...given.users.map((stored) => ({ kind: 'user', ...stored })),
      ...given.posts.map((stored) => ({ kind: 'post', ...stored })),
      { kind: 'end', format: 1, ...summary },
    ]);
    expect(existsSync(`${path}.part`)).to.equal(false);
  });

  it('make a store equal to the one that they are of', async () => {
    const summary = await exported();
    const other = createMemoryStore();
    expect(await restoreFile(path, other)).to.deep.equal(summary);
    expect(await contentOf(other)).to.deep.equal(given);
    expect(await restoreFile(path, other)).to.deep.equal(summary);
  });

  it('are written and loaded by the program, which takes nothing away unasked', async function () {
    this.timeout(60_000);
    const url = (name: string) => `sqlite:${join(folder.path, name)}`;
    const source = openSqliteStore({ path: join(folder.path, 'source.db') });
    await fill(source, given);
    await source.close();
    const written = await rostrum('export', path, '--store', url('source.db'));
    expect(written.code, written.stderr).to.equal(0);
    expect(written.stdout).to.match(/^Exported, and equal to the store: 60 users, 600 posts, /);
    const loaded = await rostrum('restore', path, '--store', url('target.db'));
    expect([loaded.code, loaded.stdout.split(':')[0]]).to.eql([
      0,
      'Restored, and equal to the file',
    ]);
    const target = openSqliteStore({ path: join(folder.path, 'target.db') });
    expect(await contentOf(target)).to.deep.equal(given);
    await target.users.create(user(999));
    await target.close();
    const refused = await rostrum('restore', path, '--store', url('target.db'));
    expect([refused.code, refused.stdout]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(
      /\nThe store holds 1 record that .* use --yes to lose them\.\n$/,
    );
    const again = await rostrum('restore', path, '--yes', '--store', url('target.db'));
    expect(again.code).to.equal(0);
    expect(again.stderr).to.match(
      /^The store holds 1 record that the source does not have .*: they go\.$/m,
    );
  });

  it('are refused by the program in one sentence when they are torn', async () => {
    await exported();
    const torn = readFileSync(path, 'utf8').slice(0, -200);
    writeFileSync(path, torn);
    const { code, stdout, stderr } = await rostrum(
      ...['restore', path, '--store', `sqlite:${join(folder.path, 'none.db')}`],
    );
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/export\.jsonl, line 660 is cut off: .*\.\n$/);
    expect(existsSync(join(folder.path, 'none.db'))).to.equal(false);
  });

  it('look as docs/operations.md shows', async () => {
    const times = { createdAt: '2020-01-01T00:00:00.000Z', updatedAt: '2020-01-01T00:00:00.000Z' };
    store = createMemoryStore();
    await store.users.create({ id: 'a', name: 'Ada', email: null, ...times });
    const text = { id: 'o', title: 'On engines', body: '', authorId: 'a' };
    await fill(store, { posts: [{ record: { ...text, ...times }, version: 3 }] });
    await exported();
    const [example] = blocksOf('docs/operations.md').filter(({ text }) =>
      text.startsWith('{"kind"'),
    );
    expect(readFileSync(path, 'utf8')).to.match(shown(example?.text ?? 'nothing'));
  });

  it('of an empty store are a line', async () => {
    store = createMemoryStore();
    await exported();
    expect(readFileSync(path, 'utf8')).to.match(
      /^\{"kind":"end","format":1,"users":0,"posts":0,.*\}\n$/,
    );
    await restoreFile(path, createMemoryStore());
  });

  it('are files and no folders', async () => {
    const refusal = refusalOf(restoreFile(folder.path, createMemoryStore()));
    expect(await refusal).to.match(/ is not a file: /);
  });

  it('are named where they, or their folder, are not there', async () => {
    const store = `sqlite:${join(folder.path, 'source.db')}`;
    await openSqliteStore({ path: join(folder.path, 'source.db') }).close();
    const none = join(folder.path, 'none');
    for (const [sentence, ...args] of [
      [`There is no folder ${none}: make it first.`, 'export', join(none, 'x.jsonl')],
      [`There is no file ${none}.`, 'restore', none],
      [`There is no file ${none}.`, 'import', none],
    ] as const) {
      expect(await refusalOf(runProgram([...args, '--store', store]))).to.equal(sentence);
    }
  });

  it('are not written over', async () => {
    writeFileSync(path, 'precious');
    expect(await refusalOf(exported())).to.match(/exists/);
    expect(readFileSync(path, 'utf8')).to.equal('precious');
  });

  it('are written anew after an interruption', async () => {
    const abort = new AbortController();
    onScan(3, () => abort.abort());
    const error = await exported(abort.signal).catch((reason: unknown) => reason);
    expect(error).to.equal(abort.signal.reason);
    expect(existsSync(path)).to.equal(false);
    writeFileSync(`${path}.part`, 'more than the whole export '.repeat(100_000));
    await exported();
    const other = createMemoryStore();
    await restoreFile(path, other);
    expect(await contentOf(other)).to.deep.equal(given);
  });

  it('are not made of a store that changes on the way', async () => {
    onScan(2, () => store.users.create(user(999)));
    expect(await refusalOf(exported())).to.match(/somebody wrote to it meanwhile; run the same/);
    expect(existsSync(path)).to.equal(false);
    await exported();
    const other = createMemoryStore();
    await restoreFile(path, other);
    expect(await contentOf(other)).to.deep.equal(await contentOf(store));
  });

  describe('in which something is wrong', () => {
    const line = (kind: 'user' | 'post', record: object, version: unknown = 1) =>
      JSON.stringify({ kind, version, record });
    const [ada, bob] = [line('user', user(1)), line('user', user(2))];
    const end = `{"kind":"end","format":1,"users":0,"posts":0,"sha256":""}`;
    const deep = JSON.parse('['.repeat(20) + ']'.repeat(20));

    /** What is wrong, the lines of the file, and the number of the wrong line with the sentence. */
    const wrong: [what: string, lines: readonly (string | Buffer)[], message: RegExp][] = [
      ['nothing', [], /has no last line with its counts and checksum/],
      ['no last line', [ada, ''], /has no last line with its counts and checksum/],
      ['a torn line', [ada, ada.slice(0, 50)], /line 2 is cut off/],
      ['no JSON', [ada, '{"kind":', ''], /line 2 is not JSON\.$/],
      ['no object', [ada, '7', ''], /line 2 is not a JSON object/],
      ['another file', ['{', '  "users": []', '}'], /is not an export .* use rostrum import\.$/],
      ['another line', ['{"users": []}'], /is not an export .* use rostrum import\.$/],
      ['an empty line', [ada, '', end, ''], /line 2 is not JSON/],
      ['bytes that are no text', [ada, Buffer.from([0x22, 0xff, 0x22]), ''], /line 2 is not UTF-8/],
      ['another kind', ['{"kind":"comment"}', ''], /line 1 has no "kind" that is/],
      ['another member', [ada.replace('{', '{"own":1,'), ''], /line 1 has a member .*"own"/],
      ['a version of 0', [line('user', user(1), 0), ''], /line 1 has a "version" that is not/],
      ['a version with a fraction', [line('user', user(1), 1.5), ''], /"version"/],
      ['no record', ['{"kind":"user","version":1}', ''], /line 1 has no "record"/],
      ['an empty id', [line('user', user(1, { id: '' })), ''], /"id" is not a text/],
      ['no instant', [line('user', user(1, { createdAt: '2020' })), ''], /"createdAt"/],
      ['a broken rule', [line('user', user(1, { email: 'x' })), ''], /rule at \/email: .* address/],
      ['too deep a record', [line('post', post(1, { own: deep })), ''], /rule at \/own/],
      ['a text to trim', [line('user', user(1, { name: ' A' })), ''], /not as it would be stored/],
      ['no body', [line('post', { ...post(1), body: undefined }), ''], /not as it would be stored/],
      ['an id again', [ada, ada, ''], /line 2 has an id that does not come after/],
      ['ids in another order', [bob, ada, ''], /line 2 has an id/],
      ['a user behind posts', [line('post', post(1)), ada, ''], /line 2 has a user, and posts/],
      [
        'an address twice',
        [ada, bob.replace('er.2@', 'ER.1@'), ''],
        /line 2 has the email address/,
      ],
      ['no author', [line('post', post(1, { authorId: 'no' })), ''], /line 1 names an author/],
      ['a later format', [end.replace('1', '2'), ''], /line 1 is of the format 2/],
      ['no counts', ['{"kind":"end","format":1}', ''], /line 1 is the last one, and has no counts/],
      ['another sum', [end, ''], /line 1 states 0 users/],
    ];

    for (const [what, lines, message] of wrong) {
      it(`are refused with the number of the line: ${what}`, async () => {
        writeFileSync(path, '');
        for (const [i, text] of lines.entries()) {
          if (i > 0) appendFileSync(path, '\n');
          appendFileSync(path, text);
        }
        const other = createMemoryStore();
        expect(await refusalOf(restoreFile(path, other))).to.match(message);
        expect(await contentOf(other)).to.deep.equal({ users: [], posts: [] });
      });
    }

    it('are refused when one letter is another, or a line is missing or one too many', async () => {
      await exported();
      const whole = readFileSync(path, 'utf8');
      for (const [text, message] of [
        [
          whole.replace('"title":"Post 77"', '"title":"Post 78"'),
          /line 661 .* the file was changed/,
        ],
        [whole.split('\n').toSpliced(100, 1).join('\n'), /line 660 .* the file was changed/],
        [`${whole}\n`, /line 662 comes after/],
      ] as const) {
        writeFileSync(path, text);
        expect(await refusalOf(restoreFile(path, createMemoryStore()))).to.match(message);
      }
    });
  });
});
