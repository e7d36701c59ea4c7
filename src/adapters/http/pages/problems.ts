import { Router } from '@koa/router';
import { type Context, type RostrumState, type Step, setOperation } from '../context.ts';
import { type ProblemCode, type ProblemType, problemCatalogue } from '../problems/catalogue.ts';
import { exampleOf, Problem } from '../problems/problem.ts';
import { sendJson } from '../send.ts';
import { escapePath } from '../target.ts';
import { escapeHtml, negotiateHtml, type Site, sendHtml } from './html.ts';

const types = new Map<string, ProblemType>(Object.entries(problemCatalogue));

/**
 * Adds `/problems` and `/problems/CODE`: what a code means, as a page for browsers and JSON for programs.
 *
 * @param page adds a page
 */
export function addProblems(page: (path: string, send: Step) => void, site: Site): void {
  page('/problems', (ctx) => {
    if (negotiateHtml(ctx)) return sendHtml(ctx, site, 'Problems', tableOf(ctx));
    const all = Array.from(types, ([code, type]) => describe(ctx, code, type));
    return sendJson(ctx, { problems: all });
  });
  page('/problems/:code', (ctx) => {
    const { code = '' } = ctx.params;
    const type = types.get(code);
    if (type === undefined) throw new Problem('path-not-found', 'No problem has this code.');
    if (negotiateHtml(ctx)) return sendHtml(ctx, site, type.title, pageOf(ctx, code, type));
    return sendJson(ctx, describe(ctx, code, type));
  });
}

/** The pages about problems, below the prefix of an API without other pages. */
export function problemsRouter(prefix: string): Router<RostrumState> {
  const options = { prefix: escapePath(prefix), sensitive: true, strict: true };
  const router = new Router<RostrumState>(options);
  const site: Site = { base: '', pages: new Set(), links: [] };
  addProblems((path, send) => router.get(path, setOperation('/problems'), send), site);
  return router;
}

function describe({ state: { rostrum } }: Context, code: string, type: ProblemType): object {
  const { status, title, meaning, advice } = type;
  return { type: `${rostrum.problemsUrl}/${code}`, title, status, code, meaning, advice };
}

function tableOf({ state: { rostrum } }: Context): string {
  const rows = Array.from(
    types,
    ([code, { status, title }]) =>
      `<tr><td>${status}</td><td><a href="${escapeHtml(rostrum.problemsUrl)}/${code}"><code>${code}</code></a></td><td>${title}</td></tr>`,
  );
  return `<main><h1>Problems</h1><p>Every error has one of these codes. They are for programs and do not change.</p>
<table><thead><tr><th>Status</th><th>Code</th><th>Title</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></main>`;
}

function pageOf({ state: { rostrum } }: Context, code: string, type: ProblemType): string {
  const { status, title, meaning, advice } = type;
  const example = exampleOf(code as ProblemCode, '…', '…', rostrum.problemsUrl);
  return `<main><p class="soft">${status} <code>${code}</code></p><h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(meaning)}</p><h2>What to do</h2><p>${escapeHtml(advice)}</p>
<h2>Example</h2><pre tabindex="0"><code>${escapeHtml(JSON.stringify(example, null, 2))}</code></pre></main>`;
}
