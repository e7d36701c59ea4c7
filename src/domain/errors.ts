import type { Scope } from './access/caller.ts';
import type { FieldIssue } from './fields/issues.ts';

/**
 * What is known about a change that a store did not acknowledge: it was not made (`none`), or it may have
 * been.
 */
export type Outcome = 'none' | 'unknown';

/** The details of each error, by its code. Codes are stable within v1. */
export interface ErrorDetails {
  /** No user has this id. */
  'user-not-found': { readonly id: string };
  /** No post has this id. */
  'post-not-found': { readonly id: string };
  /** Fields break rules. `issues` lists every one of them, up to a limit. */
  'invalid-record': {
    readonly issues: readonly FieldIssue[];
    /** The caller has to create its own user before it can be an author. */
    readonly reason?: 'no-user' | undefined;
  };
  /** Another user has this email address. */
  'email-taken': { readonly issues: readonly FieldIssue[] };
  /** Another record has this value of a custom field that is declared as unique. */
  'field-taken': { readonly issues: readonly FieldIssue[] };
  /**
   * The user still has posts, and the deletion did not say what happens to them. `posts` is their number,
   * for a caller that is allowed to read them.
   */
  'user-has-posts': { readonly posts?: number | undefined };
  /** The record's version does not meet the precondition; `version` is the current one, or 0 if there is no record. */
  'version-mismatch': { readonly version: number };
  /** A change must name the version that it is based on, and did not. */
  'precondition-required': Record<never, never>;
  /** The idempotency key was used for another request. */
  'idempotency-key-reused': Record<never, never>;
  /** A record with this id exists: the id generator repeats itself. */
  'id-taken': { readonly id: string };
  /** A rule of the host or its database, or a limit of the store, rejects the change; `reason` says why. */
  refused: { readonly reason: string };
  /**
   * The caller lacks this scope. `reason` says more: the record belongs to someone else; the credentials
   * have no subject; or their subject cannot be the id of a user.
   */
  forbidden: {
    readonly scope: Scope;
    readonly reason?: 'not-own' | 'no-subject' | 'no-id' | undefined;
  };
  /** The log cannot be read on from this position: list all records, then follow from the log's end. */
  'events-expired': Record<never, never>;
  /** The store keeps no event log. */
  'events-unavailable': Record<never, never>;
  /** The store cannot be reached or cannot write. */
  'store-unavailable': { readonly outcome: Outcome };
  /** Too much work is waiting; nothing was written. */
  overloaded: Record<never, never>;
}

export type ErrorCode = keyof ErrorDetails;

const emailTakenMessage = 'Another user already has this email address.';

const messages: { readonly [C in ErrorCode]: (details: ErrorDetails[C]) => string } = {
  'user-not-found': () => 'No user has this id.',
  'post-not-found': () => 'No post has this id.',
  'invalid-record': ({ issues }) =>
    issues.length === 1 && issues[0] !== undefined
      ? issues[0].message
      : `${issues.length} fields are invalid.`,
  'email-taken': () => emailTakenMessage,
  'field-taken': ({ issues }) => issues[0]?.message ?? 'Another record already has this value.',
  'user-has-posts': ({ posts }) =>
    `The user still has ${posts === undefined ? '' : `${posts} `}post${posts === 1 ? '' : 's'}.`,
  'version-mismatch': () => 'The version of the record does not meet the precondition.',
  'precondition-required': () =>
    'The change must name the version of the record that it is based on.',
  'idempotency-key-reused': () => 'This idempotency key was used for another request.',
  'id-taken': () => 'A record with this id already exists.',
  refused: ({ reason }) => reason,
  forbidden: ({ scope, reason }) => {
    if (reason === 'no-subject') return 'This requires credentials that belong to a user.';
    if (reason === 'no-id') return 'The subject of these credentials cannot be the id of a user.';
    const start =
      reason === 'not-own' ? 'This record belongs to someone else. Changing it' : 'This';
    return `${start} requires the scope ${scope}.`;
  },
  'events-expired': () => 'The events after this position are no longer available.',
  'events-unavailable': () => 'This store keeps no event log.',
  'store-unavailable': ({ outcome }) =>
    outcome === 'none'
      ? 'The store is unavailable. Nothing was changed.'
      : 'The store became unavailable. The change may or may not have been made.',
  overloaded: () => 'The server is overloaded.',
};

