import { readFileSync } from 'node:fs';
import type { Context } from 'koa';
import { scopes } from '../../../domain/caller.ts';
import type { RostrumAppOptions } from '../options.ts';
import { json, type Response } from '../response.ts';
import { escapeHtml, negotiated, page, wantsPage } from './html.ts';
import type { Site } from './site.ts';

const started = new Date();

/** The manifest lies at the same place above the sources and above the build. */
function version(): string {
  const manifest = new URL('../../../../package.json', import.meta.url);
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}

/**
 * `/`: what this is, whether it is well, and where to go; JSON for a program. `/docs` is named where
 * it is served.
 */
export function homePage(
  ctx: Context,
  site: Site,
  options: RostrumAppOptions,
  isReady: boolean,
): Response {
  const { base, prefix, pages } = site;
  const links = {
    api: `${base}${prefix}`,
    ...(pages.has('docs') && { docs: `${base}/docs` }),
    ...(pages.has('admin') && { admin: `${base}/admin` }),
    openapi: `${base}/openapi.json`,
    live: `${base}/livez`,
    ready: `${base}/readyz`,
  };
  if (!pages.has('home') || !wantsPage(ctx)) {
    const status = isReady ? 'ok' : 'unavailable';
    return json(200, JSON.stringify({ name: 'Rostrum', status, ...links }), negotiated);
  }
  const origin = base === '' ? ctx.state.exchange.site : base;
  return page({
    ...{ title: 'Rostrum', links: site.links, path: `${base}/` },
    root: rootOf(site, options),
    head: `<script type="module" src="${escapeHtml(base)}/home.js"></script>\n`,
    body: `<main>${introduction(site, options, isReady)}${firstRequest(origin + prefix, site, options)}
${differences(site)}${more(site, options)}</main>`,
    sources: { script: site.own, connect: site.own },
  });
}

/** What may be listed without credentials: the page asks for no other list without them. */
function openLists({ authenticate, anonymous }: RostrumAppOptions): readonly string[] {
  const given = anonymous ?? (authenticate === undefined ? scopes : []);
  const isOpen = (list: string) => given.some((scope) => scope.startsWith(`${list}:read`));
  return ['users', 'posts'].filter(isOpen);
}

