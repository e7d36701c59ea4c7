import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { RouterMiddleware } from '@koa/router';
import type { Context } from 'koa';
import type { Caller } from '../../domain/caller.ts';
import { RostrumError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { AnyRostrum } from '../../domain/services/rostrum.ts';
import type { DeleteMode } from '../../ports/user-repository.ts';

/** The event of a response that is under way when its server begins to stop. */
export const stopping = Symbol('stopping');

/** Those responses. */
export const stopped = new WeakSet<ServerResponse>();

/** For how many milliseconds a request waits for others in all, and a list for the store, too. */
const deadlineMs = 10_000;

/** A request's target (RFC 9112, section 3.2), taken apart. */
export interface Target {
  /**
   * The path, each of its segments percent-encoded in one way: two paths with equal segments are
   * equal texts. A `%2F` stays inside its segment (RFC 3986, section 2.4).
   */
  readonly path: string;
  /** False for a path that names nothing; what cannot be decoded is left in it as it was sent. */
  readonly isValid: boolean;
  /** As it was sent, without its question mark. */
  readonly query: string;
  /** Path and query. */
  readonly url: string;
  /** The host, and the port if any, that a valid target in absolute form names. */
  readonly authority: string | undefined;
}

/** A query's parameters by name, each with its values in the order in which they were sent. */
export type Query = ReadonlyMap<string, readonly string[]>;

const noQuery: Query = new Map();

/** What is left to a client in the present window. */
export interface Quota {
  /** The name of the policy. */
  readonly policy: string;
  /** Requests in a window. */
  readonly limit: number;
  /** Seconds. */
  readonly window: number;
  readonly remaining: number;
  /** Seconds until the window ends, at least 1. */
  readonly reset: number;
  readonly isExceeded: boolean;
}

/** What is known of a request at its beginning. */
interface Beginning {
  /** Where clients see the server, without a slash at its end. */
  readonly publicUrl: string | undefined;
  readonly address: string;
  readonly requestId: string;
  readonly traceId: string | undefined;
  readonly target: Target;
}

/**
 * The client went away: no response can be taken any more. Thrown by `checkClient` and
 * `checkWaited`, by the reader of bodies where its body does not come, and ended in silence by the
 * boundary. A response on its way is dropped with its connection (`server/connections.ts`), and the
 * log calls it aborted.
 */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted';
}

