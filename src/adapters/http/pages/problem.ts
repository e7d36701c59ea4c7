import type { Context } from 'koa';
import type { Exchange } from '../exchange.ts';
import { type ProblemType, problemType } from '../problems/catalogue.ts';
import { unserved } from '../problems/problem.ts';
import { readOnly } from '../request/read-only.ts';
import { json, type Response } from '../response.ts';
import { escapeHtml, negotiated, page, wantsPage } from './html.ts';

/** `/problems/:code`: what a code means, as a page for a person and as JSON for a program. */
export function problemPage(ctx: Context, { target, problems }: Exchange, code: string): Response {
  const type = target.isValid ? problemType(code) : undefined;
  if (type === undefined) throw unserved(target);
  return readOnly(ctx, () =>
    wantsPage(ctx) ? pageOf(code, type) : description(code, type, problems),
  );
}

function description(code: string, type: ProblemType, problems: string): Response {
  const { status, title, meaning, advice } = type;
  const body = { type: `${problems}/${code}`, title, status, code, meaning, advice };
  return json(200, JSON.stringify(body), negotiated);
}

function pageOf(code: string, { status, title, meaning, advice }: ProblemType): Response {
  return page(
    title,
    `<p><code>${escapeHtml(code)}</code>, HTTP status ${status}</p>
<p>${escapeHtml(meaning)}</p>
<h2>What to do</h2>
<p>${escapeHtml(advice)}</p>`,
  );
}
