import { expect } from 'chai';
import { withVariable } from '../../support/with-variable.ts';
import { importFiles } from './site.ts';

const element = (name: string, text: unknown, attributes = '') =>
  `<${name}${attributes}><![CDATA[${text}]]></${name}>\n`;

const term = (domain: string, text: string) =>
  element('category', text, ` domain="${domain}" nicename="${text.toLowerCase()}"`);

/** A post of an export, as WordPress writes it. */
function item(n: number, fields: Readonly<Record<string, string>> = {}, more = ''): string {
  const all = {
    title: `Post ${n}`,
    pubDate: 'Mon, 17 Apr 2017 13:37:00 +0000',
    'dc:creator': 'anna',
    'content:encoded': `Text ${n}`,
    'excerpt:encoded': '',
    'wp:post_id': n,
    'wp:post_date': '2017-04-17 15:37:00',
    'wp:post_date_gmt': '2017-04-17 13:37:00',
    'wp:post_name': `post-${n}`,
    'wp:status': 'publish',
    'wp:post_type': 'post',
    'wp:post_password': '',
    ...fields,
  };
  const children = Object.entries(all).map(([name, text]) => element(name, text));
  return `<item>\n${children.join('')}${more}</item>\n`;
}

const author = (login: string, name: string) => `<wp:author>
${element('wp:author_login', login)}${element('wp:author_email', `${login}@example.com`)}
${element('wp:author_display_name', name)}</wp:author>\n`;

const document = (
  content: string,
  encoding = 'UTF-8',
) => `<?xml version="1.0" encoding="${encoding}" ?>
<rss version="2.0" xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/"
  xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:wp="http://wordpress.org/export/1.2/">
<channel><wp:wxr_version>1.2</wp:wxr_version>
${content}</channel></rss>
`;

const run = (...items: readonly string[]) =>
  importFiles('wordpress', { 'blog.xml': document(author('anna', 'Anna') + items.join('')) });

describe('rostrum import: the recipe for the XML file of WordPress', () => {
  withVariable('TIME_ZONE', 'Europe/Berlin');

  it('gives the import plain data, so that a report can contain a rejected post', async () => {
    const meta = `<wp:postmeta>${element('wp:meta_key', 'k')}${element('wp:meta_value', 'v')}</wp:postmeta>`;
    const comment = `<wp:comment>${element('wp:comment_id', 1)}</wp:comment>`;
    const more = term('post_tag', 'News') + term('category', 'A') + meta + comment;
    const { messages, rejected } = await run(item(1, { 'dc:creator': 'nobody' }, more));
    expect(messages).to.deep.equal(['posts[0]: The author is unknown: no user has this id.']);
    expect(JSON.parse(JSON.stringify(rejected[0]))).to.deep.include({
      post_tag: [{ text: 'News', nicename: 'news' }],
      category: [{ text: 'A', nicename: 'a' }],
      'wp:postmeta': [{ 'wp:meta_key': 'k', 'wp:meta_value': 'v' }],
      'wp:comment': [{ 'wp:comment_id': '1' }],
    });
  });

  it('publishes what WordPress shows, and keeps the dates of the others', async () => {
    const kinds = {
      public: {},
      page: { 'wp:post_type': 'page' },
      missed: { 'wp:status': 'future' },
      scheduled: { 'wp:status': 'future', 'wp:post_date_gmt': '2099-04-17 13:37:00' },
      private: { 'wp:status': 'private' },
      locked: { 'wp:post_password': 'secret' },
      draft: { 'wp:status': 'draft', 'wp:post_date_gmt': '0000-00-00 00:00:00', pubDate: '' },
      undated: {
        'wp:status': 'draft',
        'wp:post_date_gmt': '0000-00-00 00:00:00',
        'wp:post_date': '0000-00-00 00:00:00',
      },
      feedback: { 'wp:post_type': 'feedback' },
      mail: { 'wp:post_type': 'flamingo_inbound' },
      picture: { 'wp:post_type': 'attachment', 'wp:status': 'inherit' },
      trash: { 'wp:status': 'trash' },
    };
    const items = Object.entries(kinds).map(([title, fields], n) =>
      item(n + 1, { title, ...fields }),
    );
    const { posts, messages, leftOut } = await run(...items);
    expect(messages).to.deep.equal([]);
    const at = '2017-04-17T13:37:00.000Z';
    const dates = posts.map(({ title, publishedAt, originalDate }) => [
      title,
      [publishedAt, originalDate],
    ]);
    expect(Object.fromEntries(dates)).to.deep.equal({
      public: [at, undefined],
      page: [at, undefined],
      missed: [null, at],
      scheduled: ['2099-04-17T13:37:00.000Z', undefined],
      private: [null, at],
      locked: [null, at],
      draft: [null, '2017-04-17 15:37:00'],
      undated: [null, undefined],
      feedback: [null, at],
      mail: [null, at],
    });
    expect(leftOut).to.deep.equal({ attachment: 1, trash: 1 });
  });

  it('reads a time without UTC in the time zone of the blog', async () => {
    const old = { 'wp:post_date_gmt': '0000-00-00 00:00:00' };
    const dates = ['', 'Mon, 30 Nov -0001 00:00:00 +0000'];
    const { posts, messages } = await run(
      ...dates.map((pubDate, n) => item(n, { ...old, pubDate })),
    );
    expect(messages).to.deep.equal([]);
    for (const { publishedAt } of posts) expect(publishedAt).to.equal('2017-04-17T13:37:00.000Z');
  });

  it('reads the encoding that XML declares, and no other', async () => {
    const content = author('anna', 'Jörg') + item(1, { 'content:encoded': 'Wörter' });
    const latin = (encoding: string) => {
      const file = Buffer.from(document(content, encoding), 'latin1');
      return importFiles('wordpress', { 'blog.xml': file });
    };
    const { users, posts } = await latin('ISO-8859-1');
    expect([users[0]?.name, posts[0]?.body]).to.deep.equal(['Jörg', 'Wörter']);
    const wrong = await latin('UTF-8');
    expect(wrong.posts).to.deep.equal([]);
    expect(wrong.messages.join()).to.match(
      /cannot read .*blog\.xml: .*not valid for encoding utf-8/,
    );
  });

  it('decodes names once, matches logins in any case, and leaves out what XML cannot contain', async () => {
    const names = term('post_tag', 'R&amp;D') + term('category', 'a &amp;amp; b');
    const fields = { 'dc:creator': 'ANNA.Berg', title: ' \n', 'content:encoded': 'a\u000b\ufffe' };
    const posts = item(1, fields, names);
    const content = author('Anna.Berg', 'Berg &amp; &lt;Co&gt; &unknown;') + posts;
    const found = await importFiles('wordpress', { 'blog.xml': document(content) });
    expect(found.users[0]).to.include({ id: 'anna.berg', name: 'Berg & <Co> &unknown;' });
    expect(found.posts[0]).to.deep.include({
      authorId: 'anna.berg',
      title: '(untitled)',
      body: 'a',
      tags: ['R&D'],
      categories: ['a &amp; b'],
    });
  });
});