/** A request and its response on their way through the chain: each step adds what it learned. */
export class Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly headers: IncomingHttpHeaders;
  /** The client's address: asked for at once, because a connection that is gone has none. */
  readonly address: string;
  readonly requestId: string;
  /** The trace that the request is part of, where its client says so. */
  traceId: string | undefined;
  /** The target as the app sees it, which a mount may have cut. */
  readonly url: string;
  readonly target: Target;
  /** The path that the pages of the problems lie under, as the client sees it. */
  problems = '/problems';
  /** The path of the API, as the client sees it. */
  base = '';
  /** What serves it: the operation of an endpoint or the name of a page; empty where nothing does. */
  endpoint = '';
  /** The problem that it ended in. */
  problem: string | undefined;
  /** The id in the path; empty where there is none. */
  id = '';
  /** The caller; undefined without credentials, and until it is known. */
  caller: Caller | undefined;
  /** Whether it was sent without credentials where some are allowed that. */
  isAnonymous = false;
  /** The core, bound to the caller. Not there before the caller is known. */
  rostrum!: AnyRostrum;
  /** Why its credentials were refused, for the log. */
  refused: string | undefined;
  /** What is left of each limit that the request counted for. */
  readonly quotas: Quota[] = [];
  /** Where the credentials are described (RFC 9728); empty where they are not. */
  metadataPath = '';
  query: Query = noQuery;
  /** An empty object for an endpoint that takes no body. */
  body: JsonObject = {};
  /** Whether the client has a response that was sent before the body of its request had come. */
  isSentEarly = false;

  readonly #publicUrl: string | undefined;
  readonly #atEnd: (() => void)[] = [];
  #ended: AbortController | undefined;

  constructor(ctx: Context, { publicUrl, address, requestId, traceId, target }: Beginning) {
    this.#publicUrl = publicUrl;
    if (publicUrl !== undefined) this.problems = `${publicUrl}/problems`;
    this.req = ctx.req;
    this.res = ctx.res;
    this.headers = ctx.req.headers;
    this.address = address;
    this.requestId = requestId;
    this.traceId = traceId;
    this.url = ctx.url;
    this.target = target;
    this.res.on('close', () => {
      for (const end of this.#atEnd) end();
    });
  }

  /** Calls back when the client has the response, or is gone. */
  atEnd(end: () => void): void {
    this.#atEnd.push(end);
  }

  /**
   * Aborted when the connection ends, and at the deadline of the request, which begins with the first
   * look at this: all that it waits for takes this signal.
   */
  get signal(): AbortSignal {
    if (this.#ended === undefined) {
      const ended = new AbortController();
      this.#ended = ended;
      const late = () => ended.abort(new RostrumError('overloaded', {}));
      const timer = setTimeout(late, deadlineMs);
      this.atEnd(() => {
        clearTimeout(timer);
        if (!this.res.writableFinished) ended.abort(new RequestAborted('The client is gone.'));
      });
      if (this.res.destroyed) ended.abort(new RequestAborted('The client is gone.'));
    }
    return this.#ended.signal;
  }

  /** Aborted when the connection ends, and when the server stops: what may take long then ends. */
  get ended(): AbortSignal {
    const ended = new AbortController();
    const end = () => ended.abort();
    const { socket } = this.req;
    // A client that only ends its side of the connection is gone as well, as a rule.
    socket.once('end', end);
    this.atEnd(() => {
      socket.off('end', end);
      end();
    });
    this.res.once(stopping, end);
    if (this.res.destroyed || socket.readableEnded || stopped.has(this.res)) end();
    return ended.signal;
  }

  /** As whom the client calls the server: an absolute form counts first (RFC 9112, section 3.2.2). */
  get host(): string | undefined {
    return this.target.authority ?? this.headers.host;
  }

  /** Where the client sees the server: as it is set, or else as the client itself calls it. */
  get site(): string {
    return this.#publicUrl ?? `http://${this.host ?? 'localhost'}`;
  }

  /** Whether all of the response was sent, though it may end later, with its request. */
  get isSent(): boolean {
    return this.isSentEarly || this.res.writableFinished;
  }

  get metadataUrl(): string | undefined {
    return this.metadataPath === '' ? undefined : this.site + this.metadataPath;
  }

  /** @throws RequestAborted when the client is gone */
  checkClient(): void {
    const isGone = this.res.destroyed || this.req.socket.destroyed;
    if (isGone) throw new RequestAborted('The client is gone.');
  }

  /**
   * The same for a request that waited for others. A client that ended its side of the connection meanwhile
   * is gone as well, as a rule, and one that only half closed it is told.
   *
   * @throws RequestAborted
   * @throws RostrumError `overloaded`
   */
  checkWaited(): void {
    this.checkClient();
    if (this.req.socket.readableEnded) throw new RostrumError('overloaded', {});
  }
}

/** What Rostrum keeps in `ctx.state`. */
export interface State {
  exchange: Exchange;
}

/** A step of the chain: middleware of Koa. */
export type Step = RouterMiddleware<State>;

/** Those of the steps that are there, as one. What the router is given itself, it composes anew for each request. */
export function chained(steps: readonly (Step | undefined)[]): Step {
  const there = steps.filter((step) => step !== undefined);
  return there.reduceRight((rest, step) => (ctx, next) => step(ctx, () => rest(ctx, next)));
}

/** The exchange of a context; undefined outside of Rostrum's boundary. */
export function exchangeOf(ctx: Context): Exchange | undefined {
  const { exchange } = ctx.state as { readonly exchange?: unknown };
  return exchange instanceof Exchange ? exchange : undefined;
}

/** A change that a request made to a record. */
interface AuditedChange {
  readonly collection: 'users' | 'posts';
  readonly id: string;
  /** Absent when the record is gone. */
  readonly version?: number;
  /** What became of a deleted user's posts. */
  readonly posts?: DeleteMode;
}

export type Audit = (exchange: Exchange, change: AuditedChange) => void;
