import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip as gzipBytes } from 'node:zlib';
import type { Context } from 'koa';
import { Problem, unserved } from '../problems/problem.ts';
import { type Response, revalidated } from '../response.ts';
import { escapeHtml, maxAcceptLength } from './html.ts';

const gzip = promisify(gzipBytes);
const require = createRequire(import.meta.url);

/** The optional package that the page is made by. */
const library = 'swagger-ui-dist';

/** Our own script: the page's policy lets none run that stands in the page. */
const start = `const { description } = document.documentElement.dataset;
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
SwaggerUIBundle({
  url: description,
  dom_id: '#docs',
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
});
`;

/** The library's table of responses is wider than a phone: it scrolls, and the page does not. */
const narrow = '\n.swagger-ui .responses-inner { overflow-x: auto }\n';

/** A file as it is, and compressed once for all clients that can read that. */
interface File {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

/** What the page loads, by its path below `/docs`. */
let files: Promise<ReadonlyMap<string, File>> | undefined;

/** A client that accepts gzip; a quality of 0, or one that begins so, counts as none. */
const acceptsGzip = /(?:^|[,\s])gzip(?!\s*;\s*q=0)/i;

/**
 * `/docs`: a page to read about the API and try it. It contacts no other host.
 *
 * @param site where clients see the server, if that is set; else it is empty
 * @param path below `/docs`
 * @throws Problem `path-not-found` where the package is not installed
 */
export async function docsPage(ctx: Context, site: string, path: string): Promise<Response> {
  if (!hasDocsPage()) {
    const sentence = `This page needs the package ${library}: run "npm i ${library}" on the server.`;
    throw new Problem('path-not-found', sentence);
  }
  if (path === '') return document(site);
  files ??= readFiles();
  const file = (await files).get(path);
  if (file === undefined) throw unserved({ isValid: true }, `the page is ${site}/docs`);
  const isGzip = acceptsGzip.test(ctx.get('Accept-Encoding').slice(0, maxAcceptLength));
  return {
    status: 200,
    headers: [
      ...['Cache-Control', 'max-age=3600', 'Vary', 'Accept-Encoding'],
      ...(isGzip ? ['Content-Encoding', 'gzip'] : []),
    ],
    body: isGzip ? file.gzipped : file.plain,
    type: file.type,
  };
}

/** Whether the optional package is installed. */
export function hasDocsPage(): boolean {
  try {
    return require.resolve(`${library}/swagger-ui.css`) !== '';
  } catch {
    return false;
  }
}

async function readFiles(): Promise<ReadonlyMap<string, File>> {
  const read = (name: string) => readFile(require.resolve(`${library}/${name}`), 'utf8');
  const [css, js] = ['text/css; charset=utf-8', 'text/javascript; charset=utf-8'];
  const texts = [
    ['/swagger-ui.css', css, (await read('swagger-ui.css')) + narrow],
    ['/swagger-ui-bundle.js', js, await read('swagger-ui-bundle.js')],
    ['/start.js', js, start],
  ] as const;
  const all = texts.map(async ([path, type, text]) => {
    const plain = Buffer.from(text);
    return [path, { type, plain, gzipped: await gzip(plain) }] as const;
  });
  return new Map(await Promise.all(all));
}

function document(site: string): Response {
  const origin = site === '' ? '' : ` ${new URL(site).origin}`;
  const own = `'self'${origin}`;
  const policy = [
    ...["default-src 'none'", `script-src ${own}`, `style-src ${own}`, `connect-src ${own}`],
    ...[`img-src ${own} data:`, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ].join('; ');
  const base = escapeHtml(site);
  const body = `<!doctype html>
<html lang="en" data-description="${base}/openapi.json">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Rostrum: the API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/docs/swagger-ui.css">
<div id="docs"></div>
<script src="${base}/docs/swagger-ui-bundle.js"></script>
<script src="${base}/docs/start.js"></script>
</html>
`;
  return {
    status: 200,
    headers: [...revalidated, 'Content-Security-Policy', policy],
    body,
    type: 'text/html; charset=utf-8',
  };
}
