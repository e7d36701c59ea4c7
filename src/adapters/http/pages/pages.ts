import type { Context } from 'koa';
import { scopes } from '../../../domain/caller.ts';
import type { AnyRostrum } from '../../../domain/services/rostrum.ts';
import { authentication } from '../access/authenticate.ts';
import { resourceMetadata } from '../access/metadata.ts';
import { limitAddress, limitCaller } from '../access/rate-limit.ts';
import { chained } from '../exchange.ts';
import type { RostrumAppOptions } from '../options.ts';
import { Problem, unserved } from '../problems/problem.ts';
import { readOnly } from '../request/read-only.ts';
import { below } from '../request/target.ts';
import { type Response, revalidated } from '../response.ts';
import { adminPage, callerResponse } from './admin.ts';
import { docsPage } from './docs.ts';
import { Files, moduleFiles, modules, types } from './files.ts';
import { llmsText } from './guides.ts';
import { facts, homePage } from './home.ts';
import type { Readiness } from './probes.ts';
import { problemPage } from './problem.ts';
import type { Site } from './site.ts';
import { favicon } from './style.ts';

export type Page = (ctx: Context) => Response | Promise<Response>;

interface Parts {
  readonly rostrum: AnyRostrum;
  /** Makes the description of the API. */
  readonly describe: () => object;
  readonly options: RostrumAppOptions;
  readonly site: Site;
  readonly readiness: Readiness;
  /** The path of the metadata for clients of OAuth; empty where there is none. */
  readonly metadata: string;
}

/** Every page, as a function from its path to the name that the log has for it, and to itself. */
export function createPages({ rostrum, describe, options, site, readiness, metadata }: Parts) {
  const { issuer, authenticate, anonymous, logger, rateLimits = {} } = options;
  const { prefix } = site;
  const { failures } = rateLimits;
  const description = new Files(() => [
    ['/openapi.json', 'application/json', () => `${JSON.stringify(describe())}\n`],
  ]);
  /** As a request of the API is. Any scope will do: it is told which there are. */
  const named = chained([
    limitAddress(rateLimits),
    authentication({ rostrum, authenticate, anonymous, failures, logger })(scopes),
    limitCaller(rateLimits),
  ]);
  const caller = async (ctx: Context) => {
    try {
      await named(ctx as Parameters<typeof named>[0], async () => {});
    } catch (error) {
      const isNameless = error instanceof Problem && error.code === 'unauthenticated';
      // Who sends no credentials has done nothing wrong, and is told that some are asked for.
      if (!isNameless || ctx.headers.authorization !== undefined) throw error;
    }
    return callerResponse(ctx.state.exchange, authenticate !== undefined, facts(options));
  };
  const llms = async ({ state: { exchange } }: Context): Promise<Response> => {
    const body = await llmsText(site.base || exchange.site);
    return { status: 200, headers: revalidated, body, type: types.md };
  };
  const icon: Response = {
    status: 200,
    headers: revalidated,
    body: favicon,
    type: 'image/svg+xml',
  };
  const pages: ReadonlyMap<string, Page> = new Map<string, Page>([
    ['/', async (ctx) => homePage(ctx, site, options, await readiness.isReady())],
    ...modules.map((name) => {
      const path = `/${name}.js`;
      return [path, (ctx: Context) => fileOf(ctx, moduleFiles, path)] as const;
    }),
    ['/openapi.json', (ctx) => fileOf(ctx, description, '/openapi.json')],
    ...(site.pages.has('docs') ? [['/llms.txt', llms] as const] : []),
    ['/favicon.ico', () => icon],
    [metadata, (ctx) => resourceMetadata(ctx, ctx.state.exchange, prefix, issuer)],
    ...(site.pages.has('admin') ? [['/admin/caller', caller] as const] : []),
  ]);
  const folders: readonly (readonly [
    path: string,
    page: (ctx: Context, rest: string) => ReturnType<Page>,
  ])[] = [
    // Where its packages are missing, it says which.
    ...((options.pages?.includes('docs') ?? true)
      ? [['/docs', (ctx: Context, rest: string) => docsPage(ctx, site, rest)] as const]
      : []),
    ...(site.pages.has('admin')
      ? [['/admin', (ctx: Context, rest: string) => adminPage(ctx, site, rest)] as const]
      : []),
  ];

  return function pageOf(path: string): readonly [name: string, page: Page] | undefined {
    const page = pages.get(path);
    if (page !== undefined) return [path, (ctx) => readOnly(ctx, () => page(ctx))];
    for (const [name, folder] of folders) {
      const rest = below(name, path);
      if (rest !== undefined) return [name, (ctx) => readOnly(ctx, () => folder(ctx, rest))];
    }
    const problem = below('/problems', path);
    if (problem === undefined) return undefined;
    return ['/problems', (ctx) => problemPage(ctx, ctx.state.exchange, problem.slice(1), site)];
  };
}

/** @throws Problem `path-not-found` */
async function fileOf(ctx: Context, files: Files, path: string): Promise<Response> {
  const file = await files.find(ctx, path);
  if (file === undefined) throw unserved({ isValid: true });
  return file;
}
