import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';

/** A longer `Accept` is not parsed: parsing it takes time that grows with the square of its length. */
export const maxAcceptLength = 1024;

/** True for a browser, false for a program. */
export function wantsPage(ctx: Context): boolean {
  return ctx.get('Accept').length <= maxAcceptLength && ctx.accepts('json', 'html') === 'html';
}

/** Sets the headers of a response that is a page for browsers and JSON for programs. */
export function setNegotiated(ctx: Context): void {
  ctx.vary('Accept');
  ctx.set('Cache-Control', 'no-cache');
}

/** Every colour has a contrast of at least 4.5 to 1. */
const style = `:root { color-scheme: light dark; --ground: light-dark(#fbfbfd, #101218); --raised: light-dark(#fff, #191c25);
  --ink: light-dark(#1b1f2a, #e7e9f0); --soft: light-dark(#565d70, #a3abbf); --line: light-dark(#dfe2ea, #2c3140);
  --accent: light-dark(#4338ca, #a5a9ff); --bad: light-dark(#b3122d, #ff9aa6); --good: light-dark(#0d6b43, #6fd8a8) }
* { box-sizing: border-box }
html { background: var(--ground); color: var(--ink) }
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere }
a { color: var(--accent) } :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: .7rem 1.5rem; background: var(--raised); border-bottom: 1px solid var(--line) }
header a { color: var(--soft); text-decoration: none } header [aria-current] { color: var(--ink); font-weight: 600 }
main { max-width: 54rem; margin: 0 auto; padding: 2rem 1.5rem } .soft { color: var(--soft) }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .75rem } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem }
code, pre { font-family: ui-monospace, monospace; font-size: .875em }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1rem; white-space: pre-wrap }
table { border-collapse: collapse } th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line) }
.good { color: var(--good) } .bad { color: var(--bad) }
`;

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4338ca"/>' +
  '<path d="M8 9h16l-2 6H10zM14 15h4v8h-4zM11 23h10v2.5H11z" fill="#fff"/></svg>';
export const favicon = icon;

/** Names an inline style in a policy by its digest (CSP Level 3, section 2.3.1). */
const ownStyle = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;

/** What pages link to, and where scripts and styles can come from. */
export interface Site {
  /** The public URL of the server, or an empty text. */
  readonly base: string;
  /** The pages in the header: path and name. */
  readonly links: readonly (readonly [path: string, name: string])[];
}

interface Page {
  readonly title: string;
  /** HTML, escaped. */
  readonly body: string;
  readonly head?: string;
  readonly status?: number;
  /** True if the page loads scripts and data from the server. */
  readonly hasScript?: boolean;
}

/** The headers of a page. It loads nothing from another host, and runs no inline script. */
export function pageHeaders({ base }: Pick<Site, 'base'>, hasScript: boolean) {
  const own = base === '' ? "'self'" : `'self' ${new URL(base).origin}`;
  return {
    'Content-Security-Policy':
      `default-src 'none'; style-src ${ownStyle} ${own}; img-src data: ${own}; ` +
      (hasScript ? `script-src ${own}; connect-src ${own}; ` : '') +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
  };
}

/** Responds with a page. */
export function sendPage(ctx: Context, site: Site, page: Page): void {
  const { base, links } = site;
  const { title, body, head = '', status = 200, hasScript = false } = page;
  const items = links.map(([path, name]) => {
    const mark = base + ctx.path === path ? ' aria-current="page"' : '';
    return `<a href="${escapeHtml(path)}"${mark}>${name}</a>`;
  });
  ctx.status = status;
  setNegotiated(ctx);
  ctx.set({ 'Content-Type': 'text/html; charset=utf-8', ...pageHeaders(site, hasScript) });
  ctx.body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
<style>${style}</style>
${head}<header><nav aria-label="Pages">${items.join(' ')}</nav></header>
${body}
</html>
`;
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
