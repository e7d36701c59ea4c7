import { readFile } from 'node:fs/promises';
import type { Context } from 'koa';
import type { Tokens } from 'marked';
import type { Response } from '../response.ts';
import { types } from './files.ts';
import { escapeHtml, page } from './html.ts';
import type { Site } from './site.ts';

/** The package lies at the same place above the sources and above the build. */
const root = new URL('../../../../', import.meta.url);

/** The index of the others, which stands at `/docs/guides` itself. */
const indexFile = 'docs/README.md';

interface Guide {
  /** In the package. */
  readonly file: string;
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly text: string;
}

/** Where the server of the guides runs: on a page it is the one that serves the page. */
const usualOrigin = 'http://127.0.0.1:3000';

let read: Promise<readonly Guide[]> | undefined;

/** The guides: the index, and what it names, in its order. */
async function readGuides(): Promise<readonly Guide[]> {
  const named = [...(await readFile(new URL(indexFile, root), 'utf8')).matchAll(/\]\(([^)#]+)/g)]
    .map(([, href = '']) => fileOf(href, indexFile))
    .filter((file) => /^(?:docs\/)?[\w-]+\.md$/.test(file));
  const guides = [...new Set([indexFile, ...named])].map(async (file) => {
    const text = await readFile(new URL(file, root), 'utf8');
    const [, title = file, summary = ''] =
      /^# (.+)\n+(?:<!--.*\n+)?((?:(?!```)[\w`"'[].*\n)*)/.exec(text) ?? [];
    const plain = summary
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll('\n', ' ')
      .trim();
    const name = file === indexFile ? 'index' : file.replace(/^docs\/|\.md$/g, '');
    return { file, name, title, summary: plain, text };
  });
  return Promise.all(guides);
}

/** The file that a link in another one leads to. */
function fileOf(href: string, from: string): string {
  return new URL(href, new URL(from, 'file:///')).pathname.slice(1);
}

/** `/docs/guides`, and below it each guide, as a page and as Markdown. */
export async function guidePage(
  ctx: Context,
  site: Site,
  path: string,
): Promise<Response | undefined> {
  const [, name = ''] = /^\/guides(?:\/([\w-]+(?:\.md)?))?$/.exec(path) ?? [undefined, '?'];
  read ??= readGuides();
  const guides = await read;
  const guide = guides.find((one) => one.name === (name.replace(/\.md$/, '') || 'index'));
  if (guide === undefined) return undefined;
  if (!name.endsWith('.md'))
    return pageOf(guide, guides, site, site.base || ctx.state.exchange.site);
  const headers = ['Cache-Control', 'no-cache'];
  return { status: 200, headers, body: guide.text, type: types.md };
}

/** `/llms.txt`: what there is to read, for programs that read prose (llmstxt.org). */
export async function llmsText(origin: string): Promise<string> {
  read ??= readGuides();
  const guides = (await read).filter(({ file }) => file !== indexFile);
  const items = guides.map(
    ({ name, title, summary }) => `- [${title}](${origin}/docs/guides/${name}.md): ${summary}`,
  );
  return `# Rostrum

> A server of users and posts, over HTTP and JSON.

- [The description of the API](${origin}/openapi.json): OpenAPI 3.1, with the custom fields of this server

## Guides

${items.join('\n')}
`;
}

async function pageOf(
  guide: Guide,
  guides: readonly Guide[],
  site: Site,
  origin: string,
): Promise<Response> {
  const at = `${site.base}/docs/guides`;
  const { html, parts } = await htmlOf(guide, origin, (href) => targetOf(href, guide, at, guides));
  const items = guides.map((one) => {
    const isHere = one === guide;
    const link = `<a href="${escapeHtml(pathOf(one, at))}"${isHere ? ' aria-current="page"' : ''}>${escapeHtml(one.title)}</a>`;
    return `<li>${link}${isHere && parts.length > 1 ? `<ul>${parts.join('\n')}</ul>` : ''}</li>`;
  });
  const markdown = `${escapeHtml(at)}/${guide.name}.md`;
  const body = `<div class="guide"><nav aria-label="Guides"><ul>${items.join('\n')}</ul></nav>
<main>${html}
<p class="soft"><a href="${markdown}">This page as Markdown</a></p></main></div>`;
  return page({ title: guide.title, body, links: site.links, path: at });
}

interface Rendered {
  readonly html: string;
  /** The headings below the title, as items of a list. */
  readonly parts: readonly string[];
}

/** HTML of Markdown that we wrote. HTML in it is for other readers: pictures, and who wrote what. */
async function htmlOf(
  { text }: Guide,
  origin: string,
  target: (href: string) => string | undefined,
): Promise<Rendered> {
  const { Marked } = await import('marked');
  const parts: string[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }: Tokens.Heading) {
        const inner = this.parser.parseInline(tokens);
        if (depth === 2) parts.push(`<li><a href="#${anchor(title)}">${inner}</a></li>`);
        return `<h${depth} id="${anchor(title)}">${inner}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens);
        const to = target(href);
        return to === undefined ? inner : `<a href="${escapeHtml(to)}">${inner}</a>`;
      },
      html: ({ block, text: html }: Tokens.HTML | Tokens.Tag) => (block ? '' : escapeHtml(html)),
      code: ({ text: code }: Tokens.Code) =>
        `<pre tabindex="0"><code>${escapeHtml(code.replaceAll(usualOrigin, origin))}</code></pre>\n`,
    },
  });
  const html = (await marked.parse(text))
    .replaceAll('<table>', '<div class="scroll" tabindex="0" role="group"><table>')
    .replaceAll('</table>', '</table></div>');
  return { html, parts };
}

/** The name of a heading in links, as GitHub makes it. */
function anchor(title: string): string {
  const plain = title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  return plain.trim().replace(/\s/g, '-');
}

function pathOf({ file, name }: Guide, at: string): string {
  return file === indexFile ? at : `${at}/${name}`;
}

/** Where a link of a guide leads on this server; undefined for what is not served. */
function targetOf(
  href: string,
  { file }: Guide,
  at: string,
  guides: readonly Guide[],
): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [path = '', fragment] = href.split('#');
  const guide = guides.find((one) => one.file === fileOf(path, file));
  return guide && pathOf(guide, at) + (fragment === undefined ? '' : `#${fragment}`);
}
