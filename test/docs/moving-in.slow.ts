import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { JsonObject } from '../../src/domain/records/json.ts';
import { type Outcome, outcomeOf, start } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';
import { program } from '../support/server.ts';
import { blocksOf, readPage } from './markdown.ts';

const page = 'docs/moving-in.md';

/** Returns a block of commands below a heading. */
function commandsOf(heading: string, index = 0): string {
  const text = readPage(page);
  const from = text.slice(0, text.indexOf(`\n## ${heading}\n`)).split('\n').length;
  return blocksOf(page, 'sh').filter(({ line }) => line > from)[index]?.text ?? '';
}

describe('the recipes of docs/moving-in.md', function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;

  beforeEach(async () => {
    folder = await temporaryDirectory();
    symlinkSync(join(repository, 'examples'), join(folder.path, 'examples'));
  });
  afterEach(() => folder[Symbol.asyncDispose]());

  const write = (name: string, content: string) => writeFileSync(join(folder.path, name), content);

  /** Runs a script in the folder, with the program of this clone and the functions in `more`. */
  const shell = (script: string, more = ''): Promise<Outcome> => {
    const env = { NODE: process.execPath, MAIN: program };
    const given = `set -e; rostrum() { "$NODE" "$MAIN" "$@"; }\n${more}\n${script}`;
    return outcomeOf(start('bash', ['-c', given], { cwd: folder.path, env }));
  };

  /** Runs a recipe exactly as on the page and returns its output. */
  const follow = async (heading: string, { index = 0, more = '' } = {}): Promise<string> => {
    const { code, stdout, output } = await shell(commandsOf(heading, index), more);
    expect([0, 2], output).to.include(code);
    return stdout;
  };

  /** Returns the records in the store, without their times. */
  const stored = async () => {
    const { stdout } = await shell('rostrum export -');
    const all = stdout
      .trimEnd()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const plain = ({ createdAt, updatedAt, ...rest }: JsonObject) => rest;
    const of = (kind: string) => all.flatMap((line) => (line[kind] ? [plain(line[kind])] : []));
    return { users: of('user'), posts: of('post') };
  };

  it('import a WordPress blog', async () => {
    write(
      'wp-users',
      'ID,display_name,user_email\n1,Ada,ada@example.com\n2,Grace,grace@example.com\n',
    );
    const rows = [
      'ID,post_title,post_content,post_name,post_status,post_password,post_date_gmt,post_author',
      '1,Hello,"<p>Hi, ""all""</p>",hello,publish,,"2013-04-09 18:20:39",1',
      '2,"A draft",Text,a-draft,draft,,"0000-00-00 00:00:00",2',
      '3,Dated draft,,dated,draft,,"2013-04-09 18:20:39",2',
      '4,Picture,,picture,inherit,,"2013-04-09 18:20:39",1',
      '5,Mine,,mine,private,,"2013-04-09 18:20:39",1',
      '6,Locked,,locked,publish,secret,"2012-04-09 18:20:39",1',
      '7,,Aside,aside,publish,,"2012-04-09 18:20:39",0',
      '8,Soon,,soon,future,,"2099-01-01 00:00:00",1',
    ];
    write('wp-posts', `${rows.join('\n')}\n`);
    const stdout = await follow('WordPress', {
      index: 2,
      more: 'wp() { if [ "$1" = user ]; then cat wp-users; else cat wp-posts; fi; }',
    });
    expect(stdout).to.match(
      /^Added 2 users and 0 posts\n[\s\S]*\nAdded 0 users and 7 posts; left out by the transform: 1\n/,
    );
    expect(stdout).not.to.contain('not used');
    const { users, posts } = await stored();
    expect(users).to.deep.equal([
      { id: '1', name: 'Ada', email: 'ada@example.com' },
      { id: '2', name: 'Grace', email: 'grace@example.com' },
    ]);
    expect(posts[0]).to.deep.equal({
      id: '1',
      title: 'Hello',
      body: '<p>Hi, "all"</p>',
      authorId: '1',
      publishedAt: '2013-04-09T18:20:39.000Z',
      slug: 'hello',
    });
    const published = posts.map(({ title, authorId, publishedAt }) => [
      title,
      authorId,
      publishedAt,
    ]);
    expect(published.slice(1)).to.deep.equal([
      ['A draft', '2', null],
      ['Dated draft', '2', null],
      ['Mine', '1', null],
      ['Locked', '1', null],
      ['(untitled)', null, '2012-04-09T18:20:39.000Z'],
      ['Soon', '1', '2099-01-01T00:00:00.000Z'],
    ]);
  });

  it('import a WordPress blog exported with a plugin, also repeatedly', async () => {
    const headings =
      'ID,Title,Content,Date,Slug,Status,Post Password,Author Email,Author Display Name,Tags';
    const rows = [
      '1,Hello,Hi,2013-07-09 18:20:39,hello,publish,,Ada@example.com,Ada,bread|rye',
      '2,,Text,0000-00-00 00:00:00,,draft,,bo@example.com,Bo,',
      '3,Other,Text,2013-07-09 18:20:39,,pending,,ada@example.com,Ada,',
      '4,Locked,Text,2013-07-09 18:20:39,locked,publish,secret,,,',
      '5,Picture,,2013-07-09 18:20:39,picture,inherit,,bo@example.com,Bo,',
    ];
    write('posts.csv', `\ufeff${[headings, ...rows].join('\r\n')}\r\n`);
    const stdout = await follow('WordPress', { index: 3 });
    expect(stdout).to.match(/^Added 2 users and 4 posts; left out by the transform: 4\n/);
    expect(stdout).not.to.contain('not used');
    const { users, posts } = await stored();
    const names = new Map(users.map(({ id, name }) => [id, name]));
    const found = posts.map(({ id, authorId, title, slug, ...rest }) => {
      return [id, names.get(authorId), title, slug, rest.publishedAt, rest.tags];
    });
    expect(found).to.deep.equal([
      ['1', 'Ada', 'Hello', 'hello', '2013-07-09T16:20:39.000Z', ['bread', 'rye']],
      ['2', 'Bo', '(untitled)', null, null, []],
      ['3', 'Ada', 'Other', null, null, []],
      ['4', undefined, 'Locked', 'locked', null, []],
    ]);
    const commands = commandsOf('WordPress', 3);
    const index = "--field posts.slug:text:unique --field 'posts.tags:text[]'";
    const again = await shell(`${commands.trim()} --as posts --match-stored-authors ${index}`);
    expect(again.stdout).to.match(/^Added 0 users and 0 posts; there already: 4; /);
  });

  it('import a Ghost blog', async () => {
    const post = (id: string, status: string, visibility: string, more = {}) => {
      return {
        id,
        title: `T${id}`,
        slug: `s${id}`,
        html: '<p>x</p>',
        type: 'post',
        status,
        visibility,
        published_at: '2019-05-01 10:00:00',
        ...more,
      };
    };
    const data = {
      posts: [
        post('a', 'published', 'public'),
        post('b', 'draft', 'public', { published_at: null, html: null }),
        post('c', 'published', 'members'),
        post('d', 'sent', 'public'),
        post('e', 'scheduled', 'public', { published_at: '2099-05-01T10:00:00.000Z' }),
      ],
      posts_authors: [
        { post_id: 'a', author_id: 'u2', sort_order: 1 },
        { post_id: 'a', author_id: 'u1', sort_order: 0 },
        { post_id: 'b', author_id: 'u2' },
      ],
      users: [
        { id: 'u1', name: 'Ada', slug: 'ada', email: 'ada@example.com' },
        { id: 'u2', name: 'Grace', slug: 'grace', email: 'grace@example.com' },
      ],
    };
    write('ghost.json', JSON.stringify({ db: [{ meta: { version: '5.0.0' }, data }] }));
    expect(await follow('Ghost')).to.match(/^Added 2 users and 5 posts\n/);
    const { users, posts } = await stored();
    expect(users[0]).to.deep.equal({ id: 'u1', name: 'Ada', email: 'ada@example.com' });
    expect(
      posts.map(({ id, slug, authorId, publishedAt }) => [id, slug, authorId, publishedAt]),
    ).to.deep.equal([
      ['a', 'sa', 'u1', '2019-05-01T10:00:00.000Z'],
      ['b', 'sb', 'u2', null],
      ['c', 'sc', null, null],
      ['d', 'sd', null, null],
      ['e', 'se', null, '2099-05-01T10:00:00.000Z'],
    ]);
  });

  it('import a Substack', async () => {
    const rows = [
      'post_id,post_date,is_published,email_sent_at,inbox_sent_at,type,audience,title,subtitle,podcast_url',
      '1.hello,2023-01-05T14:00:00.000Z,true,2023-01-05T14:00:01.000Z,,newsletter,everyone,Hello,"Hi, all",',
      '2.paid,2023-01-06T14:00:00.000Z,true,,,newsletter,only_paid,Paid,,',
      '3.draft,,false,,,newsletter,everyone,,,',
      '4.lost,2023-01-06T14:00:00.000Z,true,,,newsletter,everyone,Lost,,',
    ];
    write('posts.csv', `${rows.join('\n')}\n`);
    mkdirSync(join(folder.path, 'posts'));
    for (const id of ['1.hello', '2.paid', '3.draft']) write(`posts/${id}.html`, `<p>${id}</p>`);
    const commands = commandsOf('Substack');
    const { code, stdout } = await shell(commands.replace('\n', ' --skip-invalid\n'));
    expect([code, stdout.split('\n').slice(0, 2)]).to.deep.equal([
      2,
      [
        "line 5 invalid: ENOENT: no such file or directory, open 'posts/4.lost.html'",
        'Added 0 users and 3 posts; rejected: 1',
      ],
    ]);
    const times = { publishedAt: '2023-01-05T14:00:00.000Z', authorId: null };
    const more = { type: 'newsletter', audience: 'everyone' };
    expect((await stored()).posts).to.deep.equal([
      {
        id: '1.hello',
        title: 'Hello',
        body: '<p>1.hello</p>',
        subtitle: 'Hi, all',
        ...times,
        ...more,
      },
      {
        id: '2.paid',
        title: 'Paid',
        body: '<p>2.paid</p>',
        ...more,
        audience: 'only_paid',
        ...times,
        publishedAt: null,
        originalDate: '2023-01-06T14:00:00.000Z',
      },
      {
        id: '3.draft',
        title: '(untitled)',
        body: '<p>3.draft</p>',
        ...more,
        ...times,
        publishedAt: null,
      },
    ]);
  });

  it('import posts from Mastodon', async () => {
    const everybody = 'https://www.w3.org/ns/activitystreams#Public';
    const followers = 'https://example.social/users/ada/followers';
    const create = (n: number, content: string, to: string[], cc: string[]) => {
      const id = `https://example.social/users/ada/statuses/${n}`;
      const object = {
        id,
        type: 'Note',
        url: `https://example.social/@ada/${n}`,
        published: '2022-11-05T09:30:00Z',
        to,
        cc,
        content,
      };
      return { id: `${id}/activity`, type: 'Create', published: object.published, to, cc, object };
    };
    const items = [
      create(
        1,
        `<p>Hello &amp; <b>welcome</b></p><p>${'😀'.repeat(100)}</p>`,
        [everybody],
        [followers],
      ),
      create(2, '<p>Unlisted</p>', [followers], [everybody]),
      create(3, '<p>For followers</p>', [followers], []),
      create(4, '', [everybody], []),
      { id: 'x', type: 'Announce', object: 'https://elsewhere.example/1', to: [everybody] },
    ];
    // Some versions of Mastodon write this key twice: the last one counts.
    const outbox = JSON.stringify({ '@context': 'x', type: 'OrderedCollection', orderedItems: [] });
    write('outbox.json', outbox.replace(/\}$/, `,"orderedItems":${JSON.stringify(items)}}`));
    const stdout = await follow('Mastodon');
    expect(stdout).to.match(/^Added 0 users and 4 posts; left out by the transform: 1\n/);
    const { posts } = await stored();
    expect(posts.map(({ id, url, publishedAt }) => [id, url, publishedAt !== null])).to.deep.equal([
      ['1', 'https://example.social/@ada/1', true],
      ['2', 'https://example.social/@ada/2', true],
      ['3', 'https://example.social/@ada/3', false],
      ['4', 'https://example.social/@ada/4', true],
    ]);
    const titles = posts.map(({ title }) => String(title));
    expect([
      [...(titles[0] ?? '')].length,
      titles[0]?.slice(0, 19),
      ...titles.slice(1),
    ]).to.deep.equal([...[80, 'Hello &amp; welcome', 'Unlisted', 'For followers', '(no text)']]);
  });

  it('import documents from MongoDB', async () => {
    const oid = '507f1f77bcf86cd799439011';
    const date = { $date: '2019-01-01T00:00:00Z' };
    const canonical = { $date: { $numberLong: '1546300800000' } };
    write(
      'documents',
      [
        {
          _id: { $oid: oid },
          title: 'x',
          views: { $numberLong: '12' },
          createdAt: date,
          published: true,
          tags: ['a', { n: { $numberDouble: '1.5' } }],
        },
        {
          _id: { $oid: `${oid.slice(1)}2` },
          title: 'y',
          author: null,
          createdAt: canonical,
          published: false,
          seen: canonical,
        },
      ]
        .map((document) => `${JSON.stringify(document)}\n`)
        .join(''),
    );
    const mongoexport = `MONGODB_URI=mongodb://x; mongoexport() { cat documents > "\${@: -1}"; }`;
    expect(await follow('MongoDB', { more: mongoexport })).to.match(/^Added 0 users and 2 posts\n/);
    const at = '2019-01-01T00:00:00.000Z';
    expect((await stored()).posts).to.deep.equal(
      [
        {
          id: `${oid.slice(1)}2`,
          title: 'y',
          body: '',
          authorId: null,
          publishedAt: null,
          seen: at,
        },
        {
          id: oid,
          title: 'x',
          body: '',
          authorId: null,
          publishedAt: at,
          views: 12,
          tags: ['a', { n: 1.5 }],
        },
      ].sort((a, b) => (a.id < b.id ? -1 : 1)),
    );
    const { stdout } = await shell('rostrum export -');
    expect(stdout.match(/"createdAt":"2019-01-01T00:00:00.000Z"/g)).to.have.length(2);
  });

  it('import a spreadsheet', async () => {
    const rows = [
      'Titel;Text;Datum;Autor;E-Mail;Online;',
      'Erster;"Ein ""Text""; mit\r\nUmbruch";31.12.2019 9:30;Jörg;joerg@example.com;ja;',
      'Zweiter;;1.7.2020;Jörg;Joerg@example.com;ja;',
      'Entwurf;;;Änne;aenne@example.com;nein;',
      'Ohne;;2.7.2020 12:00;;;ja;',
      'Falsch;;31.6.2020;Änne;aenne@example.com;ja;',
      ';;;;;;',
    ];
    write('beitraege.csv', `\ufeff${rows.join('\r\n')}\r\n`);
    const commands = commandsOf('A spreadsheet');
    const { stdout } = await shell(commands.replace('\n', ' --skip-invalid\n'));
    expect(stdout.split('\n').slice(0, 2)).to.deep.equal([
      'line 7 invalid: "2020-06-31 00:00" is not a time like 2026-11-21T09:30:00Z, 2026-11-21 09:30:00, ' +
        'Sat, 21 Nov 2026 09:30:00 +0000, or seconds or milliseconds since 1970.',
      'Added 2 users and 4 posts; left out by the transform: 3; rejected: 1',
    ]);
    const { users, posts } = await stored();
    const names = new Map(users.map(({ id, name }) => [id, name]));
    const found = posts.map(({ title, authorId, publishedAt }) => [
      title,
      names.get(authorId ?? ''),
      publishedAt,
    ]);
    expect(found).to.have.deep.members([
      ['Erster', 'Jörg', '2019-12-31T08:30:00.000Z'],
      ['Zweiter', 'Jörg', '2020-06-30T22:00:00.000Z'],
      ['Entwurf', 'Änne', null],
      ['Ohne', undefined, '2020-07-02T10:00:00.000Z'],
    ]);
    expect(posts.find(({ title }) => title === 'Erster')?.body).to.equal(
      'Ein "Text"; mit\r\nUmbruch',
    );
  });

  it('repeat an import every night', async () => {
    const article = (slug: string, headline = slug) => {
      return { slug, headline, text: 'x', date: 'Fri, 30 Mar 2012 11:18:03 +0000' };
    };
    const nightly = (articles: readonly object[]) => {
      write('articles.json', JSON.stringify(articles));
      return follow('Every night');
    };
    expect(await nightly(['a', 'b', 'c'].map((slug) => article(slug)))).to.match(
      /^Added 0 users and 3 posts\n/,
    );
    const before = await stored();
    expect(await nightly(['a', 'b', 'c'].map((slug) => article(slug)))).to.match(
      /^Added 0 users and 0 posts; there already: 3\n/,
    );
    expect(await stored()).to.deep.equal(before);
    // The page describes each case: unchanged, changed, new, and missing from the file.
    const stdout = await nightly([article('a'), article('b', 'changed'), article('d')]);
    expect(stdout.split('\n').slice(0, 2)).to.deep.equal([
      'posts[1] "changed" /id taken: Another record has this id. It is "b".',
      'Added 0 users and 1 post; there already: 1; rejected: 1',
    ]);
    const { posts } = await stored();
    expect(posts.map(({ id, title }) => [id, title])).to.deep.equal([
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
      ['d', 'd'],
    ]);
    const changed = await shell('cat changed.jsonl');
    expect(JSON.parse(changed.stdout)).to.deep.include({
      place: 'posts[1]',
      content: article('b', 'changed'),
    });
  });
});
