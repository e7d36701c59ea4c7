import { hash } from 'node:crypto';
import type { Context } from '../context.ts';
import type { PageName } from '../options.ts';

/** A longer `Accept` is not parsed: parsing takes quadratic time. */
export const maxAcceptLength = 1024;

/** Chooses between HTML and JSON by `Accept`, and says so in `Vary`. Returns true for HTML. */
export function negotiateHtml(ctx: Context): boolean {
  ctx.vary('Accept');
  const { accept = '' } = ctx.headers;
  return accept.length <= maxAcceptLength && ctx.accepts('json', 'html') === 'html';
}

/** Every color has a contrast of at least 4.5:1. */
const style = `:root { color-scheme: light dark; --soft: light-dark(#565d70, #a3abbf); --line: light-dark(#dfe2ea, #2c3140);
  background: light-dark(#fbfbfd, #101218); color: light-dark(#1b1f2a, #e7e9f0) }
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere } a { color: light-dark(#4338ca, #a5a9ff) }
nav { display: flex; gap: 1.25rem; padding: .7rem 1.5rem; border-bottom: 1px solid var(--line) } main { max-width: 54rem; margin: auto; padding: 2rem 1.5rem }
code { font-family: ui-monospace, monospace; font-size: .875em } .soft { color: var(--soft) }
pre { border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1rem; white-space: pre-wrap }
.good { color: light-dark(#0d6b43, #6fd8a8) } .bad { color: light-dark(#b3122d, #ff9aa6) }
`;

export const favicon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4338ca"/>' +
  '<path d="M8 9h16l-2 6H10zM14 15h4v8h-4zM11 23h10v2.5H11z" fill="#fff"/></svg>';

/** Names an inline style in a policy by its digest (CSP Level 3, section 2.3.1). */
const ownStyle = `'sha256-${hash('sha256', style, 'base64')}'`;

/** Settings shared by all pages. */
export interface Site {
  /** The public URL of the server, or an empty string. */
  readonly base: string;
  readonly pages: ReadonlySet<PageName>;
  /** The pages in the header: path and name. */
  readonly links: readonly (readonly [path: string, name: string])[];
}

/** The headers of a page. It loads nothing from another host, and runs no inline script. */
export function pageHeaders({ base }: Site): Readonly<Record<string, string>> {
  const own = base === '' ? "'self'" : `'self' ${new URL(base).origin}`;
  return {
    'Content-Security-Policy':
      `default-src 'none'; style-src ${ownStyle} ${own}; img-src data: ${own}; script-src ${own}; ` +
      `connect-src ${own}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'Referrer-Policy': 'no-referrer',
  };
}

/** Responds with a page. Its body and head are HTML, with all text escaped. */
export function sendHtml(ctx: Context, site: Site, title: string, body: string, head = ''): void {
  const items = site.links.map(([path, name]) => `<a href="${escapeHtml(path)}">${name}</a>`);
  ctx.status = 200;
  ctx.set({ 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' });
  ctx.set(pageHeaders(site));
  ctx.body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(favicon)}">
<style>${style}</style>
${head}<nav aria-label="Pages">${items.join(' ')}</nav>
${body}
</html>
`;
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
