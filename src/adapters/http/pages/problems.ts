import { Router } from '@koa/router';
import type { Context, RostrumState, Step } from '../context.ts';
import { sendJson } from '../endpoints/records.ts';
import {
  type ProblemType,
  problemCatalogue,
  problemExamples,
  problemType,
} from '../problems/catalogue.ts';
import { Problem } from '../problems/problem.ts';
import { named } from '../router.ts';
import { escapePath } from '../target.ts';
import { escapeHtml, type Site, sendPage, setNegotiated, wantsPage } from './html.ts';

const noLinks: Site = { base: '', links: [] };

/**
 * Adds `/problems` and `/problems/CODE`: what a code means, as a page for browsers and JSON for programs.
 *
 * @param page adds a page
 */
export function addProblems(page: (path: string, send: Step) => void, site: Site = noLinks): void {
  page('/problems', (ctx) => {
    if (wantsPage(ctx)) return sendPage(ctx, site, { title: 'Problems', body: tableOf(ctx) });
    const problems = types.map(([code, type]) => describe(ctx, code, type));
    return sendDescription(ctx, { problems });
  });
  page('/problems/:code', (ctx) => {
    const { code = '' } = ctx.params;
    const type = problemType(code);
    if (type === undefined)
      throw new Problem('path-not-found', 'There is no problem with this code.');
    if (wantsPage(ctx))
      return sendPage(ctx, site, { title: type.title, body: pageOf(ctx, code, type) });
    return sendDescription(ctx, describe(ctx, code, type));
  });
}

/** The pages about problems, below the prefix of an API without other pages. */
export function problemsRouter(prefix: string): Router<RostrumState> {
  const router = new Router<RostrumState>({
    prefix: escapePath(prefix),
    sensitive: true,
    strict: true,
  });
  addProblems((path, send) => router.get(path, named('/problems'), send));
  return router;
}

function sendDescription(ctx: Context, body: object): void {
  setNegotiated(ctx);
  sendJson(ctx, 200, `${JSON.stringify(body)}\n`);
}

const types = Object.entries<ProblemType>(problemCatalogue);

function describe({ state: { rostrum } }: Context, code: string, type: ProblemType): object {
  const { status, title, meaning, advice } = type;
  return { type: `${rostrum.problems}/${code}`, title, status, code, meaning, advice };
}

function tableOf({ state: { rostrum } }: Context): string {
  const rows = types.map(
    ([code, { status, title }]) =>
      `<tr><td>${status}</td><td><a href="${escapeHtml(rostrum.problems)}/${code}"><code>${code}</code></a></td><td>${escapeHtml(title)}</td></tr>`,
  );
  return `<main><h1>Problems</h1>
<p>Every error has the shape of <a href="https://www.rfc-editor.org/rfc/rfc9457">RFC 9457</a> and one of these codes.
Codes are for programs and do not change.</p>
<table><thead><tr><th>Status</th><th>Code</th><th>Title</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></main>`;
}

function pageOf({ state: { rostrum } }: Context, code: string, type: ProblemType): string {
  const { status, title, meaning, advice } = type;
  const example = {
    ...{ type: `${rostrum.problems}/${code}`, title, status, code },
    ...{ error: '…', detail: '…', requestId: '…', ...problemExamples[code as 'internal'] },
  };
  return `<main><p class="soft">${status} <code>${escapeHtml(code)}</code></p>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(meaning)}</p>
<h2>What to do</h2>
<p>${escapeHtml(advice)}</p>
<h2>Example</h2>
<pre tabindex="0"><code>${escapeHtml(JSON.stringify(example, null, 2))}</code></pre>
<p><a href="${escapeHtml(rostrum.problems)}">All problems</a></p></main>`;
}