/** What the script of the page goes by. */
function rootOf({ base, prefix, pages }: Site, options: RostrumAppOptions): string {
  const told = {
    ...{ api: base + prefix, lists: openLists(options).join(' ') },
    // Only where it is known what to do with a key.
    ...(pages.has('admin') && options.authenticate && { admin: `${base}/admin` }),
  };
  return Object.entries(told)
    .map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`)
    .join('');
}

/** What runs, in a few words each: version, store, and since when. */
export function facts({ about }: RostrumAppOptions): readonly string[] {
  if (about === undefined) return [];
  const since = started.toISOString().slice(0, 16).replace('T', ' ');
  return [`Version ${version()}`, about.store, `since ${since} UTC`];
}

function introduction({ base, pages }: Site, options: RostrumAppOptions, isReady: boolean): string {
  const state = isReady
    ? '<span class="badge good">Ready</span>'
    : '<span class="badge bad">Running, but its store is not available at present</span>';
  const told = options.authenticate === undefined ? facts(options).join(' · ') : '';
  const buttons = [
    ...(pages.has('admin') ? [['/admin', 'Open the admin page', ' primary']] : []),
    ...(pages.has('docs')
      ? [
          ['/docs', 'Read the reference', ''],
          ['/docs/guides', 'Guides', ''],
        ]
      : []),
  ].map(
    ([path = '', text = '', name = '']) =>
      `<a class="button${name}" href="${escapeHtml(base + path)}">${text}</a>`,
  );
  return `<h1>A server of users and posts</h1>
<p class="lead">Over HTTP and JSON, with changes that are never lost, repeats that are harmless,
and errors that say what to do.</p>
<p>${state} <span class="soft" id="facts">${escapeHtml(told)}</span></p>
<p class="soft row" id="counts"></p>
<p class="row">${buttons.join(' ')}</p>`;
}

/** Code that is to be copied. */
function code(text: string, label: string): string {
  return `<div><pre tabindex="0" data-copied aria-label="${label}"><code>${escapeHtml(text)}</code></pre></div>`;
}

function firstRequest(api: string, { base, pages }: Site, options: RostrumAppOptions): string {
  const { authenticate, anonymous } = options;
  const isAsked = authenticate !== undefined;
  const key = isAsked ? `\n  -H 'Authorization: Bearer KEY' \\` : '';
  const curl = `curl ${api}/users \\${key}
  -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: sign-up-4711' \\
  -d '{ "name": "Ada" }'

# With the id that came back:
curl ${api}/users/ID \\${key}
  -X PATCH \\
  -H 'Content-Type: application/json' \\
  -H 'If-Match: "1"' \\
  -d '{ "name": "Ada Lovelace" }'`;
  const program = `import { createClient } from 'rostrum-client';

const { users } = createClient({
  url: '${api}',${isAsked ? "\n  token: 'KEY'," : ''}
});
const ada = await users.create(
  { name: 'Ada' },
  { idempotencyKey: 'sign-up-4712' },
);
await users.patch(
  ada.record.id,
  { name: 'Ada Lovelace' },
  { ifMatch: ada.version },
);`;
  const open = anonymous === undefined ? '' : ` Without one it allows ${anonymous.join(', ')}.`;
  const signIn = pages.has('admin')
    ? ` <a href="${escapeHtml(base)}/admin">Sign in</a> with it, and the examples below run as its caller in this tab.`
    : '';
  const entry = isAsked
    ? `<p>This server asks for credentials: a key, which its operator makes by
<code>rostrum key create</code>, or an access token of its identity provider.${escapeHtml(open)}${signIn}</p>`
    : '';
  return `<h2>A first request</h2>${entry}
<div class="cards"><div class="card"><h3>In a terminal</h3>${code(curl, 'With curl')}</div>
<div class="card"><h3>In a program</h3>${code(program, 'With rostrum-client')}</div></div>`;
}

/** Each as the page shows it before it runs. */
function differences({ prefix }: Site): string {
  const cards = [
    [
      ...['conflict', 'A conflict is refused'],
      'Two people change one post: the second is told, and nothing is lost.',
      `PATCH ${prefix}/posts/0192…\n  If-Match: "1"\n→ 412 version-mismatch  ETag: "2"`,
    ],
    [
      ...['repeat', 'A repeat is answered once'],
      'A client that got no response sends again: there is one record.',
      `POST ${prefix}/posts\n  Idempotency-Key: 4711\n→ 201\n  Idempotency-Replayed: true`,
    ],
    [
      ...['pages', 'A page neither skips nor repeats'],
      'Whatever is inserted or deleted meanwhile, and as fast at any depth.',
      `GET ${prefix}/posts?limit=2\n→ 200: 1, 2\nMeanwhile 1 is deleted, and 2½ inserted.\nGET …&limit=2&cursor=WyJub3Rl…\n→ 200: 2½, 3`,
    ],
    [
      ...['problem', 'An error says what is wrong'],
      'Every field at once, by pointers that a form can use.',
      `POST ${prefix}/posts\n  {"title": " ", "publishedAt": "soon"}\n→ 422 invalid-record\n  /title: …\n  /publishedAt: …`,
    ],
  ].map(
    ([
      name = '',
      title = '',
      text = '',
      sample = '',
    ]) => `<li class="card"><h3>${title}</h3><p>${text}</p>
<pre tabindex="0" aria-live="polite" aria-label="${title}">${escapeHtml(sample)}</pre>
<button type="button" data-run="${name}" aria-label="Try it here: ${title}" hidden>Try it here</button></li>`,
  );
  return `<h2>What is different here</h2>
<p class="soft">Each example runs against this server. What it makes is a draft, and is deleted again.</p>
<ul class="cards">${cards.join('\n')}</ul>`;
}

function more({ base, prefix, pages }: Site, options: RostrumAppOptions): string {
  const items = [
    ['/openapi.json', 'The description for programs (OpenAPI 3.1).'],
    ...(pages.has('docs') ? [['/llms.txt', 'The guides, for language models.']] : []),
    ...openLists(options).map((list) => [`${prefix}/${list}`, `The ${list}, as JSON.`]),
    ['/problems', 'What each error means, and what to do.'],
    ['/readyz', 'Whether it can serve, for a probe.'],
  ].map(
    ([path = '', text = '']) =>
      `<tr><th scope="row"><a href="${escapeHtml(base + path)}">${escapeHtml(path)}</a></th><td>${text}</td></tr>`,
  );
  return `<h2>More</h2><table><tbody>${items.join('\n')}</tbody></table>`;
}
