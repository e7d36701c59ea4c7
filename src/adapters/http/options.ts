import type { CallerInput, Scope } from '../../domain/access/caller.ts';
import type { JsonObject } from '../../domain/records/json.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Authenticate } from './access/authenticate.ts';
import type { RateLimits } from './access/rate-limit.ts';
import type { TrustedProxies } from './client-address.ts';
import type { AuditedChange } from './operator/log.ts';
import type { HttpMetrics } from './operator/metrics.ts';
import type { Trace } from './operator/opentelemetry.ts';

/** The JSON Schemas (2020-12) of a deployment's custom fields. */
export interface CustomFieldsDescription {
  readonly users?: JsonObject | undefined;
  readonly posts?: JsonObject | undefined;
}

/** Serves a request of an AI agent: `createMcpHandler` of `rostrum/mcp` makes one. */
export type McpHandler = (
  request: Request,
  caller: CallerInput | null,
  onChange: (change: AuditedChange) => void,
) => Promise<Response>;

/** Options of the API, for each way to serve it. */
export interface RostrumHttpOptions {
  /** The path of the API; `/api/v1` if absent. */
  readonly prefix?: string | undefined;
  /** Whether a change needs `If-Match`; false if absent. */
  readonly requireIfMatch?: boolean | undefined;
  /** Logs requests, changes and failures. Without a logger, failures go to the app's `error` event. */
  readonly logger?: Logger | undefined;
  /** Whether to log each request; true if absent. */
  readonly accessLog?: boolean | undefined;
  /** Serves each request inside a span: `openTelemetry` of `rostrum/opentelemetry`. */
  readonly trace?: Trace | undefined;
  /** Counts requests. */
  readonly metrics?: HttpMetrics | undefined;
  /**
   * Identifies the caller. Called after the host, the path and the address limit are checked, and before the
   * query, the other headers and the body are checked. Not called for `OPTIONS`.
   */
  readonly authenticate?: Authenticate | undefined;
  /** The scopes of a request without credentials. If absent: none with `authenticate`, otherwise all. */
  readonly anonymous?: readonly Scope[] | undefined;
  /** No limits if absent. */
  readonly rateLimits?: RateLimits | undefined;
  /** The proxies whose `X-Forwarded-For` is trusted, for limits and the log; none if absent. */
  readonly trustedProxies?: TrustedProxies | undefined;
  /**
   * The origins whose scripts can read responses: `https://app.example.com`, `https://*.preview.example`, or `*`;
   * none if absent. Patterns with `*` need `anonymous` to allow no more than `posts:read` and `users:read:public`.
   */
  readonly cors?: readonly string[] | undefined;
  /**
   * The URL by which clients see the server behind a proxy (`https://example.com/backend`). `Location`,
   * `Link` and `type` begin with it; they are paths if it is absent.
   */
  readonly publicUrl?: string | undefined;
  /** Serves AI agents at `/mcp`, below the prefix in an app of your own. They are not served if absent. */
  readonly mcp?: McpHandler | undefined;
  /**
   * Returns true for a host name of this server. A request to any other name is a 421. Every name is accepted
   * if this is absent.
   */
  readonly isOwnHost?: ((name: string) => boolean) | undefined;
}

/** The pages for people, in addition to the API. */
export const allPages = ['home', 'docs', 'admin'] as const;
export type PageName = (typeof allPages)[number];

/** Options of the whole program's app. */
export interface RostrumAppOptions extends RostrumHttpOptions {
  /** Fulfilled if the store can serve requests right now; `/readyz` calls it. */
  readonly ready: () => Promise<void>;
  /** JSON Schemas of custom fields, for the description of the API. */
  readonly customFields?: CustomFieldsDescription | undefined;
  /** The pages for people; all if absent. */
  readonly pages?: readonly PageName[] | undefined;
  /**
   * What the home page says about the program if no credentials are configured, and the admin page to callers who can
   * read every user.
   */
  readonly about?: { readonly store: string } | undefined;
  /** The identity provider whose tokens `authenticate` accepts (RFC 9728). */
  readonly issuer?: string | undefined;
}

/** Options of `createFetchHandler`. */
export interface FetchHandlerOptions extends RostrumHttpOptions {
  /**
   * Returns the address of a client, for the log and for limits: a `Request` has none. Without it, and without
   * trusted proxies, the log has no addresses, and all clients share the limit of one.
   */
  readonly address?: ((request: Request) => string | undefined) | undefined;
}

/** Options of the server. Times are in milliseconds. */
export interface ServeOptions {
  /** `127.0.0.1` if absent. */
  readonly host?: string | undefined;
  /** 3000 if absent; 0 for any free port. */
  readonly port?: number | undefined;
  readonly logger?: Logger | undefined;
  readonly limits?: Partial<ServerLimits> | undefined;
  /** As in {@link RostrumHttpOptions}, for requests that are rejected before the app sees them. */
  readonly publicUrl?: string | undefined;
  readonly metrics?: Pick<HttpMetrics, 'problem'> | undefined;
  /** How long requests in progress can take when the server closes; 10,000 if absent. */
  readonly shutdownTimeoutMs?: number | undefined;
}

export interface ServerLimits {
  /** Until the headers of a request have arrived. */
  readonly headersTimeoutMs: number;
  /** Until a whole request has arrived. */
  readonly requestTimeoutMs: number;
  /** How long an idle keep-alive connection stays open. Must exceed the idle timeout of a proxy in front. */
  readonly keepAliveTimeoutMs: number;
  /** How long a connection with a request can be idle in both directions. */
  readonly inactivityTimeoutMs: number;
  /** Bytes of the first line and all headers of a request. */
  readonly maxHeaderBytes: number;
  /**
   * Open connections. One more closes the oldest that has sent no request, else the oldest without a request in
   * progress; if there is neither, it is closed.
   */
  readonly maxConnections: number;
  /** How often connections are checked for timeouts. */
  readonly checkIntervalMs: number;
}

export const defaultLimits: ServerLimits = {
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 65_000,
  inactivityTimeoutMs: 120_000,
  maxHeaderBytes: 32 * 1024,
  maxConnections: 10_000,
  checkIntervalMs: 200,
};
