import { expect } from 'chai';
import { rostrum } from '../../support/server.ts';
import { Imports, text } from './imports.ts';

/** What databases and spreadsheets write for a missing value. */
const nothing = [
  ...['', ' ', 'null', 'NULL', '\\N', '0000-00-00 00:00:00', '0000-00-00'],
  ...['-0001-11-30T00:00:00+00:00', '-001-11-30T00:00:00+00:00'], // PHP's zero date.
];

describe('rostrum import: drafts', function () {
  this.timeout(60_000);
  const imports = new Imports();

  const isDraft = async () => {
    const { posts } = await imports.held();
    return Object.fromEntries(posts.map(({ title, publishedAt }) => [title, publishedAt === null]));
  };
  const drafts = Object.fromEntries(nothing.map((_, n) => [`D${n}`, true]));

  it('makes drafts from all forms of an empty cell', async () => {
    const rows = nothing.map((cell, n) => `D${n},${cell}`);
    const csv = `title,published_at\nP,2020-01-01T00:00:00Z\n${rows.join('\n')}\n`;
    await imports.run(csv, { file: 'd.csv', as: 'posts' });
    expect(await isDraft()).to.deep.equal({ P: false, ...drafts });
  });

  it('makes drafts from the same values in JSON, and from undefined', async () => {
    const given = [
      { title: 'P', publishedAt: '2020-01-01T00:00:00Z' },
      { title: 'Q', publishedAt: null },
      ...nothing.map((publishedAt, n) => ({ title: `D${n}`, publishedAt })),
    ];
    await imports.run(given, { as: 'posts' });
    expect(await isDraft()).to.deep.equal({ P: false, Q: true, ...drafts });
    await imports.run([{ title: 'R' }], {
      posts: (row) => ({ ...row, publishedAt: row.misspelt }),
    });
    expect(await isDraft()).to.include({ R: true });
  });

  it('reads empty values of email and authorId as null', async () => {
    const users = nothing.map((email, n) => ({ name: `U${n}`, email }));
    const posts = nothing.map((authorId, n) => ({ title: `D${n}`, authorId }));
    await imports.run({ users, posts });
    const csv = `name,email\n${nothing.map((cell, n) => `V${n},${cell}`).join('\n')}\n`;
    await imports.run(csv, { file: 'u.csv', as: 'users' });
    const held = await imports.held();
    expect(held.users.every(({ email }) => email === null)).to.equal(true);
    expect(held.posts.every(({ authorId }) => authorId === null)).to.equal(true);
    expect([held.users.length, held.posts.length]).to.deep.equal([18, 9]);
  });

  it('publishes posts without the column, and says how to make them drafts', async () => {
    const path = imports.write('title,x\nA,1\nB,2\n', 'posts.csv');
    const run = (...more: string[]) =>
      rostrum('import', path, '--as', 'posts', '--store', imports.url, ...more);
    const because = 'because they have no publishedAt. To import them as drafts, use --drafts.\n';
    expect((await run('--dry-run')).stdout)
      .to.match(/^Would add/)
      .and.contain(`\nWould publish 2 posts ("A", "B"), ${because}`);
    expect((await run()).stdout).to.contain(`\nPublished 2 posts ("A", "B"), ${because}`);
    expect((await run('--drafts')).stdout).not.to.match(/publish/i);
    const some = imports.write(
      text([{ title: 'C' }, { title: 'D', publishedAt: null }]),
      'some.json',
    );
    const args = ['import', some, '--as', 'posts', '--store', imports.url];
    expect((await rostrum(...args)).stdout).to.contain(
      '\nPublished 1 post ("C"), because they have no publishedAt. ',
    );
    const { stdout } = await rostrum('export', '-', '--store', imports.url);
    const found = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).post);
    const published = (title: string) =>
      found.filter((post) => post.title === title).map(({ publishedAt }) => publishedAt !== null);
    expect([published('A'), published('C'), published('D')].map((all) => all.sort())).to.deep.equal(
      [[false, true], [true], [false]],
    );
  });

  it('leaves the publishedAt of a user alone', async () => {
    await imports.run([{ name: 'A', publishedAt: '' }], { as: 'users', drafts: true });
    expect((await imports.held()).users[0]).to.include({ publishedAt: '' });
  });
});
