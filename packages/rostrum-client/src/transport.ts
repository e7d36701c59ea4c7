import { ApiProblem, type ProblemDetails, problemOf } from './problem.ts';
import type { Outcome } from './records.ts';

/** How a client reaches its server. */
export interface TransportOptions {
  /** Where the API is: `https://example.com/api/v1`; in a browser `/api/v1` will do. */
  readonly url: string;
  /** A bearer token (RFC 6750), or what makes one, or undefined for none, for each try. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** The platform's `fetch` when absent. */
  readonly fetch?: typeof fetch | undefined;
  /** Milliseconds that one try may take; 30 seconds when absent. */
  readonly timeoutMs?: number | undefined;
  /** Bounds of what is tried again; `{ tries: 1 }` tries nothing again. */
  readonly retry?: RetryOptions | undefined;
}

export interface RetryOptions {
  /** Tries in all; 4 when absent. */
  readonly tries?: number | undefined;
  /** No try begins later than these milliseconds after the first; 60 seconds when absent. */
  readonly withinMs?: number | undefined;
  /**
   * Milliseconds before the second try at most, where the server does not say; twice as many
   * before each further one, up to 5 seconds; 400 when absent.
   */
  readonly pauseMs?: number | undefined;
}

export interface CallOptions {
  /** Aborts the call, its waits and its tries; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the API's URL, encoded, with its query. */
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

/**
 * Statuses after which the same request may succeed: RFC 9110, sections 15.5.9 and 15.6.3 to
 * 15.6.5, and RFC 6585, section 4.
 */
const transient = new Set([408, 429, 502, 503, 504]);
/** Whether a failure may be gone at the next try. */
export function isTransient(error: unknown): boolean {
  return (
    error instanceof ApiProblem && (transient.has(error.status) || error.code === 'no-response')
  );
}

/** Codes of a 5xx that promise that nothing was changed. */
const unchanged = new Set(['overloaded', 'shutting-down']);
const longestPauseMs = 5000;

/** Type errors that a program's own `token` threw: they say nothing of a call's arguments. */
export const tokenErrors = new WeakSet<TypeError>();

/**
 * Sends requests and repeats those that failed for a moment. Every request may be repeated: reads,
 * PUT, merge patches and DELETE are idempotent (RFC 9110, section 9.2.2; RFC 7396), a POST has its
 * key, and `If-Match` lets a change be made once at most.
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
        // A redirect would turn a POST into a GET, and its response into somebody's record.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        ...(body !== undefined && { body }),
      });
      return readResponse(method, response, await response.text());
    } catch (cause) {
      signal?.throwIfAborted();
      throw cause instanceof ApiProblem ? cause : noResponse(method, cause);
    }
  }

  return async (request) => {
    const { method, signal } = request;
    // What cannot be sent fails here: no other try would mend it.
    const body = request.body && JSON.stringify(request.body);
    const headers = new Headers(request.headers);
    headers.set('Accept', 'application/json');
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    const deadline = Date.now() + withinMs;
    let doubtful = false;
    for (let number = 1; ; number++) {
      const bearer = await tokenOf(token);
      if (bearer !== undefined) headers.set('Authorization', `Bearer ${bearer}`);
      try {
        return await attempt(request, headers, body);
      } catch (error) {
        if (!(error instanceof ApiProblem)) throw error;
        // An earlier try that nobody confirmed may be what deleted the record.
        const gone = error.code === 'user-not-found' || error.code === 'post-not-found';
        if (doubtful && method === 'DELETE' && gone) {
          return { status: 200, body: { deleted: true }, headers: new Headers() };
        }
        const wait = error.retryAfterMs ?? pause(number, pauseMs);
        const again = isTransient(error) && number < tries && Date.now() + wait <= deadline;
        if (!again) throw doubtful ? inDoubt(error) : error;
        doubtful ||= error.outcome === 'unknown';
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
      ? 'The server answered with a redirect; the client needs the final URL of the API.'
      : `The response with status ${status} is not one of the API.`;
  throw problemOf('unexpected-response', status, detail, { outcome, retryAfterMs });
}

function noResponse(method: string, cause: unknown): ApiProblem {
  const context = { outcome: method === 'GET' ? 'none' : 'unknown', cause } as const;
  return problemOf('no-response', 0, 'No response arrived from the server.', context);
}

/** The same problem, when an earlier try may have made the change. */
function inDoubt(problem: ApiProblem): ApiProblem {
  const { details, retryAfterMs, version, cause } = problem;
  return new ApiProblem(details, { outcome: 'unknown', retryAfterMs, version, cause });
}

function outcomeOf(details: ProblemDetails): Outcome {
  if ('outcome' in details) return details.outcome === 'none' ? 'none' : 'unknown';
  return details.status < 500 || unchanged.has(details.code) ? 'none' : 'unknown';
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

/** The version that an entity tag of the API names; a proxy that compresses makes tags weak. */
export function versionOf(tag: string): number | undefined {
  const [, version] = /^(?:W\/)?"(\d+)(?:-public)?"$/.exec(tag) ?? [];
  return version === undefined ? undefined : Number(version);
}

/** Reads `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3). */
function delayOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** Grows with each try, and is random, so that clients do not come back all at once. */
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
