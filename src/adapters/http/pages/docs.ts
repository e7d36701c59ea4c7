import { readFile } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import { resolveOptional, type StaticFile } from './files.ts';
import { escapeHtml, type Site, sendPage } from './html.ts';

/** The optional package that shows the description. */
const library = 'swagger-ui-dist';

const style = `body { margin: 0 } .swagger-ui .information-container .info { margin: 20px 0 }
@media (prefers-color-scheme: dark) { #docs { filter: invert(.9) hue-rotate(180deg) } #docs .microlight { filter: none } }`;

const script = `SwaggerUIBundle({ url: document.getElementById('docs').dataset.url, dom_id: '#docs', deepLinking: true, validatorUrl: null });`;

/** The files that `/docs` loads, by their path below it. */
export const docsFiles: Readonly<Record<string, StaticFile>> = {
  'swagger-ui.css': fileOfLibrary('swagger-ui.css', 'text/css; charset=utf-8'),
  'swagger-ui-bundle.js': fileOfLibrary('swagger-ui-bundle.js', 'text/javascript; charset=utf-8'),
  'docs.css': { type: 'text/css; charset=utf-8', read: () => style },
  'docs.js': { type: 'text/javascript; charset=utf-8', read: () => script },
};

function fileOfLibrary(name: string, type: string): StaticFile {
  return { type, read: () => readFile(resolveOptional(`${library}/${name}`) ?? '', 'utf8') };
}

export function hasDocs(): boolean {
  return resolveOptional(`${library}/swagger-ui.css`) !== undefined;
}

/** @throws Problem `path-not-found` if the package is not installed */
function checkDocs(): void {
  if (hasDocs()) return;
  const sentence = `This page needs a package: run \`npm i ${library}\` on the server.`;
  throw new Problem('path-not-found', sentence);
}

/** `/docs`: Swagger UI, as it ships, with our description. It contacts no other host. */
export function sendDocs(ctx: Context, site: Site): void {
  checkDocs();
  const base = escapeHtml(site.base);
  sendPage(ctx, site, {
    title: 'API reference · Rostrum',
    head: ['swagger-ui', 'docs']
      .map((name) => `<link rel="stylesheet" href="${base}/docs/${name}.css">\n`)
      .join(''),
    body: `<div id="docs" data-url="${base}/openapi.json"></div>
<script defer src="${base}/docs/swagger-ui-bundle.js"></script>
<script defer src="${base}/docs/docs.js"></script>`,
    hasScript: true,
  });
}
