import type { FieldCode, Outcome, Version } from './records.ts';

/** Codes of the API, by status. */
type ServerCode =
  | 'bad-request'
  | 'invalid-path'
  | 'invalid-query'
  | 'invalid-cursor'
  | 'invalid-header'
  | 'invalid-body'
  | 'unauthenticated'
  | 'forbidden'
  | 'user-not-found'
  | 'post-not-found'
  | 'path-not-found'
  | 'method-not-allowed'
  | 'request-timeout'
  | 'email-taken'
  | 'id-taken'
  | 'user-has-posts'
  | 'events-expired'
  | 'version-mismatch'
  | 'body-too-large'
  | 'uri-too-long'
  | 'unsupported-media-type'
  | 'expectation-failed'
  | 'misdirected-request'
  | 'invalid-record'
  | 'idempotency-key-reused'
  | 'precondition-required'
  | 'too-many-requests'
  | 'headers-too-large'
  | 'internal'
  | 'events-unavailable'
  | 'store-unavailable'
  | 'overloaded'
  | 'credentials-unavailable'
  | 'shutting-down';

/** Codes that the client adds, for what is no answer of the API. */
type ClientCode =
  /** No response arrived, or not all of it. */
  | 'no-response'
  /** The response is not the API's, but a proxy's page or a redirect. */
  | 'unexpected-response';

/** Every code that a call can end in. A newer server may have others: v1 only grows. */
export type ApiCode = ServerCode | ClientCode;

/** One thing that is wrong in a field, a query parameter or a header. */
export type ProblemEntry = { readonly message: string } & (
  | { readonly pointer: string; readonly code: FieldCode }
  | { readonly parameter: string; readonly code: string }
  | { readonly header: string; readonly code: string }
);

/** Members of a problem that only some codes have. */
interface MoreDetails {
  'user-has-posts': { readonly posts?: number };
  'store-unavailable': { readonly outcome: Outcome };
  'invalid-query': { readonly allowed: readonly string[] };
}

/** The body of a problem (RFC 9457, section 3.1), with the contract's extension members. */
export type ProblemDetails<C extends ApiCode = ApiCode> = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: C;
  readonly detail: string;
  /** Absent where no server of Rostrum answered. */
  readonly requestId?: string;
  readonly errors?: readonly ProblemEntry[];
} & (C extends keyof MoreDetails ? MoreDetails[C] : unknown);

interface ProblemContext {
  readonly outcome: Outcome;
  /** Milliseconds, from `Retry-After`. */
  readonly retryAfterMs?: number | undefined;
  /** The present version, from the `ETag` of a 412. */
  readonly version?: Version | undefined;
  readonly cause?: unknown;
}

/** Marks an error of this class, whichever copy of the package made it. */
const brand = Symbol.for('rostrum.api-problem');

/**
 * What every call of the client rejects with, except when its signal aborts it. `code` is for
 * programs, `message` is a sentence for people and free to change.
 */
export class ApiProblem<C extends ApiCode = ApiCode> extends Error {
  override readonly name = 'ApiProblem';
  readonly code: C;
  /** The HTTP status; 0 when no response arrived. */
  readonly status: number;
  /** The whole body (RFC 9457). */
  readonly details: ProblemDetails<C>;
  /** What is known of the change: surely not made, or perhaps made. `none` for a read. */
  readonly outcome: Outcome;
  readonly retryAfterMs: number | undefined;
  readonly version: Version | undefined;

  constructor(details: ProblemDetails<C>, { cause, ...context }: ProblemContext) {
    super(details.detail, cause === undefined ? {} : { cause });
    this.code = details.code;
    this.status = details.status;
    this.details = details;
    this.outcome = context.outcome;
    this.retryAfterMs = context.retryAfterMs;
    this.version = context.version;
    Object.defineProperty(this, brand, { value: true });
  }

  /** Everything that is wrong with the request; empty where the problem does not list it. */
  get errors(): readonly ProblemEntry[] {
    return this.details.errors ?? [];
  }
}

/** A problem as a union: a `switch` over its `code` narrows its `details`. */
export type AnyApiProblem = { [C in ApiCode]: ApiProblem<C> }[ApiCode];

/** True for a problem, also of another copy of the package; with a code, for one of that code. */
export function isApiProblem(error: unknown): error is AnyApiProblem;
export function isApiProblem<C extends ApiCode>(error: unknown, code: C): error is ApiProblem<C>;
export function isApiProblem(error: unknown, code?: ApiCode): boolean {
  return (
    error instanceof Error &&
    brand in error &&
    (code === undefined || ('code' in error && error.code === code))
  );
}

/** A problem that the client finds itself, without a response that tells of it. */
export function problemOf(
  code: ClientCode | 'forbidden' | 'version-mismatch',
  status: number,
  detail: string,
  context: ProblemContext = { outcome: 'none' },
): ApiProblem {
  return new ApiProblem({ type: 'about:blank', title: detail, status, code, detail }, context);
}
