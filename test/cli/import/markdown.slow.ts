import { expect } from 'chai';
import { withVariable } from '../../support/with-variable.ts';
import { importFiles } from './site.ts';

const date = '2019-03-04T00:00:00Z';
const at = '2019-03-04T00:00:00.000Z';

/** Imports the files of a folder, and returns the outcome by title. */
async function run(files: Readonly<Record<string, string | Buffer>>) {
  const given = Object.entries(files).map(([file, text]) => [`site/${file}`, text]);
  const outcome = await importFiles('markdown', Object.fromEntries(given));
  const named = (title: string) => outcome.posts.find((post) => post.title === title) ?? {};
  return { ...outcome, named };
}

const page = (front: string, body = 'Text') => `---\ntitle: A\ndate: ${date}\n${front}---\n${body}`;

describe('rostrum import: the recipe for Hugo and Jekyll', () => {
  withVariable('TIME_ZONE', 'UTC');

  it('rejects a file whose front matter does not parse or end', async () => {
    const broken = {
      'never-ends.md': `---\ntitle: A\ndraft: true\n\nText`,
      'toml.md': `+++\ntitle = "A"\ndraft = true\n`,
      'dashes.md': `----\ntitle: A\ndraft: true\n----\nText`,
      'returns.md': `---\rtitle: A\rdraft: true\r---\rText`,
      'json.md': `{"title": "A", "draft": true\n\nText`,
      'rule.md': `---\nJust text.\n---\n`,
      'list.md': `---\n- draft: true\n---\n`,
      'twice.md': `---\ndraft: false\nDraft: true\n---\n`,
      'latin.md': Buffer.from(page('draft: true\n', 'Wörter'), 'latin1'),
      'utf-16.md': Buffer.from(`\ufeff${page('draft: true\n')}`, 'utf16le'),
    };
    for (const [file, text] of Object.entries(broken)) {
      const { posts, rejected } = await run({ [file]: text });
      expect(posts, file).to.deep.equal([]);
      expect(rejected, file).to.have.length(1);
      expect(rejected[0], file).to.include({ file });
    }
  });

  it('reads front matter behind white space, on one line, and in any case', async () => {
    const files = {
      'line.md': `{"title":"line","date":"${date}","draft":true,"x":{"y":"}"}}\n\nText`,
      'mark.md': `\ufeff\r\n---\r\ntitle: mark\r\ndate: ${date}\r\ndraft: true\r\n---\r\nText\r\n`,
      'space.md': ` ---\ntitle: space\ndate: ${date}\ndraft: true\n---\n`,
      'case.MD': `+++\nTitle = "case"\nDate = ${date}\nDRAFT = true\nTags = ["x"]\nAuthor = "Ola"\n+++\n`,
    };
    const { posts, users, messages, named } = await run(files);
    expect(messages).to.deep.equal([]);
    expect(posts).to.have.length(4);
    for (const post of posts) expect(post).to.include({ publishedAt: null, originalDate: at });
    expect(named('case')).to.deep.include({ tags: ['x'], authorId: users[0]?.id });
    expect(named('mark').body).to.equal('Text\r\n');
  });

  it('keeps a body as it is', async () => {
    const bodies = ['\n\n    code\n\nText  \n\n', '{{< figure >}}\n'];
    const [behind = '', alone = ''] = bodies;
    const { posts } = await run({ 'a.md': page('', behind), 'b.md': alone });
    expect(posts.map(({ body }) => body).sort()).to.deep.equal(bodies);
  });

  it('makes drafts of pages that Hugo does not render or list', async () => {
    const never = [
      'build:\n  render: never\n',
      '_build: { list: never }\n',
      'Build: {render: false}\n',
    ];
    for (const front of never) {
      const { posts, messages } = await run({ 'a.md': page(front) });
      expect(messages).to.deep.equal([]);
      expect(posts[0], front).to.include({ publishedAt: null, originalDate: at });
    }
  });

  it('rejects pages that a section could hide, and leaves out lists, resources and other formats', async () => {
    const { messages, leftOut } = await run({
      's/_index.md': '---\ncascade:\n  - draft: true\n---\n',
      's/deep/a.md': page(''),
      't/_index.md': '---\ncascade: { color: red }\n---\n',
      't/b.md': page(''),
      't/c/index.md': page(''),
      't/c/note.md': page(''),
      't/c/d/note.md': '---\n',
      'e.org': '#+TITLE: E',
    });
    expect(messages).to.deep.equal([
      'posts[2]: s/_index.md passes draft, build or a date to this page by cascade: write them into its pages instead.',
    ]);
    expect(leftOut).to.deep.equal({
      'not Markdown': 1,
      'list (_index)': 2,
      'resource of a bundle': 2,
    });
    const jekyll = await run({ 'c/index.md': page(''), 'c/_posts/note.md': page('tags: a b\n') });
    expect(jekyll.posts.map(({ tags }) => tags)).to.have.deep.members([[], ['a', 'b']]);
    const hugo = await run({ 'a.md': page('tags: static sites\n') });
    expect(hugo.posts[0]?.tags).to.deep.equal(['static sites']);
  });

  it('knows an author by any spelling, and keeps the address', async () => {
    const { users, posts, messages, leftOut } = await run({
      'a.md': page('author: Jörg Müller\n'),
      'b.md': page('author: { name: jörg müller, email: j@example.com }\n'),
      'c.md': page('authors: []\nauthor: Jo\u0308rg Mu\u0308ller\n'),
      'd.md': page('author: Jörg Müller\n'),
      'e.md': page('author: ""\n'),
    });
    expect(messages).to.deep.equal([]);
    expect(users).to.have.length(1);
    expect(users[0]).to.include({ name: 'Jörg Müller', email: 'j@example.com' });
    expect(posts.filter(({ authorId }) => authorId === users[0]?.id)).to.have.length(4);
    expect(leftOut).to.deep.equal({
      'other spelling of Jörg Müller: jörg müller': 1,
      'other spelling of Jörg Müller: Jo\u0308rg Mu\u0308ller': 1,
    });
    const two = await run({
      'a.md': page('author: { name: Ola, email: a@example.com }\n'),
      'b.md': page('author: { name: Ola, email: b@example.com }\n'),
    });
    expect(two.messages).to.deep.equal([
      'users[1]: An author has two addresses: a@example.com and b@example.com.',
    ]);
  });

  it('keeps front matter that has the name of a field of the recipe', async () => {
    const { posts } = await run({
      'a.md': page('id: 4711\nbody: lead\nfile: x.pdf\nproblem: none\n'),
    });
    expect(posts[0]).to.include({ id: 'a', body: 'Text' });
    const kept = {
      originalId: 4711,
      originalBody: 'lead',
      originalFile: 'x.pdf',
      originalProblem: 'none',
    };
    expect(posts[0]).to.include(kept);
  });
});
