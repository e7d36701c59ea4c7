import { expect } from 'chai';
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
});
