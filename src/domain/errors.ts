import type { FieldIssue } from './issues.ts';

/** What is known of a change that a store did not acknowledge: surely not made, or perhaps made. */
export type Outcome = 'none' | 'unknown';

/** Every code that the core can end in, with what it tells besides. Codes are stable within v1. */
export interface ErrorDetails {
  /** No user has this id. */
  'user-not-found': { readonly id: string };
  /** No post has this id. */
  'post-not-found': { readonly id: string };
  /** One or more fields break a rule; all of them are listed. */
  'invalid-record': { readonly issues: readonly FieldIssue[] };
  /** Another user has this email address. */
  'email-taken': { readonly issues: readonly FieldIssue[] };
  /** The user still has posts and the deletion did not say what becomes of them. */
  'user-has-posts': { readonly posts: number };
  /** The record is not at a version that the caller asked for; `version` is the present one. */
  'version-mismatch': { readonly version: number };
  /** A change has to name the version that it starts from, and did not. */
  'precondition-required': Record<never, never>;
  /** The idempotency key was used for another request. */
  'idempotency-key-reused': Record<never, never>;
  /** A record with this id is there already: the id generator repeats itself. */
  'id-taken': { readonly id: string };
  /** The store cannot be reached or cannot write. */
  'store-unavailable': { readonly outcome: Outcome };
  /** The store has more work waiting than it may hold; nothing was written. */
  overloaded: Record<never, never>;
}

export type ErrorCode = keyof ErrorDetails;

/**
 * The one error of the core. `code` is for programs, `message` is a sentence for people and free
 * to change, `cause` is what a driver threw and is never shown to a client.
 */
export class RostrumError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'RostrumError';
  readonly code: C;
  readonly details: ErrorDetails[C];

  constructor(code: C, message: string, details: ErrorDetails[C], options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

/** True for an error of the core; with a code, for an error of that code. */
export function isRostrumError<C extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: C,
): error is RostrumError<C> {
  return error instanceof RostrumError && (code === undefined || error.code === code);
}

export function userNotFound(id: string): RostrumError<'user-not-found'> {
  return new RostrumError('user-not-found', 'No user has this id.', { id });
}

export function postNotFound(id: string): RostrumError<'post-not-found'> {
  return new RostrumError('post-not-found', 'No post has this id.', { id });
}

export function invalidRecord(issues: readonly FieldIssue[]): RostrumError<'invalid-record'> {
  const message =
    issues.length === 1 ? 'One field breaks a rule.' : `${issues.length} fields break a rule each.`;
  return new RostrumError('invalid-record', message, { issues });
}

/** The issue of a post that names an author who does not exist. */
export const unknownAuthorIssue: FieldIssue = {
  pointer: '/authorId',
  code: 'unknown',
  message: 'No user has this id.',
};

export function unknownAuthor(): RostrumError<'invalid-record'> {
  return invalidRecord([unknownAuthorIssue]);
}

export function emailTaken(): RostrumError<'email-taken'> {
  const message = 'Another user already has this email address.';
  return new RostrumError('email-taken', message, {
    issues: [{ pointer: '/email', code: 'taken', message }],
  });
}

export function userHasPosts(posts: number): RostrumError<'user-has-posts'> {
  const count = posts === 1 ? '1 post' : `${posts} posts`;
  return new RostrumError('user-has-posts', `The user still has ${count}.`, { posts });
}

export function versionMismatch(version: number): RostrumError<'version-mismatch'> {
  const message = 'The record is not at a version that the request allows.';
  return new RostrumError('version-mismatch', message, { version });
}

export function preconditionRequired(): RostrumError<'precondition-required'> {
  const message = 'A change has to name the version of the record that it starts from.';
  return new RostrumError('precondition-required', message, {});
}

export function idempotencyKeyReused(): RostrumError<'idempotency-key-reused'> {
  const message = 'This idempotency key was used for another request.';
  return new RostrumError('idempotency-key-reused', message, {});
}

export function idTaken(id: string): RostrumError<'id-taken'> {
  return new RostrumError('id-taken', 'A record with this id is there already.', { id });
}

export function storeUnavailable(
  outcome: Outcome,
  cause?: unknown,
): RostrumError<'store-unavailable'> {
  const message =
    outcome === 'none'
      ? 'The store is not available; nothing was changed.'
      : 'The store became unavailable; the change may have been made or not.';
  return new RostrumError('store-unavailable', message, { outcome }, { cause });
}

/** The error, when a part of the change was made before it: then nothing is `none` any more. */
export function afterChange(error: unknown): unknown {
  return isRostrumError(error, 'store-unavailable') && error.details.outcome === 'none'
    ? storeUnavailable('unknown', error)
    : error;
}

export function overloaded(): RostrumError<'overloaded'> {
  return new RostrumError('overloaded', 'The store has too much work waiting.', {});
}
