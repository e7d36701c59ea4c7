import { readFile } from 'node:fs/promises';
import type { Context } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import { docsFile, docsLibrary } from './assets.ts';
import type { StaticFile } from './files.ts';
import { escapeHtml, type Site, sendHtml } from './html.ts';

const [css, js] = ['text/css; charset=utf-8', 'text/javascript; charset=utf-8'];
const readLibrary = (name: string) => readFile(docsFile(name) ?? '', 'utf8');

/**
 * Gives Swagger UI's colors a contrast of at least 4.5:1 and its tables one column on narrow screens. Hides the choice
 * among one server, and padlocks: they are closed where no credentials are needed.
 */
const style = `.swagger-ui { --label: light-dark(#3b4151, #e4e6e6); --mark: light-dark(#b3122d, #ff9aa6); --link: light-dark(#4338ca, #a5a9ff) }
.swagger-ui .opblock .opblock-summary-method, .swagger-ui .info .title small { background: #4b5565 !important; color: #fff !important }
.swagger-ui .opblock-get .opblock-summary-method { background: #1d5fa8 !important }
.swagger-ui .opblock-post .opblock-summary-method { background: #146c43 !important }
.swagger-ui .opblock-put .opblock-summary-method { background: #8a5200 !important }
.swagger-ui .opblock-patch .opblock-summary-method { background: #0f6b62 !important }
.swagger-ui .opblock-delete .opblock-summary-method { background: #b3122d !important }
.swagger-ui .info a, .swagger-ui .info .url, .swagger-ui .renderedMarkdown a, .swagger-ui .authorize span { color: var(--link) !important }
.swagger-ui :is(table.headers td, .parameter__type, .parameter__in, .prop-format, .json-schema-2020-12-expand-deep-button) { color: var(--label) !important }
.swagger-ui .parameter__name.required::after, .swagger-ui .parameter__name.required span { color: var(--mark) !important }
.swagger-ui .highlight-code * { background: #111 !important } .swagger-ui main { max-width: none; padding: 0 } .swagger-ui .info .title pre { border: 0; padding: 0 } .swagger-ui .tab-header { flex: none } .swagger-ui .parameter__type { white-space: nowrap }
.swagger-ui .opblock-summary :is(.authorization__btn, .copy-to-clipboard), .swagger-ui .schemes-server-container, .swagger-ui .scheme-container:not(:has(.auth-wrapper)) { display: none !important }
@media (max-width: 40rem) {
  .swagger-ui .opblock-tag { flex-wrap: wrap }
  .swagger-ui .opblock-tag small { flex: 1 0 100%; order: 1; padding: 0 }
  .swagger-ui .opblock-body :is(table, tbody, tr, td) { display: block; width: auto !important }
  .swagger-ui .opblock-body thead { display: none }
}`;

/** Starts Swagger UI, in its dark colors if the system's are dark. */
const script = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
SwaggerUIBundle({ url: document.getElementById('docs').dataset.url, dom_id: '#docs', validatorUrl: null });
`;

/** The files that `/docs` loads, keyed by their path below it. */
export const docsFiles: Readonly<Record<string, StaticFile>> = {
  'swagger-ui.css': { type: css, read: () => readLibrary('swagger-ui.css') },
  'swagger-ui-bundle.js': { type: js, read: () => readLibrary('swagger-ui-bundle.js') },
  'docs.css': { type: css, read: () => style },
  'docs.js': { type: js, read: () => script },
};

export const hasDocs = () => docsFile('swagger-ui.css') !== undefined;

/** `/docs`: unmodified Swagger UI with our description. It contacts no other host. */
export function sendDocs(ctx: Context, site: Site): void {
  if (!site.pages.has('docs')) {
    const sentence = `This page needs a package: run \`npm i ${docsLibrary}\` on the server.`;
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
