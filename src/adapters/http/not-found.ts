import type { Context, Step } from './context.ts';
import { type ExposedError, isExposed } from './errors.ts';
import { Problem } from './problems/problem.ts';

/** Lets the middleware after Rostrum respond first, then throws 404. */
export const notFound: Step = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    if (!isExposed(error)) throw error;
    sendExposed(ctx, error);
  }
  if (ctx.respond === false || ctx.headerSent || ctx.status !== 404 || ctx.body) return;
  throw new Problem('path-not-found', `No such path. ${suggestion(ctx)}`);
};

/** Responds as `ctx.onerror` does, but keeps the headers of every response. */
function sendExposed(ctx: Context, error: ExposedError): void {
  const { status = 500, headers = {}, message } = error;
  ctx.app.emit('error', error, ctx);
  ctx.status = status;
  ctx.set(headers);
  ctx.type = 'text';
  ctx.body = message;
}

const collections = ['users', 'posts', 'events'];

/** A sentence about the path that the client probably meant. */
function suggestion({ state: { rostrum } }: Context): string {
  const { apiUrl, target } = rostrum;
  const segments = target.path.split('/').filter((segment) => segment !== '');
  const hasTrailingSlash = segments.length > 0 && target.path.endsWith('/');
  const hint = hasTrailingSlash ? ' (Paths have no trailing slash.)' : '';
  for (const [i, segment] of segments.entries()) {
    const name = collections.find((one) => isSimilar(segment.toLowerCase(), one));
    if (name === undefined) continue;
    const meant = [apiUrl, name, ...segments.slice(i + 1, i + 2)].join('/');
    return `Did you mean ${meant}?${hint}`;
  }
  return `The API has ${apiUrl}/users, ${apiUrl}/posts and ${apiUrl}/events.${hint}`;
}

/** True if the texts are equal, or one character was left out, added or replaced, or two were swapped. */
function isSimilar(text: string, name: string): boolean {
  if (Math.abs(text.length - name.length) > 1) return false;
  let start = 0;
  while (start < name.length && text[start] === name[start]) start += 1;
  const [a, b] = [text.slice(start), name.slice(start)];
  return (
    a.slice(1) === b.slice(1) || // Equal, or one replaced
    a.slice(1) === b || // One added
    a === b.slice(1) || // One left out
    a === `${b[1]}${b[0]}${b.slice(2)}` // Two swapped
  );
}
