import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Context } from 'koa';
import { Problem, unserved } from '../problems/problem.ts';
import type { Response } from '../response.ts';
import { Files, isInstalled, types } from './files.ts';
import { guidePage } from './guides.ts';
import { escapeHtml, page } from './html.ts';
import { referenceStyle } from './reference-style.ts';
import type { Site } from './site.ts';

const require = createRequire(import.meta.url);

/** The optional package that the reference is made by. */
const library = 'swagger-ui-dist';
/** The one that the guides are made by. */
const markdown = 'marked';

const files = new Files(() => {
  const read = (name: string) => readFile(require.resolve(`${library}/${name}`), 'utf8');
  return [
    ['/swagger-ui.css', types.css, async () => referenceStyle(await read('swagger-ui.css'))],
    ['/swagger-ui-bundle.js', types.js, () => read('swagger-ui-bundle.js')],
  ];
});

/**
 * `/docs`: a page to read about the API and try it, and guides below it. It contacts no other host.
 *
 * @param path below `/docs`
 * @throws Problem `path-not-found` where the packages are not installed
 */
export async function docsPage(ctx: Context, site: Site, path: string): Promise<Response> {
  if (!hasDocsPage()) {
    const sentence = `This page needs packages: run "npm i ${library} ${markdown}" on the server.`;
    throw new Problem('path-not-found', sentence);
  }
  if (path === '') return document(site);
  const found = (await files.find(ctx, path)) ?? (await guidePage(ctx, site, path));
  if (found === undefined) throw unserved({ isValid: true }, `the page is ${site.base}/docs`);
  return found;
}

/** Whether the optional packages are installed. */
export function hasDocsPage(): boolean {
  return isInstalled(`${library}/swagger-ui.css`) && isInstalled(markdown);
}

function document({ base, links, own }: Site): Response {
  const at = escapeHtml(base);
  return page({
    ...{ title: 'Reference', links, path: `${base}/docs` },
    root: ` data-description="${at}/openapi.json" data-site="${at}"`,
    head: `<link rel="stylesheet" href="${at}/docs/swagger-ui.css">\n`,
    body: `<main class="reference"><h1>Reference</h1>
<p class="lead">Open an operation to read what it takes and what it returns, and to try it here.
For programs there are <a href="${at}/openapi.json">OpenAPI 3.1</a> and <a href="${at}/llms.txt">llms.txt</a>.</p>
<div id="docs"></div></main>
<script defer src="${at}/docs/swagger-ui-bundle.js"></script>
<script type="module" src="${at}/reference.js"></script>`,
    sources: { script: own, style: own, connect: own, image: own },
  });
}
