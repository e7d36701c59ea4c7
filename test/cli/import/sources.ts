// Small sites in the shapes that other programs export, after their documentation.

import { stringify } from 'yaml';
import type { Own } from './imports.ts';

export interface SitePost {
  readonly n: number;
  readonly title: string;
  readonly html: string;
  readonly state: 'public' | 'draft' | 'private' | 'scheduled';
  /** Indexes of users. */
  readonly authors: readonly number[];
  readonly tags: readonly string[];
  /** In UTC, to the second. */
  readonly at: string;
}

const names = ['Ada', 'Grace'];
const emails = ['ada@example.com', 'grace@example.com'];

const post = (n: number, more: Partial<SitePost> = {}): SitePost => ({
  ...{ n, title: `Post ${n}`, html: `<p>Text ${n}</p>`, state: 'public', authors: [0], tags: [] },
  ...{ at: `2019-05-0${n}T10:00:00Z`, ...more },
});

/** A post for each situation. */
export const site: Readonly<Record<string, SitePost>> = {
  public: post(1, { tags: ['news', 'rust'] }),
  draft: post(2, { state: 'draft', authors: [1] }),
  private: post(3, { state: 'private' }),
  scheduled: post(4, { state: 'scheduled', at: '2099-05-01T10:00:00Z' }),
  authors: post(5, { authors: [1, 0] }),
  untitled: post(6, { title: '' }),
};

/** A file as text, or a list served under a path. */
export type Files = Readonly<Record<string, string | Buffer>>;

export interface SiteSource {
  readonly title: string;
  /** The name of the recipe; none for an import without a transform. */
  readonly recipe?: string;
  /** The situations that the format cannot express. */
  readonly lacks?: readonly string[];
  /** The arguments of each import, in order. */
  readonly imports: readonly { readonly file: string; readonly as?: 'users' | 'posts' }[];
  readonly userRow: (n: number) => Own;
  readonly postRow: (post: SitePost) => Own;
  readonly write: (users: readonly Own[], posts: readonly Own[]) => Files;
  /** Two faults, as changes of the rows of posts. */
  readonly faults: readonly ((rows: Own[]) => void)[];
}

const states = { public: 'publish', draft: 'draft', private: 'private', scheduled: 'future' };
const sql = ({ at }: SitePost) => at.replace('T', ' ').replace('Z', '');
const [first, second] = [0, 1];
const rowAt = (rows: readonly Own[], n: number): Own => rows[n] ?? {};

function csv(rows: readonly Own[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value: unknown) => `"${String(value ?? '').replaceAll('"', '""')}"`;
  const all = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return all.map((cells) => `${cells.map(cell).join(',')}\n`).join('');
}

const jsonLines = (rows: readonly Own[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

function xml(users: readonly Own[], posts: readonly Own[]): string {
  const escaped = (value: unknown) =>
    String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const element = ([name, value]: [string, unknown]): string => {
    if (!Array.isArray(value)) {
      const text = String(value ?? '');
      return `<${name}>${/[<&]/.test(text) ? `<![CDATA[${text}]]>` : escaped(text)}</${name}>\n`;
    }
    return value
      .map((one) => `<category domain="${name}" nicename="${one}"><![CDATA[${one}]]></category>\n`)
      .join('');
  };
  const block = (name: string) => (row: Own) =>
    `<${name}>\n${Object.entries(row).map(element).join('')}</${name}>\n`;
  return `<?xml version="1.0" encoding="UTF-8" ?>
<!-- This is a WordPress eXtended RSS file. -->
<rss version="2.0" xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/"
  xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
  xmlns:wp="http://wordpress.org/export/1.2/">
<channel>
<title>Blog</title>
<wp:wxr_version>1.2</wp:wxr_version>
${users.map(block('wp:author')).join('')}${posts.map(block('item')).join('')}</channel>
</rss>
`;
}

const everybody = 'https://www.w3.org/ns/activitystreams#Public';

/** A file of a Markdown folder for each row: its front matter, and `file` and `body`. */
const markdown = (mark: string, front: (fields: Own) => string) => {
  return (_users: readonly Own[], posts: readonly Own[]): Files =>
    Object.fromEntries(
      posts.map(({ file, body, ...fields }) => [
        `site/${file}`,
        `${mark}\n${front(fields)}${mark}\n${body}`,
      ]),
    );
};

const toml = (fields: Own) =>
  Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => {
      const isDate = typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:]+Z$/.test(value);
      return `${JSON.stringify(key)} = ${isDate ? value : JSON.stringify(value)}\n`;
    })
    .join('');

