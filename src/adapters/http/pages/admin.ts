import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Context } from 'koa';
import { readsWhole } from '../../../domain/access.ts';
import { scopes } from '../../../domain/caller.ts';
import type { Exchange } from '../exchange.ts';
import { unserved } from '../problems/problem.ts';
import { json, type Response } from '../response.ts';
import { adminStyle } from './admin-style.ts';
import { extension, Files, isInstalled, readModule, type Source, types } from './files.ts';
import { digest, escapeHtml, page } from './html.ts';
import type { Site } from './site.ts';

const require = createRequire(import.meta.url);

const own = new URL('../../../browser/admin/', import.meta.url);
const client =
  extension === '.ts'
    ? new URL('../../../../packages/rostrum-client/src/', import.meta.url)
    : new URL('../client/', own);

/** The modules of the client that are for frameworks. */
const ofFrameworks = /^(?:admin|react-admin|refine)\./;

/** The optional package that the page is made by. */
const library = 'lit-html';

/** What of it the page needs. */
const ofLibrary = ['lit-html.js', 'directive.js', 'directive-helpers.js', 'directives/repeat.js'];

/** Whether the optional package is installed. */
export const hasAdmin = () => isInstalled(library);

/** `/admin`, and below it what it loads. */
export async function adminPage(ctx: Context, site: Site, path: string): Promise<Response> {
  if (path === '') return document(site);
  const file = await files.find(ctx, path);
  if (file === undefined) throw unserved({ isValid: true }, `the page is ${site.base}/admin`);
  return file;
}

/**
 * `/admin/caller`: as whom a request's credentials are known, and what they allow.
 *
 * @param runs what runs: told to a caller that may read all of users
 */
export function callerResponse(
  { caller, isAnonymous }: Exchange,
  asks: boolean,
  runs: readonly string[],
): Response {
  const { name = null, subject = null } = caller ?? {};
  const given = [...(caller?.scopes ?? (asks ? [] : scopes))];
  const isKnown = caller !== undefined && !isAnonymous;
  const told = isKnown && readsWhole(caller) && { runs };
  const body = { name: isKnown ? name : null, subject, scopes: given, asks, ...told };
  return json(200, JSON.stringify(body), ['Cache-Control', 'no-store', 'Vary', 'Authorization']);
}

type Module = readonly [path: string, file: URL];
let listed: readonly Module[] | undefined;
const modules = () => {
  listed ??= listModules();
  return listed;
};

function listModules(): readonly Module[] {
  // Node is given a build of its own, in a folder of the package.
  const ofPackage = pathToFileURL(require.resolve(library));
  const modulesIn = (folder: URL) =>
    readdirSync(folder).filter((name) => name.endsWith(extension) && !name.endsWith('.d.ts'));
  const path = (name: string) => name.replace(/\.ts$/, '.js');
  const ofClient = modulesIn(client).filter((name) => !ofFrameworks.test(name));
  return [
    ...modulesIn(own).map((name) => [`/${path(name)}`, new URL(name, own)] as const),
    ...ofClient.map((name) => [`/client/${path(name)}`, new URL(name, client)] as const),
    ...ofLibrary.map((name) => [`/${library}/${name}`, new URL(`../${name}`, ofPackage)] as const),
  ];
}

const files = new Files(() => [
  ...modules().map(([path, file]): Source => [path, types.js, () => readModule(file)]),
  ['/style.css', types.css, () => adminStyle],
]);

function document({ base, prefix, links, own }: Site): Response {
  const [path, at] = [`${base}/admin`, escapeHtml(`${base}/admin`)];
  const imports = JSON.stringify({
    imports: {
      [library]: `${path}/${library}/lit-html.js`,
      [`${library}/`]: `${path}/${library}/`,
      'rostrum-client': `${path}/client/index.js`,
    },
  });
  const loaded = [`${escapeHtml(base)}/description.js`, ...modules().map(([path]) => at + path)];
  const preloads = loaded.map((href) => `<link rel="modulepreload" href="${href}">`);
  return page({
    ...{ title: 'Admin', links, path },
    root: ` data-api="${escapeHtml(base + prefix)}" data-site="${escapeHtml(base)}"`,
    head: `<link rel="stylesheet" href="${at}/style.css">
<script type="importmap">${imports}</script>
${preloads.join('\n')}
<script type="module" src="${at}/admin.js"></script>
`,
    body: `<main id="admin"></main><noscript>This page needs JavaScript.</noscript>`,
    sources: { script: `${own} ${digest(imports)}`, style: own, connect: own },
  });
}
