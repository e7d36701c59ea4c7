import { expect } from 'chai';
import { rostrum } from '../../support/server.ts';
import { Imports, lines, type Own } from './imports.ts';

const publishedAt = '2020-01-01T00:00:00Z';

describe('rostrum import: posts that say that they are not public', function () {
  this.timeout(60_000);
  const imports = new Imports();

  const says: readonly [column: string, ...values: unknown[]][] = [
    ['draft', 'true', 'TRUE', '1', 'yes', true, 1],
    ['isDraft', true],
    ['is_private', 'Yes'],
    ['hidden', 'x'],
    ['published', 'false', 'No', '0', '', 'NULL', false, 0, null],
    ['is-published', 'FALSE'],
    ['status', 'draft', ' Draft', 'pending', 'Auto-Draft', 'in review', 'trash', 'inherit', '0', 0],
    ['Post Status', 'private'],
    ['post_status', 'unpublished'],
    ['state', 'draft', 'PENDING REVIEW'],
    ['visibility', 'members', 'private', 'direct'],
    ['audience', 'only_paid'],
    ['post_password', 'secret'],
    ['deleted_at', '2020-01-01'],
  ];
  const saysNot: readonly [column: string, ...values: unknown[]][] = [
    ['draft', 'false', '', '0', false, null, 'maybe'],
    ['published', 'true', '1', '2020-01-01', true, 'x'],
    ['status', 'publish', 'published', 'active', '', null, 'future', 1],
    ['state', 'CA', 'New York', ''],
    ['visibility', 'public'],
    ['audience', 'everyone'],
    ['post_password', '', null],
    ['deleted_at', '', 'NULL', '0000-00-00 00:00:00', null],
    ['order_status', 'pending'],
    ['drafted', 'true'],
  ];

  async function judged(row: Own): Promise<readonly string[]> {
    await imports.run([row], { as: 'posts', dryRun: true });
    return imports.rejected.splice(0);
  }

  for (const [heard, table] of [
    [true, says],
    [false, saysNot],
  ] as const) {
    it(heard ? 'are rejected, also without a date' : 'are not mistaken', async () => {
      for (const [column, ...values] of table) {
        for (const value of values) {
          const expected = heard ? [`posts[0] /${column} invalid`] : [];
          const post = { title: 'A', [column]: value };
          expect(await judged({ ...post, publishedAt }), `${column} ${value}`).to.eql(expected);
          expect(await judged(post)).to.eql(expected);
          expect(await judged({ ...post, publishedAt: null }), 'a draft').to.eql([]);
        }
      }
    });
  }

  it('are accepted if a transform reads the column by its name', async () => {
    const rows = [{ title: 'A', status: 'draft' }];
    const read = ({ status, ...row }: Own) => ({ ...row, status, title: 'B' });
    await imports.run(rows, { posts: read });
    expect(imports.added.posts).to.equal(1);
    for (const posts of [
      (row: Own) => ({ ...row, title: 'B' }),
      ({ title, ...row }: Own) => ({ title, status: row.status, publishedAt }),
      (row: Own) => Object.fromEntries(Object.entries(row)),
      (row: Own) => row,
    ]) {
      await imports.run(rows, { posts: posts as never });
      expect(imports.rejected.splice(0), `${posts}`).to.deep.equal(['posts[0] /status invalid']);
    }
    const drafts = (row: Own) => ({ ...row, publishedAt: null, title: 'B' });
    await imports.run(rows, { posts: drafts });
    expect(imports.added.posts).to.equal(2);
  });

  it('do not include users or records of an export', async () => {
    await imports.run([{ name: 'A', status: 'pending' }], { as: 'users' });
    const post = { title: 'A', publishedAt, draft: true };
    await imports.run(lines([{ post }]), { file: 'a.jsonl' });
    expect(imports.added).to.deep.equal({ users: 1, posts: 1 });
  });

  it('can be drafts with the transform that the import prints, or public with --ignore-column', async () => {
    const rows = ['x,2020-01-01T00:00:00Z,A,true', 'y,2020-01-01T00:00:00Z,B,', ',,C,TRUE'];
    const csv = `seo-x,published_at,Title,Is Draft\n${rows.join('\n')}\n`;
    const path = imports.write(csv, 'posts.csv');
    const run = (...more: string[]) => rostrum('import', path, '--store', imports.url, ...more);
    const { code, stdout } = await run('--as', 'posts');
    expect([code, imports.countOf('posts')]).to.deep.equal([2, 0]);
    const [line, advice, ...more] = stdout.trimEnd().split('\n');
    expect(line).to.equal(
      'line 2 /Is Draft invalid: The column "Is Draft" is "true", so the post is not public, but nothing makes it a draft.',
    );
    expect(advice).to.equal(
      'The column "Is Draft" says that 1 post must not be public: "true". To import them as drafts, and keep the column, use --transform with this module:',
    );
    expect(more.at(-1)).to.equal(
      'To publish them without the column, use --ignore-column "Is Draft".',
    );
    const module = imports.write(more.slice(0, -1).join('\n'), 'advised.mjs');
    const advised = await run('--transform', module);
    expect(advised.stdout).to.contain('\n  posts: 1 public, 2 drafts, ');
    const ignored = await run('--as', 'posts', '--ignore-column', 'is_draft');
    expect([ignored.code, ignored.stdout]).to.deep.equal([
      0,
      `Added 0 users and 3 posts\n  from ${path}\n  to   ${imports.url}\n` +
        '  posts: 2 public, 1 draft, 3 without an author, 3 with an empty body\n' +
        '  stored as custom fields: seo-x (2 records, for example "x")\n',
    ]);
    const other = imports.write(
      'export const posts = ({ Title, ...row }) => ({ title: Title || row.Title });',
      'o.mjs',
    );
    const hint =
      'Read it in your transform, or in a copy of the recipe in its folder: ["true","TRUE"].includes(row["Is Draft"]).';
    expect((await run('--transform', other)).stdout).to.contain(hint);
  });
});
