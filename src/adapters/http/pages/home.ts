import type { Context } from 'koa';
import { json, type Response } from '../response.ts';
import { hasDocsPage } from './docs.ts';
import { escapeHtml, negotiated, page, wantsPage } from './html.ts';

/**
 * `/`: what this is, whether it is well, and where to go. `/docs` is named where it is served.
 *
 * @param site where the paths below lie; empty for the server itself
 */
export function homePage(ctx: Context, site: string, prefix: string, isReady: boolean): Response {
  const links = {
    api: `${site}${prefix}`,
    ...(hasDocsPage() && { docs: `${site}/docs` }),
    openapi: `${site}/openapi.json`,
    live: `${site}/livez`,
    ready: `${site}/readyz`,
  };
  if (!wantsPage(ctx)) {
    const status = isReady ? 'ok' : 'unavailable';
    return json(200, JSON.stringify({ name: 'Rostrum', status, ...links }), negotiated);
  }
  const state = isReady ? 'It is ready.' : 'It runs, but its store is not available at present.';
  const items = [
    ...(links.docs ? [[links.docs, '/docs', 'Read about the API, and try it.']] : []),
    [links.openapi, '/openapi.json', 'The description for programs (OpenAPI 3.1).'],
    [`${links.api}/users`, `${prefix}/users`, 'The users, as JSON.'],
    [`${links.api}/posts`, `${prefix}/posts`, 'The posts, as JSON.'],
    [links.ready, '/readyz', 'Whether it can serve, for a probe.'],
  ].map(([url = '', name = '', text = '']) => {
    return `<dt><a href="${escapeHtml(url)}">${escapeHtml(name)}</a></dt><dd>${text}</dd>`;
  });
  return page(
    'Rostrum',
    `<p>A server of users and posts, over HTTP and JSON. ${state}</p>
<dl>
${items.join('\n')}
</dl>`,
  );
}
