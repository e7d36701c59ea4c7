import { ApiProblem, type ProblemDetails, problemOf } from './problem.ts';
import type { Outcome } from './records.ts';

/** How to reach the server. */
export interface TransportOptions {
  /** The API's URL: `https://example.com/api/v1`. A browser also accepts `/api/v1`. */
  readonly url: string;
  /**
   * A bearer token (RFC 6750), or a function that returns one. The function is called before every
   * try; a request is sent without a token when it returns undefined.
   */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** Sends the requests; the platform's `fetch` by default. */
  readonly fetch?: typeof fetch | undefined;
  /** The time limit of one try in milliseconds, 30,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** When to retry. `{ tries: 1 }` disables retries. */
  readonly retry?: RetryOptions | undefined;
}

export interface RetryOptions {
  /** The maximum number of tries, including the first; 4 by default. */
  readonly tries?: number | undefined;
  /** No try starts later than this many milliseconds after the first; 60,000 by default. */
  readonly withinMs?: number | undefined;
  /**
   * The longest pause before the second try in milliseconds, 400 by default. It doubles with each
   * further try, up to 5 seconds. If the server sends `Retry-After`, that applies instead.
   */
  readonly pauseMs?: number | undefined;
}

export interface CallOptions {
  /** Aborts the call, including its pauses and retries; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the API's URL, percent-encoded, with the query. */
  readonly path: string;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ApiResponse {
  readonly status: number;
  readonly body: object;
  readonly headers: Headers;
}

export type Send = (request: ApiRequest) => Promise<ApiResponse>;

/** Statuses worth a retry: RFC 9110, sections 15.5.9 and 15.6.3 to 15.6.5; RFC 6585, section 4. */
const transientStatuses = new Set([408, 429, 502, 503, 504]);

/** Returns true if the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof ApiProblem &&
    (transientStatuses.has(error.status) || error.code === 'no-response')
  );
}

/** Codes with a 5xx status that guarantee that nothing was changed. */
const harmlessCodes = new Set(['overloaded', 'shutting-down', 'credentials-unavailable']);
const longestPauseMs = 5000;

/** TypeErrors thrown by the program's `token` function, to tell them from invalid arguments. */
export const tokenErrors = new WeakSet<TypeError>();

/**
 * Sends requests and retries transient failures. Every request is safe to repeat: GET, PUT, DELETE
 * and merge patches are idempotent (RFC 9110, section 9.2.2; RFC 7396), a POST has its key, and
 * `If-Match` lets a change happen only once.
 */
export function createTransport(options: TransportOptions): Send {
  const { url, token, timeoutMs = 30_000, retry = {} } = options;
  const { tries = 4, withinMs = 60_000, pauseMs = 400 } = retry;
  const base = url.replace(/\/+$/, '');

  async function attempt(
    { method, path, signal }: ApiRequest,
    headers: Headers,
    body: string | undefined,
  ): Promise<ApiResponse> {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await (options.fetch ?? fetch)(`${base}${path}`, {
        method,
        headers,
        // Following a redirect could turn a POST into a GET of somebody else's record.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        ...(body !== undefined && { body }),
      });
      return readResponse(method, response, await response.text());
    } catch (cause) {
      signal?.throwIfAborted();
      throw cause instanceof ApiProblem ? cause : noResponse(method, base, cause);
    }
  }

  return async (request) => {
    const { method, signal } = request;
    // An invalid argument throws here, before the first try.
    const body = request.body && JSON.stringify(request.body);
    const headers = new Headers(request.headers);
    headers.set('Accept', 'application/json');
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    const deadline = Date.now() + withinMs;
    // True once a try may have made the change although it failed.
    let isUncertain = false;
    for (let number = 1; ; number++) {
      const bearer = await tokenOf(token);
      if (bearer === undefined) headers.delete('Authorization');
      else headers.set('Authorization', `Bearer ${bearer}`);
      try {
        return await attempt(request, headers, body);
      } catch (error) {
        if (!(error instanceof ApiProblem)) throw error;
        const isGone = error.code === 'user-not-found' || error.code === 'post-not-found';
        if (isUncertain && method === 'DELETE' && isGone) {
          return { status: 200, body: { deleted: true }, headers: new Headers() };
        }
        const wait = error.retryAfterMs ?? pause(number, pauseMs);
        const again = isTransient(error) && number < tries && Date.now() + wait <= deadline;
        if (!again) throw isUncertain ? withUnknownOutcome(error) : error;
        isUncertain ||= error.outcome === 'unknown';
        await sleep(wait, signal);
      }
    }
  };
}

