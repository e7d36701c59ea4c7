import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip as gzipBytes } from 'node:zlib';
import type { Context } from 'koa';
import { Problem, unserved } from '../problems/problem.ts';
import { type Response, revalidated } from '../response.ts';
import { escapeHtml, maxAcceptLength } from './html.ts';

const gzip = promisify(gzipBytes);

/** The optional package that the page is made by. */
const library = 'swagger-ui-dist';

/** Our own script: the page's policy lets none run that stands in the page. */
const start = Buffer.from(`const { description } = document.documentElement.dataset;
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
`);

/** The library's table of responses is wider than a phone: it scrolls, and the page does not. */
const narrow = '\n.swagger-ui .responses-inner { overflow-x: auto }\n';

const types: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

/** A file as it is, and compressed once for all who can read that. */
interface Asset {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

const files = new Map<string, Promise<Asset>>();

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
  if (path === '/start.js') return asset(start, 'text/javascript; charset=utf-8');
  const name = path.slice(1);
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  if (path !== '' && type === undefined) {
    throw unserved({ isValid: true }, hasDocsPage() ? `the page is ${site}/docs` : undefined);
  }
  const { plain, gzipped } = await read(type === undefined ? 'swagger-ui.css' : name);
  if (type === undefined) return document(site);
  const isGzip = acceptsGzip.test(ctx.get('Accept-Encoding').slice(0, maxAcceptLength));
  const encoding = isGzip ? ['Content-Encoding', 'gzip'] : [];
  return asset(isGzip ? gzipped : plain, type, ['Vary', 'Accept-Encoding', ...encoding]);
}

/** Reads a file of the package once. */
function read(name: string): Promise<Asset> {
  const known = files.get(name);
  if (known !== undefined) return known;
  const bytes = load(name);
  files.set(name, bytes);
  bytes.catch(() => files.delete(name)); // It may be installed later.
  return bytes;
}

async function load(name: string): Promise<Asset> {
  const path = pathOf(name);
  if (path === undefined) {
    const sentence = `This page needs the package ${library}: run "npm i ${library}" on the server.`;
    throw new Problem('path-not-found', sentence);
  }
  const bytes = await readFile(path);
  const plain = name.endsWith('.css') ? Buffer.concat([bytes, Buffer.from(narrow)]) : bytes;
  return { plain, gzipped: await gzip(plain) };
}

/** Where a file of the package is; undefined where the package is not installed. */
function pathOf(name: string): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`${library}/${name}`);
  } catch {
    return undefined;
  }
}

/** Whether the optional package is installed. */
export function hasDocsPage(): boolean {
  return pathOf('swagger-ui.css') !== undefined;
}

function asset(body: Buffer, type: string, more: readonly string[] = []): Response {
  return { status: 200, headers: ['Cache-Control', 'max-age=3600', ...more], body, type };
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
