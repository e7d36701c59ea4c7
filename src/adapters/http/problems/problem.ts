import type { IncomingHttpHeaders } from 'node:http';
import { type AnyRostrumError, type ErrorDetails, isRostrumError } from '../../../domain/errors.ts';
import { maxIssues } from '../../../domain/issues.ts';
import { entityTag, parseEntityTags } from '../headers/etag.ts';
import type { Response } from '../response.ts';
import { type ProblemCode, type ProblemType, problemCatalogue } from './catalogue.ts';

/** One thing that is wrong, in a field, a query parameter or a header. */
export type ProblemEntry = { readonly code: string; readonly message: string } & (
  | { readonly pointer: string }
  | { readonly parameter: string }
  | { readonly header: string }
);

interface ProblemParts {
  readonly errors?: readonly ProblemEntry[];
  /** Members of the body that this problem has besides. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Names and values, one after the other. */
  readonly headers?: readonly string[];
  readonly cause?: unknown;
}

/** What a request ends in when it cannot be served as it asks. The message is for the client. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly parts: ProblemParts;

  constructor(code: ProblemCode, sentence: string, parts: ProblemParts = {}) {
    // It is a response: its stack is never read, and costs more than all else of it.
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

/**
 * Says why nothing is served under a path.
 *
 * @param instead what is served near it, as half a sentence
 */
export function unserved({ isValid }: { readonly isValid: boolean }, instead?: string): Problem {
  if (!isValid) return new Problem('invalid-path', 'The path is not percent-encoded UTF-8.');
  const end = instead === undefined ? '.' : `: ${instead}.`;
  return new Problem('path-not-found', `Nothing is served under this path${end}`);
}

/** What an error means to a client. An unexpected error is opaque. */
export function toProblem(error: unknown, headers: IncomingHttpHeaders): Problem {
  if (error instanceof Problem) return error;
  if (isRostrumError(error)) return ofRostrumError(error, headers);
  return internal(error);
}

function ofRostrumError(error: AnyRostrumError, headers: IncomingHttpHeaders): Problem {
  const { message: sentence } = error;
  switch (error.code) {
    case 'id-taken': // The id generator is broken: a client cannot help.
      return internal(error);
    case 'forbidden':
      return new Problem(error.code, sentence, {
        // RFC 6750, section 3.1.
        headers: ['WWW-Authenticate', insufficientScope(error.details)],
      });
    case 'invalid-record':
      if (error.details.reason === 'no-user') return noUserYet();
      return new Problem(error.code, sentence, { errors: error.details.issues });
    case 'refused':
      return new Problem(error.code, sentence, { members: { reason: sentence } });
    case 'email-taken':
      return new Problem(error.code, sentence, { errors: error.details.issues });
    case 'user-has-posts':
      return new Problem(error.code, sentence, { members: { posts: error.details.posts } });
    case 'version-mismatch':
      return versionMismatch(headers, entityTag(error.details.version));
    case 'store-unavailable':
      return new Problem(error.code, sentence, {
        members: { outcome: error.details.outcome },
        cause: error,
      });
    default:
      return new Problem(error.code, sentence); // What is logged of it has no use for a stack.
  }
}

const createUserFirst = 'Create your user first: PUT /users/me.';

/** The caller is allowed to write its own posts, but has no user that could be their author. */
function noUserYet(): Problem {
  const errors = [{ pointer: '/authorId', code: 'unknown', message: createUserFirst }];
  return new Problem('invalid-record', createUserFirst, { errors });
}

/** @param tag of the record as it is */
export function versionMismatch(headers: IncomingHttpHeaders, tag: string): Problem {
  const sentence = 'The record has changed since you read it.';
  return new Problem(
    'version-mismatch',
    hasWeakTag(headers) ? `${sentence} ${weakTags}` : sentence,
    { headers: ['ETag', tag] },
  );
}

const weakTags =
  'A weak entity tag (W/"…") in If-Match never matches; compression makes tags weak.';

function hasWeakTag({ 'if-match': only }: IncomingHttpHeaders): boolean {
  const tags = only === undefined ? [] : parseEntityTags(only);
  return Array.isArray(tags) && tags.some(({ weak }) => weak);
}

function insufficientScope({ scope, reason }: ErrorDetails['forbidden']): string {
  const isEnough = reason === undefined || reason === 'not-own';
  return `Bearer error="insufficient_scope"${isEnough ? `, scope="${scope}"` : ''}`;
}

function internal(cause: unknown): Problem {
  return new Problem('internal', 'Something went wrong in the server.', { cause });
}

/**
 * The response of every error (RFC 9457).
 *
 * @param problems the path that the pages of the problems lie under
 */
export function problemResponse(
  { code, type, message, parts }: Problem,
  requestId: string,
  problems = '/problems',
) {
  const { status, title, retryAfter, jitter = 0 } = type;
  const { errors = [], members, headers = [] } = parts;
  const body = {
    type: `${problems}/${code}`,
    title,
    status,
    code,
    error: message,
    detail: message,
    requestId,
    ...(errors.length > 0 && { errors: errors.slice(0, maxIssues) }),
    ...members,
  };
  const own = ['Cache-Control', 'no-store'];
  if (retryAfter !== undefined) {
    const seconds = retryAfter + Math.floor(Math.random() * (jitter + 1));
    own.push('Retry-After', String(seconds));
  }
  return {
    status,
    headers: [...own, ...headers],
    body: `${JSON.stringify(body)}\n`,
    type: 'application/problem+json',
  } as const satisfies Response;
}
