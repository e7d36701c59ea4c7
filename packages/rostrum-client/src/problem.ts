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
  | 'field-taken'
  | 'refused'
  | 'user-has-posts'
  | 'events-expired'
  | 'version-mismatch'
  | 'body-too-large'
  | 'uri-too-long'
  | 'unsupported-media-type'
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

/** Codes that the client adds, for calls without a response of the API. */
type ClientCode =
  /** The connection failed, or ended before the whole response arrived. */
  | 'no-response'
  /** The response comes from something else, such as a proxy, or is a redirect. */
  | 'unexpected-response';

/** All codes of problems. A newer server can have more: v1 only grows. */
export type ApiCode = ServerCode | ClientCode;

/** An error in one field, query parameter or header. */
export type ProblemEntry = { readonly message: string } & (
  | { readonly pointer: string; readonly code: FieldCode }
  | { readonly parameter: string; readonly code: string }
  | { readonly header: string; readonly code: string }
);

/** Members that only problems with this code have. */
interface MoreDetails {
  'user-has-posts': { readonly posts?: number };
  refused: { readonly reason: string };
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
  /** Absent if the problem comes from the client. */
  readonly requestId?: string;
  readonly errors?: readonly ProblemEntry[];
} & (C extends keyof MoreDetails ? MoreDetails[C] : unknown);

interface ProblemContext {
  readonly outcome: Outcome;
  /** From `Retry-After`, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The current version, from the `ETag` of a 412 response. */
  readonly version?: Version | undefined;
  readonly cause?: unknown;
}

/** Marks errors of this class, so that another copy of the package recognizes them. */
const brand = Symbol.for('rostrum.api-problem');

/**
 * The error of every failed call, unless its signal aborted it. Use `code` in programs; `message` is
 * a sentence for people and can change.
 */
export class ApiProblem<C extends ApiCode = ApiCode> extends Error {
  override readonly name = 'ApiProblem';
  readonly code: C;
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** The body of the response (RFC 9457). */
  readonly details: ProblemDetails<C>;
  /** `none` if nothing was changed, `unknown` if the change may have been made. */
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

  /** The errors in fields, parameters and headers; may be empty. */
  get errors(): readonly ProblemEntry[] {
    return this.details.errors ?? [];
  }
}

/** All problems as a union, so that a `switch` on `code` narrows `details`. */
export type AnyApiProblem = { [C in ApiCode]: ApiProblem<C> }[ApiCode];

/** Returns true for an {@link ApiProblem}, and with a code, for one with that code. */
export function isApiProblem(error: unknown): error is AnyApiProblem;
export function isApiProblem<C extends ApiCode>(error: unknown, code: C): error is ApiProblem<C>;
export function isApiProblem(error: unknown, code?: ApiCode): boolean {
  return (
    error instanceof Error &&
    brand in error &&
    (code === undefined || ('code' in error && error.code === code))
  );
}

/** Creates a problem that is found by the client, not by the server. */
export function problemOf(
  code: ClientCode | 'forbidden' | 'version-mismatch',
  status: number,
  detail: string,
  context: ProblemContext = { outcome: 'none' },
): ApiProblem {
  return new ApiProblem({ type: 'about:blank', title: detail, status, code, detail }, context);
}
