import { readdir, readFile } from 'node:fs/promises';
import type { Tokens } from 'marked';
import type { Response } from '../response.ts';
import { type Text, types } from './files.ts';
import { escapeHtml, page } from './html.ts';
import type { Site } from './site.ts';

/** The documentation lies at the same place above the sources and above the build. */
const folder = new URL('../../../../docs/', import.meta.url);

interface Guide {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly text: string;
}

let read: Promise<readonly Guide[]> | undefined;

/** The guides, in the order in which the first of them names the others. */
async function readGuides(): Promise<readonly Guide[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md'));
  const guides = await Promise.all(
    names.map(async (file) => {
      const text = await readFile(new URL(file, folder), 'utf8');
      const [, title = file, summary = ''] =
        /^# (.+)\n+((?:(?!```)[\w`"'[].*\n)*)/.exec(text) ?? [];
      const plain = summary
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll('\n', ' ')
        .trim();
      return { name: file.slice(0, -3), title, summary: plain, text };
    }),
  );
  const index = guides.find(({ name }) => name === 'README')?.text ?? '';
  const place = ({ name }: Guide) => (name === 'README' ? -1 : index.indexOf(`(${name}.md`));
  return guides.sort((a, b) => place(a) - place(b));
}

/** `/docs/guides`, and below it each guide, as a page and as Markdown. */
export async function guidePage(site: Site, path: string): Promise<Response | undefined> {
  const [, name = ''] = /^\/guides(?:\/([\w-]+(?:\.md)?))?$/.exec(path) ?? [undefined, '?'];
  read ??= readGuides();
  const guides = await read;
  const guide = guides.find((one) => one.name === (name.replace(/\.md$/, '') || 'README'));
  if (guide === undefined) return undefined;
  if (!name.endsWith('.md')) return pageOf(guide, guides, site);
  const headers = ['Cache-Control', 'no-cache'];
  return { status: 200, headers, body: guide.text, type: types.md };
}

/** `/llms.txt`: what there is to read, for programs that read prose (llmstxt.org). */
export async function llmsText(origin: string): Promise<Text> {
  read ??= readGuides();
  const guides = (await read).filter(({ name }) => name !== 'README');
  const items = guides.map(
    ({ name, title, summary }) => `- [${title}](${origin}/docs/guides/${name}.md): ${summary}`,
  );
  const text = `# Rostrum

> A server of users and posts, over HTTP and JSON.

- [The description of the API](${origin}/openapi.json): OpenAPI 3.1, with the custom fields of this server

## Guides

${items.join('\n')}
`;
  return ['/llms.txt', types.md, text];
}

async function pageOf(guide: Guide, guides: readonly Guide[], site: Site): Promise<Response> {
  const at = `${site.base}/docs/guides`;
  const items = guides.map(({ name, title }) => {
    const path = name === 'README' ? at : `${at}/${name}`;
    const mark = name === guide.name ? ' aria-current="page"' : '';
    return `<li><a href="${escapeHtml(path)}"${mark}>${escapeHtml(title)}</a></li>`;
  });
  const markdown = `${escapeHtml(at)}/${guide.name}.md`;
  const body = `<div class="guide"><nav aria-label="Guides"><ul>${items.join('\n')}</ul></nav>
<main>${await htmlOf(guide.text, at, guides)}
<p class="soft"><a href="${markdown}">This page as Markdown</a></p></main></div>`;
  return page({ title: guide.title, body, links: site.links, path: at });
}

/** HTML of Markdown that we wrote: what is HTML in it is shown as text. */
async function htmlOf(text: string, at: string, guides: readonly Guide[]): Promise<string> {
  const { Marked } = await import('marked');
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }: Tokens.Heading) {
        return `<h${depth} id="${anchor(title)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens);
        const target = targetOf(href, at, guides);
        return target === undefined ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`;
      },
      html: ({ text: html }: Tokens.HTML | Tokens.Tag) => escapeHtml(html),
      code: ({ text: code }: Tokens.Code) =>
        `<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>\n`,
    },
  });
  const html = await marked.parse(text);
  return html
    .replaceAll('<table>', '<div class="scroll" tabindex="0" role="group"><table>')
    .replaceAll('</table>', '</table></div>');
}

/** The name of a heading in links, as GitHub makes it. */
function anchor(title: string): string {
  const plain = title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  return plain.trim().replace(/\s/g, '-');
}

/** Where a link of the documentation leads on this server; undefined for what is not served. */
function targetOf(href: string, at: string, guides: readonly Guide[]): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [, name, fragment = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (!guides.some((guide) => guide.name === name)) return undefined;
  return name === 'README' ? at + fragment : `${at}/${name}${fragment}`;
}
