import { isRostrumError, type RostrumError } from '../../domain/errors.ts';
import { maxIssues } from '../../domain/issues.ts';
import { entityTag } from './etag.ts';
import {
  type ProblemCode,
  type ProblemKind,
  problemCatalogue,
  problemOfError,
} from './problem-catalogue.ts';

const problemType = 'application/problem+json';

/** One thing that is wrong, in a field, a query parameter or a header. */
export type ProblemEntry = { readonly code: string; readonly message: string } & (
  | { readonly pointer: string }
  | { readonly parameter: string }
  | { readonly header: string }
);

interface ProblemParts {
  readonly errors?: readonly ProblemEntry[];
  /** Members of the answer that this kind of problem has besides. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** What a request ends in when it cannot be answered as it asks. The message is for the client. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly errors: readonly ProblemEntry[];
  readonly members: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, sentence: string, parts: ProblemParts = {}) {
    super(sentence, parts.cause === undefined ? {} : { cause: parts.cause });
    this.code = code;
    this.errors = (parts.errors ?? []).slice(0, maxIssues);
    this.members = parts.members ?? {};
    const { retryAfter } = this.kind;
    this.headers = {
      ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
      ...parts.headers,
    };
  }

  get kind(): ProblemKind {
    return problemCatalogue[this.code];
  }
}

/** What an error means to a client. What nobody expected is opaque. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isRostrumError(error)) return ofRostrumError(error);
  return internal(error);
}

function ofRostrumError(error: RostrumError): Problem {
  const code = problemOfError[error.code];
  if (code === 'internal') return internal(error);
  if (isRostrumError(error, 'invalid-record') || isRostrumError(error, 'email-taken')) {
    return new Problem(code, error.message, { errors: error.details.issues });
  }
  if (isRostrumError(error, 'user-has-posts')) {
    return new Problem(code, error.message, { members: { posts: error.details.posts } });
  }
  if (isRostrumError(error, 'version-mismatch')) {
    const headers = { ETag: entityTag(error.details.version) };
    return new Problem(code, error.message, { headers });
  }
  return new Problem(code, error.message, { cause: error });
}

function internal(cause: unknown): Problem {
  return new Problem('internal', 'Something went wrong in the server.', { cause });
}

/** What of a request a problem's body tells. */
export interface ProblemContext {
  readonly requestId: string;
  /** The path that the pages of the kinds of problems lie under. */
  readonly problems: string;
}

/** The body of every error (RFC 9457). */
export function problemBody(
  problem: Problem,
  { requestId, problems }: ProblemContext,
): Readonly<Record<string, unknown>> {
  const { status, title } = problem.kind;
  return {
    type: `${problems}/${problem.code}`,
    title,
    status,
    code: problem.code,
    error: problem.message,
    detail: problem.message,
    requestId,
    ...(problem.errors.length > 0 && { errors: problem.errors }),
    ...problem.members,
  };
}

/** The headers of every error, beside those of every answer. */
export function problemHeaders(problem: Problem): Readonly<Record<string, string>> {
  return { ...problem.headers, 'Cache-Control': 'no-store', 'Content-Type': problemType };
}