const isDraft = ({ state }: SitePost) => state === 'draft' || state === 'private';

export const sources: readonly SiteSource[] = [
  {
    title: 'WordPress, XML',
    recipe: 'wordpress',
    imports: [{ file: 'site.xml' }],
    userRow: (n) => ({
      'wp:author_id': n + 1,
      'wp:author_login': names[n]?.toLowerCase(),
      'wp:author_email': emails[n],
      'wp:author_display_name': names[n],
    }),
    postRow: (one) => ({
      title: one.title,
      link: `https://blog.example/?p=${one.n}`,
      pubDate: new Date(one.at).toUTCString().replace('GMT', '+0000'),
      'dc:creator': names[one.authors[0] ?? 0]?.toLowerCase(),
      'content:encoded': one.html,
      'excerpt:encoded': '',
      'wp:post_id': one.n,
      'wp:post_date_gmt': sql(one),
      'wp:post_name': `post-${one.n}`,
      'wp:status': states[one.state],
      'wp:post_type': 'post',
      'wp:post_password': '',
      post_tag: one.tags,
      author: one.authors.length > 1 ? one.authors.map((n) => names[n]?.toLowerCase()) : undefined,
    }),
    write: (users, posts) => ({
      'site.xml': xml(
        users,
        posts.map((row) =>
          Object.fromEntries(Object.entries(row).filter(([, v]) => v !== undefined)),
        ),
      ),
    }),
    faults: [
      (rows) =>
        Object.assign(rowAt(rows, first), { 'wp:post_date_gmt': 'yesterday', pubDate: 'no' }),
      (rows) => Object.assign(rowAt(rows, first), { 'dc:creator': 'nobody' }),
    ],
  },
  {
    title: 'WordPress, REST',
    recipe: 'wordpress-rest',
    lacks: ['authors'],
    imports: [{ file: '/' }],
    userRow: (n) => ({
      id: n + 1,
      name: names[n],
      slug: names[n]?.toLowerCase(),
      email: emails[n],
    }),
    postRow: (one) => ({
      id: one.n,
      title: { rendered: one.title.replace('Post', 'Post&#32;') },
      content: { rendered: one.html, protected: false },
      date_gmt: one.at.replace('Z', ''),
      status: states[one.state],
      type: 'post',
      slug: `post-${one.n}`,
      password: '',
      author: (one.authors[0] ?? 0) + 1,
      tags: one.tags.map((tag) => (tag === 'news' ? 7 : 8)),
      categories: [],
    }),
    write: (users, posts) => ({
      users: JSON.stringify(users),
      posts: JSON.stringify(posts),
      pages: '[]',
      tags: JSON.stringify([
        { id: 7, name: 'news' },
        { id: 8, name: 'rust' },
      ]),
      categories: '[]',
    }),
    faults: [
      (rows) => Object.assign(rowAt(rows, first), { date_gmt: '2019-02-30T10:00:00' }),
      (rows) => Object.assign(rowAt(rows, first), { author: 99 }),
    ],
  },
  {
    title: 'WordPress, WP-CLI',
    recipe: 'wordpress-cli',
    lacks: ['authors', 'tags'],
    imports: [
      { file: 'users.csv', as: 'users' },
      { file: 'posts.csv', as: 'posts' },
    ],
    userRow: (n) => ({ ID: n + 1, display_name: names[n], user_email: emails[n] }),
    postRow: (one) => ({
      ID: one.n,
      post_title: one.title,
      post_content: one.html,
      post_name: `post-${one.n}`,
      post_status: states[one.state],
      post_password: '',
      post_date_gmt: sql(one),
      post_author: (one.authors[0] ?? 0) + 1,
    }),
    write: (users, posts) => ({ 'users.csv': csv(users), 'posts.csv': csv(posts) }),
    faults: [
      (rows) => Object.assign(rowAt(rows, first), { post_date_gmt: '9 April' }),
      (rows) => Object.assign(rowAt(rows, first), { post_author: 99 }),
    ],
  },
  {
    title: 'WordPress, plugin',
    recipe: 'wordpress-plugin',
    lacks: ['authors'],
    imports: [{ file: 'posts.csv' }],
    userRow: () => ({}),
    postRow: (one) => ({
      ID: one.n,
      Title: one.title,
      Content: one.html,
      Date: sql(one),
      Slug: `post-${one.n}`,
      Status: states[one.state],
      'Post Password': '',
      'Author Email': emails[one.authors[0] ?? 0],
      'Author Display Name': names[one.authors[0] ?? 0],
      Tags: one.tags.join('|'),
    }),
    write: (_users, posts) => ({ 'posts.csv': csv(posts) }),
    faults: [
      (rows) => Object.assign(rowAt(rows, first), { Date: '09.04.2013' }),
      (rows) => Object.assign(rowAt(rows, second), { ID: rowAt(rows, first).ID }),
    ],
  },
  {
    title: 'Ghost',
    recipe: 'ghost',
    imports: [{ file: 'ghost.json' }],
    userRow: (n) => ({
      id: `u${n}`,
      name: names[n],
      slug: names[n]?.toLowerCase(),
      email: emails[n],
    }),
    postRow: (one) => ({
      id: `p${one.n}`,
      title: one.title,
      slug: `post-${one.n}`,
      html: one.html,
      lexical: '{"root":{}}',
      type: 'post',
      status:
        one.state === 'draft' ? 'draft' : one.state === 'scheduled' ? 'scheduled' : 'published',
      visibility: one.state === 'private' ? 'members' : 'public',
      published_at: one.at.replace('Z', '.000Z'),
      authors: one.authors.map((n) => `u${n}`),
      tags: one.tags,
    }),
    write(users, posts) {
      const list = (row: Own, name: string) => row[name] as readonly string[];
      const data = {
        users,
        posts: posts.map(({ authors, tags, ...row }) => row),
        posts_authors: posts.flatMap((row) =>
          list(row, 'authors').map((author_id, i) => {
            return { post_id: row.id, author_id, sort_order: i + 1 };
          }),
        ),
        tags: ['news', 'rust'].map((name) => ({ id: `t-${name}`, name })),
        posts_tags: posts.flatMap((row) =>
          list(row, 'tags').map((tag, i) => {
            return { post_id: row.id, tag_id: `t-${tag}`, sort_order: i };
          }),
        ),
      };
      return { 'ghost.json': JSON.stringify({ db: [{ meta: { version: '5.0.0' }, data }] }) };
    },
    faults: [
      (rows) => Object.assign(rowAt(rows, first), { html: null }),
      (rows) => Object.assign(rowAt(rows, first), { authors: ['u9'] }),
    ],
  },
  {
    title: 'Substack',
    recipe: 'substack',
    lacks: ['author', 'authors', 'tags', 'scheduled'],
    imports: [{ file: 'posts.csv' }],
    userRow: () => ({}),
    postRow: (one) => ({
      post_id: `${one.n}.post-${one.n}`,
      post_date: one.at.replace('Z', '.000Z'),
      is_published: one.state === 'draft' ? 'FALSE' : 'TRUE',
      type: 'newsletter',
      audience: one.state === 'private' ? 'only_paid' : 'everyone',
      title: one.title,
      subtitle: '',
      html: one.html,
    }),
    write: (_users, posts) => ({
      'posts.csv': csv(posts.map(({ html, ...row }) => row)),
      ...Object.fromEntries(
        posts.filter(({ html }) => html).map((row) => [`posts/${row.post_id}.html`, `${row.html}`]),
      ),
    }),
    faults: [
      (rows) => Object.assign(rowAt(rows, first), { html: undefined }),
      (rows) => Object.assign(rowAt(rows, first), { post_date: 'May 1st' }),
    ],
  },
  {
    title: 'Mastodon',
    recipe: 'mastodon',
    lacks: ['author', 'authors', 'draft', 'scheduled', 'title'],
    imports: [{ file: 'outbox.json' }],
    userRow: () => ({}),
    postRow: (one) => ({
      id: `https://example.social/users/ada/statuses/${one.n}`,
      type: 'Note',
      url: `https://example.social/@ada/${one.n}`,
      published: one.at,
      to: isDraft(one) ? ['https://example.social/users/ada/followers'] : [everybody],
      cc: [],
      content: one.title === '' ? '' : one.html,
      tag: one.tags.map((tag) => ({ type: 'Hashtag', name: `#${tag}` })),
    }),
    write: (_users, posts) => ({
      'outbox.json': JSON.stringify({
        type: 'OrderedCollection',
        orderedItems: posts.map((object) => ({
          id: `${object.id}/activity`,
          type: 'Create',
          object,
        })),
      }),
    }),
    faults: [
      (rows) => Object.assign(rowAt(rows, first), { published: '1 May 2019' }),
      (rows) => Object.assign(rowAt(rows, first), { content: undefined }),
    ],
  },
  {
    title: 'MongoDB',
    recipe: 'mongodb',
    lacks: ['authors'],
    imports: [
      { file: 'users.jsonl', as: 'users' },
      { file: 'posts.jsonl', as: 'posts' },
    ],
    userRow: (n) => ({ _id: { $oid: `u${n}` }, name: names[n], email: emails[n] }),
    postRow: (one) => ({
      _id: { $oid: `p${one.n}` },
      title: one.title || 'Untitled',
      body: one.html,
      author: { $oid: `u${one.authors[0]}` },
      published: !isDraft(one),
      createdAt: { $date: one.at },
      tags: one.tags,
    }),
    write: (users, posts) => ({ 'users.jsonl': jsonLines(users), 'posts.jsonl': jsonLines(posts) }),
    faults: [
      (rows) => Object.assign(rowAt(rows, first), { createdAt: { $date: 'soon' } }),
      (rows) => Object.assign(rowAt(rows, first), { title: { $numberInt: '5' } }),
    ],
  },
  {
    title: 'Hugo',
    recipe: 'markdown',
    imports: [{ file: 'site' }],
    userRow: () => ({}),
    postRow: (one) => ({
      file: `posts/post-${one.n}/index.md`,
      title: one.title,
      date: one.at,
      draft: isDraft(one),
      authors: one.authors.map((n) => names[n]),
      tags: one.tags,
      body: one.html,
    }),
    write: markdown('+++', toml),
    faults: [
      (rows) => Object.assign(rowAt(rows, first), { date: 'May 2019' }),
      (rows) => Object.assign(rowAt(rows, first), { private: true }),
    ],
  },
  {
    title: 'Jekyll',
    recipe: 'markdown',
    imports: [{ file: 'site' }],
    userRow: () => ({}),
    postRow: (one) => ({
      file: `${one.state === 'draft' ? '_drafts' : '_posts'}/${one.at.slice(0, 10)}-post-${one.n}.md`,
      title: one.title,
      date: `${sql(one)} +0000`,
      ...(one.state === 'private' && { published: false }),
      author:
        one.authors.length > 1 ? one.authors.map((n) => names[n]) : names[one.authors[0] ?? 0],
      tags: one.tags.join(' '),
      body: one.html,
    }),
    write: markdown('---', (fields) => stringify(fields)),
    faults: [
      (rows) => Object.assign(rowAt(rows, first), { date: '2019-02-30 10:00:00 +0000' }),
      (rows) => Object.assign(rowAt(rows, first), { visibility: 'private' }),
    ],
  },
  {
    title: 'Spreadsheet',
    recipe: 'spreadsheet',
    lacks: ['authors', 'tags'],
    imports: [{ file: 'sheet.csv' }],
    userRow: () => ({}),
    postRow: (one) => {
      const [year, month, day] = one.at.slice(0, 10).split('-').map(Number);
      const author = one.authors[0] ?? 0;
      return {
        Titel: one.title,
        Text: one.html,
        Datum: `${day}.${month}.${year} 12:00`, // Summer time.
        Autor: names[author],
        'E-Mail': emails[author],
        Online: isDraft(one) ? 'nein' : 'ja',
      };
    },
    write: (_users, posts) => ({ 'sheet.csv': csv(posts) }),
    faults: [
      (rows) => Object.assign(rowAt(rows, first), { Datum: '31.6.2020' }),
      (rows) => Object.assign(rowAt(rows, first), { 'E-Mail': 'ada' }),
    ],
  },
  {
    title: 'CSV, no transform',
    lacks: ['authors'],
    imports: [
      { file: 'users.csv', as: 'users' },
      { file: 'posts.csv', as: 'posts' },
    ],
    userRow: (n) => ({ Id: `u${n}`, Name: names[n], 'E-Mail': emails[n] }),
    postRow: (one) => ({
      Id: `p${one.n}`,
      Title: one.title || '(untitled)',
      Body: one.html,
      'Author ID': `u${one.authors[0]}`,
      'Published At': isDraft(one) ? '' : one.at,
      tags: one.tags.join(', '),
    }),
    write: (users, posts) => ({ 'users.csv': csv(users), 'posts.csv': csv(posts) }),
    faults: [
      (rows) => Object.assign(rowAt(rows, first), { Draft: 'yes' }),
      (rows) => Object.assign(rowAt(rows, first), { Title: ' ' }),
    ],
  },
];

export const userNames = names;
