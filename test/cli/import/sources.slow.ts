import { expect } from 'chai';
import { expectGenerated } from '../../docs/markdown.ts';
import { temporaryDirectory } from '../../support/repository-copy.ts';
import { withVariable } from '../../support/with-variable.ts';
import { fuzz } from './fuzz.ts';
import type { Own } from './imports.ts';
import { importSite, serveFiles } from './site.ts';
import { type SitePost, type SiteSource, site, sources, userNames } from './sources.ts';

const situations = ['drafts', 'private', 'scheduled', 'author', 'several authors', 'tags', 'HTML'];
const columns = [...situations, 'dates', 'no title'];

/** A site in the form of a source. */
const rowsOf = (source: SiteSource) => ({
  users: userNames.map((_, n) => source.userRow(n)),
  posts: Object.values(site).map(source.postRow),
});

describe('rostrum import: the recipes of docs/moving-in.md', function () {
  this.timeout(120_000);
  const rows: string[] = [];
  const faults: string[] = [];
  let server: Awaited<ReturnType<typeof serveFiles>>;
  withVariable('TIME_ZONE', 'UTC');

  before(async () => {
    server = await serveFiles();
  });
  after(() => server[Symbol.asyncDispose]());

  for (const source of sources) {
    it(`import a site: ${source.title}`, async () => {
      const { lacks = [] } = source;
      await using folder = await temporaryDirectory();
      const { users, posts, messages } = await importSite(
        source,
        rowsOf(source),
        folder.path,
        server,
      );
      expect(messages).to.deep.equal([]);
      expect(posts).to.have.length(Object.keys(site).length);
      const found = (name: string): Own => {
        const text = site[name]?.title === '' ? '' : site[name]?.html;
        return posts.find(({ body }) => body === text || body === site[name]?.html) ?? {};
      };
      const authorOf = ({ authorId }: Own) => users.find(({ id }) => id === authorId)?.name ?? null;
      const state = (name: string) => {
        const { publishedAt } = found(name);
        if (publishedAt === null) return 'draft';
        return String(publishedAt) > new Date().toISOString() ? 'scheduled' : 'public';
      };
      // What the format has must arrive.
      expect(state('public')).to.equal('public');
      expect(Date.parse(`${found('public').publishedAt}`)).to.equal(
        Date.parse(site.public?.at ?? ''),
      );
      expect(state('draft')).to.equal('draft');
      expect(state('private')).to.equal('draft');
      expect(state('scheduled')).to.equal('scheduled');
      if (!['mongodb', undefined].includes(source.recipe)) {
        const { publishedAt, originalDate } = found('private');
        expect([publishedAt, Date.parse(`${originalDate}`)]).to.deep.equal([
          null,
          Date.parse(site.private?.at ?? ''),
        ]);
      }
      expect(found('public').body).to.equal(site.public?.html);
      if (!lacks.includes('author')) expect(authorOf(found('public'))).to.equal('Ada');
      if (!lacks.includes('tags')) {
        expect([found('public').tags].flat().join()).to.match(/^news, ?rust$|^news,rust$/);
      }
      const several = found('authors');
      if (!lacks.includes('author')) expect(authorOf(several)).to.equal('Grace');
      if (!lacks.includes('authors')) expect(several.coAuthors).to.be.an('array');
      const { tags } = found('public');
      const cells = {
        drafts: lacks.includes('draft') ? '–' : 'draft',
        private: 'draft',
        scheduled: lacks.includes('scheduled') ? '–' : 'scheduled',
        author: lacks.includes('author') ? '–' : 'kept',
        'several authors': lacks.includes('authors') ? '–' : 'first; `coAuthors`',
        tags: lacks.includes('tags')
          ? '–'
          : `\`tags\`${typeof tags === 'string' ? ' as a text' : ''}`,
        HTML: '`body`',
        dates: 'kept',
        'no title': lacks.includes('title') ? '`(no text)`' : `\`${found('untitled').title}\``,
      };
      rows.push(`| ${[source.title, ...Object.values(cells)].join(' | ')} |`);
    });

    it(`reports faults: ${source.title}`, async () => {
      const said: string[] = [];
      for (const change of source.faults) {
        await using folder = await temporaryDirectory();
        const site = rowsOf(source);
        change(site.posts);
        const { posts, messages, results } = await importSite(source, site, folder.path, server);
        const isEmpty = Number(results.at(-1)?.withoutBody) > 0;
        expect(messages.length > 0 ? posts.length === 0 : isEmpty, messages.join()).to.equal(true);
        const [message = 'The summary counts an empty body.'] = messages;
        said.push(
          message
            .replaceAll(folder.path, '')
            .replaceAll('|', '\\|')
            .replaceAll('/posts/', 'posts/')
            .replace(/ like 2026.*/, ' …'),
        );
      }
      faults.push(`| ${source.title} | ${said.join(' | ')} |`);
    });
  }

  it('keep a scheduled post that WordPress failed to publish as a draft', async () => {
    const missed = { ...site.public, state: 'scheduled' } as SitePost;
    for (const source of sources.filter(({ title }) => title.startsWith('WordPress'))) {
      await using folder = await temporaryDirectory();
      const rows = { users: rowsOf(source).users, posts: [source.postRow(missed)] };
      const { posts, messages } = await importSite(source, rows, folder.path, server);
      expect(messages).to.deep.equal([]);
      const originalDate = missed.at.replace('Z', '.000Z');
      expect(posts[0], source.title).to.include({ publishedAt: null, originalDate });
    }
  });

  it('are described in docs/moving-in.md (UPDATE_DOCS=1 rewrites the tables)', () => {
    const file = 'test/cli/import/sources.slow.ts';
    const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
    const head = (cells: readonly string[]) => `${line(cells)}\n|${'---|'.repeat(cells.length)}`;
    const matrix = [head(['From', ...columns]), ...rows].join('\n');
    const table = [head(['From', 'A fault', 'Another fault']), ...faults].join('\n');
    expectGenerated('sources', file, `${matrix}\n\n${table}`);
  });

  it('lose nothing in silence, whatever changes in a file', async () => {
    await using folder = await temporaryDirectory();
    await fuzz(300, folder.path, server);
  });
});
