import type { Scope } from '../../domain/caller.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Authenticate } from './access/authenticate.ts';
import type { TrustedProxies } from './access/client-address.ts';
import type { RateLimits } from './access/rate-limit.ts';
import type { HttpMetrics } from './operator/metrics.ts';
import type { Trace } from './operator/opentelemetry.ts';

/** The JSON Schemas (2020-12) of a deployment's custom fields. */
export interface CustomFieldsDescription {
  readonly users?: JsonObject | undefined;
  readonly posts?: JsonObject | undefined;
}

/** How Rostrum is put into an app. */
export interface RostrumHttpOptions {
  /** The path that the API lies under; `/api/v1` when absent. */
  readonly prefix?: string | undefined;
  /** Whether a change has to say, by `If-Match`, which version it starts from. */
  readonly requireIfMatch?: boolean | undefined;
  /** Told of requests and failures. Without one, failures go to the app's `error` event. */
  readonly logger?: Logger | undefined;
  /** Whether the logger is told of each request; true when absent. */
  readonly accessLog?: boolean | undefined;
  /** Serves each request inside a span of a trace: `openTelemetry` of `rostrum/opentelemetry`. */
  readonly trace?: Trace | undefined;
  /** Told of requests, to count them. */
  readonly metrics?: HttpMetrics | undefined;
  /**
   * Names the caller. Asked after the checks of the host, the endpoint and the limit of the address, and
   * before the query, the other headers and the body are looked at. A preflight needs no caller.
   */
  readonly authenticate?: Authenticate | undefined;
  /**
   * What a request without credentials may do. When absent, it may do nothing where `authenticate` is
   * set, and everything where it is not.
   */
  readonly anonymous?: readonly Scope[] | undefined;
  /** None when absent. */
  readonly rateLimits?: RateLimits | undefined;
  /** The proxies whose `X-Forwarded-For` counts, for limits and the log; none when absent. */
  readonly trustedProxies?: TrustedProxies | undefined;
  /** The origins whose scripts may read responses (`https://app.example.com`); none when absent. */
  readonly cors?: readonly string[] | undefined;
  /**
   * Where clients see the server, behind a proxy (`https://example.com/backend`): `Location`,
   * `Link` and `type` begin with it. They are paths when absent.
   */
  readonly publicUrl?: string | undefined;
}

/** The pages for people, beside the API. */
export const allPages = ['home', 'docs', 'admin'] as const;
export type PageName = (typeof allPages)[number];

/** Options of the whole program's app. */
export interface RostrumAppOptions extends RostrumHttpOptions {
  /** Fulfilled when the store can serve right now: what `/readyz` asks. */
  readonly ready: () => Promise<void>;
  /** JSON Schemas of custom fields, for the description of the API. */
  readonly customFields?: CustomFieldsDescription | undefined;
  /** Which pages for people are served; all when absent. */
  readonly pages?: readonly PageName[] | undefined;
  /** What the home page says of the program, to clients that need no credentials. */
  readonly about?: { readonly store: string } | undefined;
  /** The identity provider whose tokens `authenticate` takes (RFC 9728). */
  readonly issuer?: string | undefined;
  /**
   * Whether the server is called by this name, of a host without a port; a request to another one
   * is a 421. Any name will do when absent.
   */
  readonly isOwnHost?: ((name: string) => boolean) | undefined;
}
