import { readFile } from 'node:fs/promises';
import type { CheckedOptions } from '../check-options.ts';
import { type Context, publicUrlOf, sendJson } from '../context.ts';
import { loadOnce } from './files.ts';
import { escapeHtml, negotiateHtml, type Site, sendHtml } from './html.ts';

const started = new Date().toISOString().slice(0, 16).replace('T', ' ');

const version = loadOnce(async () => {
  // The path is the same from the sources and from the build.
  const manifest = await readFile(new URL('../../../../package.json', import.meta.url), 'utf8');
  return JSON.parse(manifest).version as string;
});

/** Returns the version, the store and the start time. */
export async function programFacts({ about }: CheckedOptions): Promise<readonly string[]> {
  if (about === undefined) return [];
  return [`Version ${await version()}`, about.store, `since ${started} UTC`];
}

/** `/`: version, readiness, links and a first request; JSON for programs. */
export async function sendHome(
  ctx: Context,
  site: Site,
  options: CheckedOptions,
  isReady: boolean,
): Promise<void> {
  const { base, pages } = site;
  const api = ctx.state.rostrum.apiUrl;
  const links = {
    api,
    ...(pages.has('docs') && { docs: `${base}/docs` }),
    ...(pages.has('admin') && { admin: `${base}/admin` }),
    openapi: `${base}/openapi.json`,
    live: `${base}/livez`,
    ready: `${base}/readyz`,
  };
  if (!negotiateHtml(ctx) || !pages.has('home')) {
    const status = isReady ? 'ok' : 'unavailable';
    sendJson(ctx, { name: 'Rostrum', status, ...links });
    return;
  }
  const isOpen = options.authenticate === undefined;
  const url = `${api.startsWith('http') ? '' : publicUrlOf(ctx)}${api}/users`;
  const key = isOpen ? '' : ` -H 'Authorization: Bearer KEY'`;
  const curl = `curl ${url}${key} -H 'Content-Type: application/json' -d '{ "name": "Ada" }'`;
  const items = [
    ...site.links.slice(1),
    [`${base}/problems`, 'Errors'],
    [links.openapi, 'OpenAPI'],
  ];
  const state = isReady
    ? '<strong class="good">Ready.</strong>'
    : '<strong class="bad">The store is currently unavailable.</strong>';
  const about = isOpen ? (await programFacts(options)).join(' · ') : '';
  const body = `<main><h1>Rostrum</h1><p>A users-and-posts backend. ${state} ${escapeHtml(about)}</p>
<ul>${items.map(([path = '', text]) => `<li><a href="${escapeHtml(path)}">${text}</a></li>`).join('')}</ul>
<h2>Create a user</h2>${isOpen ? '' : '<p>The operator creates keys with <code>rostrum key create</code>.</p>'}
<pre tabindex="0"><code>${escapeHtml(curl)}</code></pre></main>`;
  sendHtml(ctx, site, 'Rostrum', body);
}
