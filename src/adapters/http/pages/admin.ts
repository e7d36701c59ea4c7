import { canReadInFull } from '../../../domain/access/access.ts';
import { scopes } from '../../../domain/access/caller.ts';
import type { AnyRostrum } from '../../../domain/services/rostrum.ts';
import { authorization } from '../access/authenticate.ts';
import { limitAddress, limitCaller } from '../access/rate-limit.ts';
import type { CheckedOptions } from '../check-options.ts';
import { type Context, composeSteps, type Middleware, sendJson } from '../context.ts';
import { Problem } from '../problems/problem.ts';
import { adminFiles } from './assets.ts';
import { fileHandler, loadOnce } from './files.ts';
import { programFacts } from './home.ts';
import { pageHeaders, type Site } from './html.ts';

/** The handlers of the page's files, keyed by their path below `/admin`. */
const handlers = loadOnce(async () => {
  const files = await adminFiles();
  return new Map(Array.from(files, ([path, file]) => [path, fileHandler(file)] as const));
});

/** `/admin`, and the files below it. */
export async function sendAdmin(ctx: Context, site: Site): Promise<void> {
  const { path = 'index.html' } = ctx.params;
  const send = (await handlers()).get(path);
  if (send === undefined) throw new Problem('path-not-found', 'The admin page has no such file.');
  if (path === 'index.html') ctx.set(pageHeaders(site));
  await send(ctx);
}

/** Identifies the caller for `/admin/caller`. Any scope is enough, and credentials can be missing. */
export function identifyCaller(rostrum: AnyRostrum, options: CheckedOptions): Middleware {
  const { rateLimits } = options;
  const identify = composeSteps([
    limitAddress(rateLimits),
    authorization(rostrum, options)(scopes),
    limitCaller(rateLimits),
  ]);
  return async (ctx, next) => {
    try {
      await identify(ctx, async () => {});
    } catch (error) {
      const isUnnamed = error instanceof Problem && error.code === 'unauthenticated';
      if (!isUnnamed || ctx.headers.authorization !== undefined) throw error;
    }
    return next();
  };
}

/** `/admin/caller`: the caller's name, label and scopes. */
export async function sendCaller(ctx: Context, options: CheckedOptions): Promise<void> {
  const { caller, authenticatedCaller: named } = ctx.state.rostrum;
  const acceptsCredentials = options.authenticate !== undefined;
  const found = {
    name: named?.name ?? null,
    label: named?.label,
    subject: caller?.subject ?? null,
    scopes: [...(caller?.scopes ?? (acceptsCredentials ? [] : scopes))],
    acceptsCredentials,
    about: named && canReadInFull(named) ? await programFacts(options) : undefined,
  };
  ctx.vary('Authorization');
  sendJson(ctx, found, 'no-store');
}
