import type { Logger } from '../../../ports/logger.ts';
import type { TrustedProxies } from '../access/client-address.ts';
import type { HttpMetrics } from '../operator/metrics.ts';

/** How the server listens, and what it bears. Times are in milliseconds. */
export interface ServeOptions {
  /** `127.0.0.1` when absent. */
  readonly host?: string | undefined;
  /** 3000 when absent; 0 for any that is free. */
  readonly port?: number | undefined;
  readonly logger?: Logger | undefined;
  readonly limits?: Partial<ServerLimits> | undefined;
  /** As {@link RostrumHttpOptions} has it, for what is refused before the app sees it. */
  readonly cors?: readonly string[] | undefined;
  readonly publicUrl?: string | undefined;
  readonly trustedProxies?: TrustedProxies | undefined;
  readonly metrics?: Pick<HttpMetrics, 'problem'> | undefined;
  /** How long requests under way may take to finish when the server closes. */
  readonly shutdownTimeoutMs?: number | undefined;
}

export interface ServerLimits {
  /** For the headers of a request to arrive. */
  readonly headersTimeoutMs: number;
  /** For a whole request to arrive. */
  readonly requestTimeoutMs: number;
  /** For which a connection is kept without a request: longer than the proxies in front do. */
  readonly keepAliveTimeoutMs: number;
  /** For which a connection may be silent, in either direction, while a request is under way. */
  readonly inactivityTimeoutMs: number;
  /** For which a client may take nothing of a response that was sent. */
  readonly stallTimeoutMs: number;
  /** Bytes of all headers of a request, its first line included. */
  readonly maxHeaderBytes: number;
  /** Connections at one time. For one more, the one is closed that has had no request for longest. */
  readonly maxConnections: number;
  /** How often connections are looked at for time-outs. */
  readonly checkIntervalMs: number;
}

export const defaultLimits: ServerLimits = {
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 65_000,
  inactivityTimeoutMs: 120_000,
  stallTimeoutMs: 20_000,
  maxHeaderBytes: 32 * 1024,
  maxConnections: 10_000,
  checkIntervalMs: 200,
};

export const defaultShutdownTimeoutMs = 10_000;
