import { readFile } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import { resolveOptional, type StaticFile } from './files.ts';
import { escapeHtml, type Site, sendHtml } from './html.ts';

/** The optional package with Swagger UI. */
const library = 'swagger-ui-dist';
const [css, js] = ['text/css; charset=utf-8', 'text/javascript; charset=utf-8'];

const style = `@media (prefers-color-scheme: dark) { #docs { filter: invert(.9) hue-rotate(180deg) } }`;
const script = `SwaggerUIBundle({ url: document.getElementById('docs').dataset.url, dom_id: '#docs', validatorUrl: null });`;
const fileOf = (name: string) => resolveOptional(`${library}/${name}`);

/** The files that `/docs` loads, keyed by their path below it. */
export const docsFiles: Readonly<Record<string, StaticFile>> = {
  'swagger-ui.css': {
    type: css,
    read: () => readFile(fileOf('swagger-ui.css') ?? '', 'utf8'),
  },
  'swagger-ui-bundle.js': {
    type: js,
    read: () => readFile(fileOf('swagger-ui-bundle.js') ?? '', 'utf8'),
  },
  'docs.css': { type: css, read: () => style },
  'docs.js': { type: js, read: () => script },
};

export const hasDocs = () => fileOf('swagger-ui.css') !== undefined;

/** `/docs`: unmodified Swagger UI with our description. It contacts no other host. */
export function sendDocs(ctx: Context, site: Site): void {
  if (!site.pages.has('docs')) {
    const sentence = `This page needs a package: run \`npm i ${library}\` on the server.`;
    throw new Problem('path-not-found', sentence);
  }
  const at = `${escapeHtml(site.base)}/docs`;
  const body = `<div id="docs" data-url="${escapeHtml(site.base)}/openapi.json"></div>
<script defer src="${at}/swagger-ui-bundle.js"></script><script defer src="${at}/docs.js"></script>`;
  const styles = ['swagger-ui', 'docs'].map(
    (name) => `<link rel="stylesheet" href="${at}/${name}.css">\n`,
  );
  sendHtml(ctx, site, 'API reference · Rostrum', body, styles.join(''));
}
