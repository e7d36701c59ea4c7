import type { Context } from 'koa';
import { type Answer, sendAnswer } from './answer.ts';
import { pathNotFound } from './api.ts';
import { type ProblemKind, problemKind } from './problem-catalogue.ts';
import { isOnlyOptions } from './reading.ts';

/** `/problems/:code`: what a code means, as a page for a person and as JSON for a program. */
export function sendProblemPage(ctx: Context, rest: readonly string[], problems: string): void {
  const [code = ''] = rest;
  const kind = rest.length === 1 ? problemKind(code) : undefined;
  if (kind === undefined) throw pathNotFound();
  if (isOnlyOptions(ctx)) return;
  ctx.vary('Accept');
  const asPage = ctx.accepts('json', 'html') === 'html';
  sendAnswer(ctx, asPage ? page(code, kind) : description(code, kind, problems));
}

function description(code: string, kind: ProblemKind, problems: string): Answer {
  const { status, title, meaning, advice } = kind;
  const body = { type: `${problems}/${code}`, title, status, code, meaning, advice };
  const headers = { 'Cache-Control': 'no-cache' };
  return { status: 200, headers, body: JSON.stringify(body) };
}

function page(code: string, { status, title, meaning, advice }: ProblemKind): Answer {
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
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
      'Cache-Control': 'no-cache',
    },
    body,
  };
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
