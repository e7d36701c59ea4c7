import type { Router } from '@koa/router';
import {
  type Context,
  createRouter,
  type RostrumState,
  sendJson,
  setOperation,
} from '../context.ts';
import { type ProblemType, problemCatalogue } from '../problems/catalogue.ts';
import { Problem } from '../problems/problem.ts';
import { escapeHtml, negotiateHtml, type Site, sendHtml } from './html.ts';

const types = new Map<string, ProblemType>(Object.entries(problemCatalogue));

/** The route that explains the problem codes. */
export const problemsPath = '/problems{/:code}';

/** One page about all codes for browsers, and JSON about all or one of them for programs. */
export function sendProblems(ctx: Context, site: Site): void {
  const { problemsUrl } = ctx.state.rostrum;
  const { code } = ctx.params;
  const described = Array.from(types, ([code, { status, title, meaning, advice }]) => {
    return { type: `${problemsUrl}/${code}`, title, status, code, meaning, advice };
  });
  const one = described.find((type) => type.code === code);
  if (code !== undefined && one === undefined) {
    throw new Problem('path-not-found', 'No problem has this code.');
  }
  if (!negotiateHtml(ctx)) sendJson(ctx, one ?? { problems: described });
  else if (one === undefined) sendHtml(ctx, site, 'Problems', pageOf());
  else ctx.redirect(`${problemsUrl}#${code}`);
}

/** The routes below the prefix of an API without other pages. */
export function problemsRouter(prefix: string): Router<RostrumState> {
  const site: Site = { base: '', pages: new Set(), links: [] };
  return createRouter(prefix).get(problemsPath, setOperation('/problems'), (ctx) =>
    sendProblems(ctx, site),
  );
}

function pageOf(): string {
  const sections = Array.from(types, ([code, { status, title, meaning, advice }]) => {
    return `<section id="${code}"><h2>${escapeHtml(title)}</h2><p class="soft">${status} <code>${code}</code></p>
<p>${escapeHtml(meaning)} ${escapeHtml(advice)}</p></section>`;
  });
  return `<main><h1>Problems</h1><p>Every error has one of these codes. They are for programs and do not change.</p>
${sections.join('\n')}</main>`;
}