async function tokenOf(token: TransportOptions['token']): Promise<string | undefined> {
  if (typeof token !== 'function') return token;
  try {
    return await token();
  } catch (error) {
    if (error instanceof TypeError) tokenErrors.add(error);
    throw error;
  }
}

function readResponse(method: string, response: Response, text: string): ApiResponse {
  const { ok, status, headers } = response;
  const body = parse(text);
  if (ok && body !== undefined) return { status, body, headers };
  const retryAfterMs = delayOf(headers.get('Retry-After'));
  if (!ok && isProblem(body)) {
    const outcome = method === 'GET' ? 'none' : outcomeOf(body);
    const tag = status === 412 ? headers.get('ETag') : null;
    const version = tag === null ? undefined : versionOf(tag);
    throw new ApiProblem(body, { outcome, retryAfterMs, version });
  }
  const outcome = method === 'GET' || (status >= 300 && status < 500) ? 'none' : 'unknown';
  const detail =
    response.type === 'opaqueredirect' || (status >= 300 && status < 400)
      ? 'The server responded with a redirect. Give the client the final URL of the API.'
      : `The response with status ${status} does not come from the API.`;
  throw problemOf('unexpected-response', status, detail, { outcome, retryAfterMs });
}

function noResponse(method: string, url: string, cause: unknown): ApiProblem {
  const context = { outcome: method === 'GET' ? 'none' : 'unknown', cause } as const;
  // To a page, a request that CORS forbids looks like any other network error: a TypeError.
  const mayNeedCors = Object(cause).name === 'TypeError' && isCrossOrigin(url);
  const detail = mayNeedCors
    ? 'No response. If this page is served from another origin, does the server allow it (--cors)?'
    : 'No response arrived from the server.';
  return problemOf('no-response', 0, detail, context);
}

function isCrossOrigin(url: string): boolean {
  // Node has no location.
  const origin: string | undefined = globalThis.location?.origin;
  return origin !== undefined && /^https?:/i.test(url) && !`${url}/`.startsWith(`${origin}/`);
}

/** Returns the same problem for a change that an earlier try may have made. */
function withUnknownOutcome(problem: ApiProblem): ApiProblem {
  const { details, retryAfterMs, version, cause } = problem;
  return new ApiProblem(details, { outcome: 'unknown', retryAfterMs, version, cause });
}

function outcomeOf(details: ProblemDetails): Outcome {
  if ('outcome' in details) return details.outcome === 'none' ? 'none' : 'unknown';
  return details.status < 500 || harmlessCodes.has(details.code) ? 'none' : 'unknown';
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function isProblem(body: object | undefined): body is ProblemDetails {
  const { code, detail, status }: Record<string, unknown> = { ...body };
  return typeof code === 'string' && typeof detail === 'string' && typeof status === 'number';
}

/** Reads the version from an ETag of the API, also when a compressing proxy has made it weak. */
export function versionOf(tag: string): number | undefined {
  const [, version] = /^(?:W\/)?"(\d+)(?:-[\w-]+)?"$/.exec(tag) ?? [];
  return version === undefined ? undefined : Number(version);
}

/** True for the ETag of a public view, which has a suffix. */
export function isPublicTag(tag: string): boolean {
  return /^(?:W\/)?"\d+-/.test(tag);
}

/** Reads `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3). */
function delayOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Exponential backoff with full jitter, so that clients do not all return at the same moment. */
function pause(number: number, firstMs: number): number {
  return Math.random() * Math.min(longestPauseMs, firstMs * 2 ** (number - 1));
}

export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
