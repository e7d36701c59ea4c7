import { readFileSync } from 'node:fs';
import { type Context, originOf } from '../context.ts';
import { sendJson } from '../endpoints/records.ts';
import type { RostrumAppOptions } from '../options.ts';
import { escapeHtml, type Site, sendPage, setNegotiated, wantsPage } from './html.ts';

const started = new Date();

/** The manifest lies at the same place above the sources and above the build. */
function version(): string {
  const manifest = new URL('../../../../package.json', import.meta.url);
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}

/** What runs: version, store, and since when. */
export function facts({ about }: RostrumAppOptions): readonly string[] {
  if (about === undefined) return [];
  const since = started.toISOString().slice(0, 16).replace('T', ' ');
  return [`Version ${version()}`, about.store, `since ${since} UTC`];
}

/** `/`: what runs, whether it is ready, links, and a first request. JSON for programs. */
export function sendHome(
  ctx: Context,
  site: Site,
  options: RostrumAppOptions,
  pages: ReadonlySet<string>,
  isReady: boolean,
): void {
  const { base } = site;
  const { base: api } = ctx.state.rostrum;
  const links = {
    api,
    ...(pages.has('docs') && { docs: `${base}/docs` }),
    ...(pages.has('admin') && { admin: `${base}/admin` }),
    openapi: `${base}/openapi.json`,
    live: `${base}/livez`,
    ready: `${base}/readyz`,
  };
  if (!pages.has('home') || !wantsPage(ctx)) {
    const status = isReady ? 'ok' : 'unavailable';
    setNegotiated(ctx);
    sendJson(ctx, 200, `${JSON.stringify({ name: 'Rostrum', status, ...links })}\n`);
    return;
  }
  const state = isReady
    ? '<strong class="good">Ready.</strong>'
    : '<strong class="bad">The store is not available at present.</strong>';
  const isOpen = options.authenticate === undefined;
  const token = isOpen ? '' : `  -H 'Authorization: Bearer KEY' \\\n`;
  const users = api.startsWith('http')
    ? `${api}/users`
    : `${originOf(ctx)}${options.prefix ?? '/api/v1'}/users`;
  const curl = `curl ${users} \\\n${token}  -H 'Content-Type: application/json' -d '{ "name": "Ada" }'`;
  const items = [
    ...(pages.has('docs') ? [['/docs', 'Try the API in the browser']] : []),
    ...(pages.has('admin') ? [['/admin', 'See and edit users and posts']] : []),
    ...[
      ['/openapi.json', 'The description of the API (OpenAPI 3.1)'],
      ['/problems', 'What each error means'],
    ],
  ].map(([path = '', text]) => `<li><a href="${escapeHtml(base + path)}">${text}</a></li>`);
  const body = `<main><h1>Rostrum</h1>
<p>A users-and-posts backend. ${state} <span class="soft">${isOpen ? escapeHtml(facts(options).join(' · ')) : ''}</span></p>
<ul>${items.join('\n')}</ul>
<h2>Create a user</h2>
${isOpen ? '' : '<p>This server requires credentials. Its operator creates keys with <code>rostrum key create</code>.</p>'}
<pre tabindex="0"><code>${escapeHtml(curl)}</code></pre></main>`;
  sendPage(ctx, site, { title: 'Rostrum', body });
}
