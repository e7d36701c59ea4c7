import type { IncomingMessage } from 'node:http';
import { isOrigin } from '../../../domain/addresses.ts';
import type { Response } from '../response.ts';

/** What a script of another origin may see of a response. */
const exposed = [
  ...['ETag', 'Location', 'Link', 'X-Total-Count', 'X-Request-Id', 'Retry-After'],
  ...['RateLimit', 'RateLimit-Policy', 'Idempotency-Replayed', 'Preference-Applied'],
  'WWW-Authenticate',
].join(', ');

/** What a script of another origin may send. */
const accepted = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'Prefer'],
  ...['X-Request-Id', 'traceparent', 'tracestate'],
].join(', ');

/** Seconds for which a browser may keep the response to a preflight. */
const maxAge = '600';

/**
 * The origins whose scripts a browser lets read responses (the Fetch standard, CORS protocol). There
 * are no cookies, so `Access-Control-Allow-Credentials` is never sent.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>;

  /** @throws TypeError for what is no origin */
  constructor(origins: readonly string[] = []) {
    for (const origin of origins) {
      if (!isOrigin(origin)) {
        throw new TypeError(`"${origin}" is no origin such as https://app.example.com.`);
      }
    }
    this.#origins = new Set(origins);
  }

  /** True when no origin is listed: no response says anything of origins. */
  get isOff(): boolean {
    return this.#origins.size === 0;
  }

  /** The headers of every response, an error too. */
  headersFor({ headers: { origin } }: Pick<IncomingMessage, 'headers'>): readonly string[] {
    if (this.isOff) return [];
    if (origin === undefined || !this.#origins.has(origin)) return ['Vary', 'Origin'];
    return [
      ...['Vary', 'Origin', 'Access-Control-Allow-Origin', origin],
      ...['Access-Control-Expose-Headers', exposed],
    ];
  }

  /** The response to a preflight; undefined for a request that is none. */
  preflight({ method, headers }: IncomingMessage, allow: string): Response | undefined {
    const { origin, 'access-control-request-method': wanted } = headers;
    const isPreflight = method === 'OPTIONS' && origin !== undefined && wanted !== undefined;
    if (!isPreflight) return undefined;
    if (!this.#origins.has(origin)) return { status: 204, headers: ['Allow', allow] };
    return {
      status: 204,
      headers: [
        ...['Allow', allow, 'Access-Control-Allow-Methods', allow],
        ...['Access-Control-Allow-Headers', accepted, 'Access-Control-Max-Age', maxAge],
      ],
    };
  }
}
