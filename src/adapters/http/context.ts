import type { Socket } from 'node:net';
import { Router, type RouterContext, type RouterMiddleware } from '@koa/router';
import compose from 'koa-compose';
import type { Caller } from '../../domain/access/caller.ts';
import type { AnyRostrum } from '../../domain/services/rostrum.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Problem } from './problems/problem.ts';
import { escapePath, type Query, type Target } from './target.ts';

/** Settings shared by all requests of an app. */
export interface AppSettings {
  readonly logger: Logger | undefined;
  readonly requireIfMatch: boolean;
  /** The identity provider of access tokens. */
  readonly issuer: string | undefined;
  /** The path of the API below the site. */
  readonly prefix: string;
  /** True if problems are described at the root of the site; else below the API. */
  readonly isWholeSite: boolean;
}

/** The state of one request, filled in step by step. Kept at `ctx.state.rostrum`. */
export interface InternalState {
  readonly settings: AppSettings;
  readonly requestId: string;
  /** How many routes of the host have matched the path. */
  readonly hostMatches: number;
  /** The client's address. Read at the start, because a closed connection has none. */
  readonly address: string;
  /** The target as this app sees it, without the path of a mount. */
  readonly target: Target;
  /** The host and port: those of a target in absolute form take precedence over the header (RFC 9112, section 3.2.2). */
  readonly host: string | undefined;
  /** Where the client sees the app: the public URL or the mount path, without a trailing slash. */
  readonly siteUrl: string;
  /** Where the client sees the API. */
  readonly apiUrl: string;
  /** Where the client sees the pages about problems. */
  readonly problemsUrl: string;
  /** The trace that the request belongs to, for the log. */
  traceId: string | undefined;
  /** The operation or page that serves the request, for logs and metrics; empty if none does. */
  operation: string;
  /** The problem that the response reports, if it reports one. */
  problem: Problem | undefined;
  /** Why the credentials were refused, for the log. */
  refusal: string | undefined;
  /** Undefined until the caller is known, and always if neither `authenticate` nor `anonymous` is set. */
  caller: Caller | undefined;
  /** The caller of a request with credentials. */
  authenticatedCaller: Caller | undefined;
  /** Callbacks that give a request's slots back to the limiter. */
  readonly releases: (() => void)[];
  /** The services, bound to the caller. Undefined until the caller is known; set in every handler. */
  services: AnyRostrum | undefined;
  /** The query, parsed and validated. */
  query: Query;
}

/** What a host's middleware can read at `ctx.state.rostrum`. */
export type RequestState = Readonly<Pick<InternalState, 'requestId' | 'caller' | 'operation'>>;

export interface RostrumState {
  rostrum: InternalState;
}

export type Context = RouterContext<RostrumState>;

/** Koa middleware that runs once `ctx.state.rostrum` is set. */
export type Middleware = RouterMiddleware<RostrumState>;

/** The last step of an endpoint: the caller is known. */
export type Handler = (
  ctx: Context & { state: { rostrum: { services: AnyRostrum } } },
) => Promise<void>;

/** Joins the steps that are set into one. The router would compose separate steps anew for each request (4 µs). */
export function composeSteps(steps: readonly (Middleware | undefined)[]): Middleware {
  return compose(steps.filter((step) => step !== undefined));
}

/** Creates a router whose paths are case-sensitive and have no trailing slash. */
export function createRouter(prefix = ''): Router<RostrumState> {
  return new Router({ prefix: escapePath(prefix), sensitive: true, strict: true });
}

/** Names the operation or page that serves a request, for logs and metrics. */
export function setOperation(operation: string): Middleware {
  return ({ state: { rostrum } }, next) => {
    rostrum.operation = operation;
    return next();
  };
}

/** The client has disconnected. Such a request is logged as aborted. */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted';

  constructor(options?: ErrorOptions) {
    super('The client has disconnected.', options);
  }
}

/** The signals that are aborted when the server of a connection starts to shut down. */
export const stopSignals = new WeakMap<Socket, AbortSignal>();

/** The URL of the server as the client sees it. */
export function publicUrlOf(ctx: Context): string {
  const { siteUrl, host } = ctx.state.rostrum;
  if (siteUrl.startsWith('http')) return siteUrl;
  return `${ctx.protocol}://${host ?? 'localhost'}${siteUrl}`;
}

/** The headers of every response. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff' };
}

/** Responds with JSON. It ends in a line feed, so that a terminal shows its prompt on a line of its own. */
export function sendJson(ctx: Context, value: object, cacheControl?: 'no-store'): void {
  sendJsonText(ctx, 200, JSON.stringify(value));
  if (cacheControl !== undefined) ctx.set('Cache-Control', cacheControl);
}

/**
 * Responds with JSON text, or without a body.
 *
 * A cache may keep the response, and has to revalidate it each time (RFC 9111, section 5.2.2.4). The response to a
 * request with credentials is for this client alone.
 */
export function sendJsonText(ctx: Context, status: number, json: string | null): void {
  ctx.set(
    'Cache-Control',
    ctx.state.rostrum.authenticatedCaller ? 'private, no-cache' : 'no-cache',
  );
  if (json === null)
    ctx.remove('Content-Type'); // With the type JSON, Koa would send `null`.
  else ctx.set('Content-Type', 'application/json');
  ctx.body = json === null ? null : `${json}\n`;
  ctx.status = status; // Last, because a body sets it, too.
}
