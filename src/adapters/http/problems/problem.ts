import { randomInt } from 'node:crypto';
import { maxIssues } from '../../../domain/fields/issues.ts';
import { type ProblemCode, type ProblemType, problemCatalogue, retryAfter } from './catalogue.ts';

/** One thing that is wrong with a field, a query parameter or a header. */
export type ProblemEntry = { readonly code: string; readonly message: string } & (
  | { readonly pointer: string }
  | { readonly parameter: string }
  | { readonly header: string }
);

export interface ProblemParts {
  readonly errors?: readonly ProblemEntry[];
  /** Additional members of the body. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** An error response. The message is for the client. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly parts: ProblemParts;

  constructor(code: ProblemCode, sentence: string, parts: ProblemParts = {}) {
    // Nobody reads the stack of a response, and it takes 10 of the 45 µs that a 404 takes.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(sentence, parts.cause === undefined ? {} : { cause: parts.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.parts = parts;
  }

  get type(): ProblemType {
    return problemCatalogue[this.code];
  }

  get status(): number {
    return this.type.status;
  }
}

export const problemHeaders = {
  'Content-Type': 'application/problem+json',
  'Cache-Control': 'no-store',
};

/**
 * The body and headers of an error response (RFC 9457).
 *
 * @param problemsUrl the path or URL of the pages about problems
 */
export function problemResponse(problem: Problem, requestId: string, problemsUrl = '/problems') {
  const { code, type, message, parts } = problem;
  const { status, title, isTemporary } = type;
  const { errors = [], members, headers } = parts;
  const body = {
    type: `${problemsUrl}/${code}`,
    title,
    status,
    code,
    error: message,
    detail: message,
    requestId,
    ...(errors.length > 0 && { errors: errors.slice(0, maxIssues) }),
    ...members,
  };
  return {
    body: `${JSON.stringify(body)}\n`,
    headers: {
      ...problemHeaders,
      ...(isTemporary && { 'Retry-After': String(randomInt(retryAfter.min, retryAfter.max + 1)) }),
      ...headers,
    } as Readonly<Record<string, string>>,
  };
}
