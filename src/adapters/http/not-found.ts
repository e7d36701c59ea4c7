import type { Middleware } from './context.ts';
import { Problem } from './problems/problem.ts';

/** Lets the middleware after Rostrum respond first, then throws 404. */
export const notFound: Middleware = async (ctx, next) => {
  await next();
  if (ctx.respond === false || ctx.headerSent || ctx.status !== 404 || ctx.body) return;
  const { apiUrl } = ctx.state.rostrum;
  const sentence = `No such path. The API has ${apiUrl}/users, ${apiUrl}/posts and ${apiUrl}/events. Paths have no trailing slash.`;
  throw new Problem('path-not-found', sentence);
};
