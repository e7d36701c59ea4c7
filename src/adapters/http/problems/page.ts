import type { Context } from 'koa';
import type { Exchange } from '../exchange.ts';
import { readOnly } from '../request/read-only.ts';
import { json, type Response } from '../response.ts';
import { type ProblemType, problemType } from './catalogue.ts';
import { unserved } from './problem.ts';

/** A longer `Accept` is not parsed: the parser's time grows with the square of its length. */
const maxAcceptLength = 1024;

/** `/problems/:code`: what a code means, as a page for a person and as JSON for a program. */
export function problemPage(ctx: Context, { target, problems }: Exchange, code: string): Response {
  const type = target.isValid ? problemType(code) : undefined;
  if (type === undefined) throw unserved(target);
  return readOnly(ctx, () =>
    wantsPage(ctx) ? page(code, type) : description(code, type, problems),
  );
}

function wantsPage(ctx: Context): boolean {
  return ctx.get('Accept').length <= maxAcceptLength && ctx.accepts('json', 'html') === 'html';
}

const headers = ['Vary', 'Accept', 'Cache-Control', 'no-cache'];

function description(code: string, type: ProblemType, problems: string): Response {
  const { status, title, meaning, advice } = type;
  const body = { type: `${problems}/${code}`, title, status, code, meaning, advice };
  return json(200, JSON.stringify(body), headers);
}

function page(code: string, { status, title, meaning, advice }: ProblemType): Response {
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }</style>
<h1>${escapeHtml(title)}</h1>
<p><code>${escapeHtml(code)}</code>, HTTP status ${status}</p>
<p>${escapeHtml(meaning)}</p>
<h2>What to do</h2>
<p>${escapeHtml(advice)}</p>
</html>
`;
  const policy = ['Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'"];
  return { status: 200, headers: [...headers, ...policy], body, type: 'text/html; charset=utf-8' };
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
