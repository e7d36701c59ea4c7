import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { type Response, revalidated } from '../response.ts';
import { brand, favicon, style } from './style.ts';

/** A longer `Accept` is not parsed: the parser's time grows with the square of its length. */
export const maxAcceptLength = 1024;

/** True for a person with a browser, false for a program. */
export function wantsPage(ctx: Context): boolean {
  return ctx.get('Accept').length <= maxAcceptLength && ctx.accepts('json', 'html') === 'html';
}

/** Of what comes as a page and as JSON. */
export const negotiated: readonly string[] = ['Vary', 'Accept', ...revalidated];

/** What a page may load, beside what every page has. */
interface Sources {
  readonly script?: string;
  readonly style?: string;
  readonly connect?: string;
  readonly image?: string;
}

interface Page {
  readonly title: string;
  /** HTML, with the texts in it escaped. */
  readonly body: string;
  /** More of the head. */
  readonly head?: string;
  /** Attributes of the root. */
  readonly root?: string;
  /** Links on top of the page: path and name. */
  readonly links?: readonly (readonly [path: string, name: string])[];
  /** Where the page is: the link to it is marked. */
  readonly path?: string;
  readonly sources?: Sources;
  readonly status?: number;
}

/** Names an inline script or style by its digest (CSP Level 3, section 2.3.1): no other one runs. */
export function digest(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

const ownStyle = digest(style);
const icon = `data:image/svg+xml,${encodeURIComponent(favicon)}`;

/** A page for a person. It loads nothing from another host, and runs no script that stands in it. */
export function page({ title, body, head = '', root = '', ...page }: Page): Response {
  const { links = [], path, sources = {}, status = 200 } = page;
  const [home, ...others] = links;
  const name = `${brand}Rostrum`;
  const top = home === undefined ? `<span class="brand">${name}</span>` : link(home, name, 'brand');
  const whole = title === 'Rostrum' ? title : `${title} · Rostrum`;
  const text = `<!doctype html>
<html lang="en"${root}>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(whole)}</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
${head}<header class="top">${top}<nav aria-label="Pages">
${others.map((one) => link(one, escapeHtml(one[1]), '', one[0] === path)).join('\n')}</nav></header>
${body}
</html>
`;
  const { script, style: styles = '', connect, image = '' } = sources;
  const policy = [
    ...[
      "default-src 'none'",
      `style-src ${ownStyle} ${styles}`.trim(),
      `img-src data: ${image}`.trim(),
    ],
    ...(script === undefined ? [] : [`script-src ${script}`]),
    ...(connect === undefined ? [] : [`connect-src ${connect}`]),
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ].join('; ');
  const headers = [...negotiated, 'Content-Security-Policy', policy];
  return { status, headers, body: text, type: 'text/html; charset=utf-8' };
}

function link([path]: readonly [string, string], html: string, name = '', isHere = false): string {
  const marks = `${name && ` class="${name}"`}${isHere ? ' aria-current="page"' : ''}`;
  return `<a href="${escapeHtml(path)}"${marks}>${html}</a>`;
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