/** Marks an error of this class, whichever copy of the package made it. */
const brand = Symbol.for('rostrum.error');

/**
 * The only error class of the core. `code` is for programs. `message` is a sentence for people and may
 * change. `cause` is the error of a driver, and clients never see it.
 */
export class RostrumError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'RostrumError';
  readonly code: C;
  readonly details: ErrorDetails[C];

  /** @throws TypeError for an unknown code */
  constructor(code: C, details: ErrorDetails[C], options?: { readonly cause?: unknown }) {
    if (!Object.hasOwn(messages, code)) {
      throw new TypeError(`"${code}" is not an error code of Rostrum.`);
    }
    super(messages[code](details), options);
    this.code = code;
    this.details = details;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** An error of the core, as a union: a `switch` over its `code` narrows its `details`. */
export type AnyRostrumError = { [C in ErrorCode]: RostrumError<C> }[ErrorCode];

/**
 * True for a `RostrumError`, even if another copy of the package created it. With a code, true only for
 * that code.
 */
export function isRostrumError(error: unknown): error is AnyRostrumError;
export function isRostrumError<C extends ErrorCode>(
  error: unknown,
  code: C,
): error is RostrumError<C>;
export function isRostrumError(error: unknown, code?: ErrorCode): boolean {
  return (
    error instanceof Error &&
    brand in error &&
    (code === undefined || ('code' in error && error.code === code))
  );
}

export const unknownAuthorIssue: FieldIssue = {
  pointer: '/authorId',
  code: 'unknown',
  message: 'The author is unknown: no user has this id.',
};

export const idTakenIssue: FieldIssue = {
  pointer: '/id',
  code: 'taken',
  message: 'Another record has this id.',
};

/** True if the only thing wrong with the record is that its author does not exist. */
export function isUnknownAuthor(error: unknown): boolean {
  if (!isRostrumError(error, 'invalid-record')) return false;
  const { issues } = error.details;
  return issues.length === 1 && issues[0]?.pointer === '/authorId' && issues[0].code === 'unknown';
}

export function unknownAuthor(): RostrumError<'invalid-record'> {
  return new RostrumError('invalid-record', { issues: [unknownAuthorIssue] });
}

export function emailTaken(): RostrumError<'email-taken'> {
  return new RostrumError('email-taken', {
    issues: [{ pointer: '/email', code: 'taken', message: emailTakenMessage }],
  });
}

export function fieldTaken(name: string): RostrumError<'field-taken'> {
  const message = `Another record already has this value of "${name}".`;
  const pointer = `/${name}`;
  return new RostrumError('field-taken', { issues: [{ pointer, code: 'taken', message }] });
}

export function wrongType(names: readonly string[]): RostrumError<'invalid-record'> {
  const issues = names.map((name) => {
    const message = `The field "${name}" must have the type that the database declares.`;
    return { pointer: `/${name}`, code: 'type', message } as const;
  });
  return new RostrumError('invalid-record', { issues });
}

/** @param outcome what is known about the change; `none` for a read */
export function storeUnavailable(
  outcome: Outcome,
  cause?: unknown,
): RostrumError<'store-unavailable'> {
  return new RostrumError('store-unavailable', { outcome }, { cause });
}

/** Returns the error of a change that was rejected by the host's own rule in the store's database. */
export function refusedByDatabase(cause: unknown): RostrumError<'refused'> {
  const reason = "A rule of this server's database rejects this change.";
  return new RostrumError('refused', { reason }, { cause });
}
