import type { Problem } from '../problems/problem.ts';
import type { Response } from '../response.ts';
import { escapeHtml, page } from './html.ts';
import type { Site } from './site.ts';

/** What a person sees where nothing is served. */
export function missingPage({ message }: Problem, { links }: Site): Response {
  const places = links.map(([path, name]) => {
    const text = name === 'Rostrum' ? 'Home' : name;
    return `<a class="button" href="${escapeHtml(path)}">${escapeHtml(text)}</a>`;
  });
  const body = `<main><p class="badge bad">404</p><h1>Nothing is here</h1>
<p class="lead">${escapeHtml(message)}</p>
<p>${places.join(' ')}</p></main>`;
  return page({ title: 'Nothing is here', body, links, status: 404 });
}
