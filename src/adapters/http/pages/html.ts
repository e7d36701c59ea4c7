import type { Context } from 'koa';
import { type Response, revalidated } from '../response.ts';

/** A longer `Accept` is not parsed: the parser's time grows with the square of its length. */
export const maxAcceptLength = 1024;

/** True for a person with a browser, false for a program. */
export function wantsPage(ctx: Context): boolean {
  return ctx.get('Accept').length <= maxAcceptLength && ctx.accepts('json', 'html') === 'html';
}

/** Of what comes as a page and as JSON. */
export const negotiated: readonly string[] = ['Vary', 'Accept', ...revalidated];

const style = `:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; overflow-wrap: anywhere }
dt { font-weight: bold } dd { margin: 0 0 .75rem }`;

/** No script, and nothing from anywhere else. */
const policy = [
  ...["default-src 'none'", "style-src 'unsafe-inline'", "base-uri 'none'"],
  ...["form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

/** A small page for a person. @param body HTML, with the texts in it escaped */
export function page(title: string, body: string): Response {
  const text = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
<h1>${escapeHtml(title)}</h1>
${body}
</html>
`;
  const headers = [...negotiated, 'Content-Security-Policy', policy];
  return { status: 200, headers, body: text, type: 'text/html; charset=utf-8' };
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
