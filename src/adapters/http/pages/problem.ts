import type { Context } from 'koa';
import type { Exchange } from '../exchange.ts';
import { type ProblemType, problemCatalogue, problemType } from '../problems/catalogue.ts';
import { unserved } from '../problems/problem.ts';
import { readOnly } from '../request/read-only.ts';
import { json, type Response } from '../response.ts';
import { escapeHtml, negotiated, page, wantsPage } from './html.ts';
import type { Site } from './site.ts';

type Links = Pick<Site, 'links'>;

/**
 * `/problems/:code`: what a code means, as a page for a person and as JSON for a program; without a
 * code, all of them.
 */
export function problemPage(
  ctx: Context,
  { target, problems }: Exchange,
  code: string,
  { links }: Links = { links: [] },
): Response {
  if (code === '' && target.isValid) {
    return readOnly(ctx, () => (wantsPage(ctx) ? allPage(problems, links) : all(problems)));
  }
  const type = target.isValid ? problemType(code) : undefined;
  if (type === undefined) throw unserved(target);
  return readOnly(ctx, () =>
    wantsPage(ctx)
      ? pageOf(code, type, problems, links)
      : json(200, JSON.stringify(description(code, type, problems)), negotiated),
  );
}

/** What the body of these has beside what every body has. */
const members: Partial<Record<keyof typeof problemCatalogue, object>> = {
  'invalid-record': {
    errors: [
      {
        pointer: '/email',
        code: 'invalid',
        message: 'The field "email" must be an email address.',
      },
    ],
  },
  'email-taken': {
    errors: [
      { pointer: '/email', code: 'taken', message: 'Another user already has this email address.' },
    ],
  },
  'invalid-query': {
    errors: [
      { parameter: 'limit', code: 'invalid', message: 'Must be an integer from 1 to 1000.' },
    ],
    allowed: ['limit', 'cursor', '…'],
  },
  'invalid-cursor': { errors: [{ parameter: 'cursor', code: 'invalid', message: '…' }] },
  'invalid-header': {
    errors: [{ header: 'If-Match', code: 'invalid', message: 'Must be * or entity tags: "1".' }],
  },
  'user-has-posts': { posts: 12 },
};

function description(code: string, type: ProblemType, problems: string): object {
  const { status, title, meaning, advice } = type;
  return { type: `${problems}/${code}`, title, status, code, meaning, advice };
}

const types = Object.entries<ProblemType>(problemCatalogue);

function all(problems: string): Response {
  const list = types.map(([code, type]) => description(code, type, problems));
  return json(200, JSON.stringify({ problems: list }), negotiated);
}

/** The statuses of our own failures are marked. */
function badge(status: number): string {
  return `<span class="badge ${status >= 500 ? 'bad' : 'late'}">${status}</span>`;
}

function allPage(problems: string, links: Site['links']): Response {
  const rows = types.map(
    ([code, { status, title }]) => `<tr><td>${badge(status)}</td>
<td><a href="${escapeHtml(problems)}/${code}"><code>${code}</code></a></td><td>${escapeHtml(title)}</td></tr>`,
  );
  const body = `<main><h1>Problems</h1>
<p class="lead">Every error has one shape, by <a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a>, and one
of these codes. A code is for programs and does not change; its sentence is for people.</p>
<table><thead><tr><th>Status</th><th>Code</th><th>Title</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></main>`;
  return page({ title: 'Problems', body, links });
}

function pageOf(code: string, type: ProblemType, problems: string, links: Site['links']): Response {
  const { status, title, meaning, advice } = type;
  const example = {
    ...{ type: `${problems}/${code}`, title, status, code },
    ...{ error: '…', detail: '…', requestId: '…', ...members[code as keyof typeof members] },
  };
  const body = `<main><p>${badge(status)} <code>${escapeHtml(code)}</code></p>
<h1>${escapeHtml(title)}</h1>
<p class="lead">${escapeHtml(meaning)}</p>
<div class="card"><h2>What to do</h2>
<p>${escapeHtml(advice)}</p></div>
<h2>As a program sees it</h2>
<pre class="whole" tabindex="0"><code>${escapeHtml(JSON.stringify(example, null, 2))}</code></pre>
<p><a href="${escapeHtml(problems)}">All problems</a></p></main>`;
  return page({ title, body, links });
}
