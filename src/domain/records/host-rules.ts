import type { Caller } from '../access/caller.ts';
import { isRostrumError, RostrumError } from '../errors.ts';
import { checkOptions, checkSynchronous } from '../options.ts';
import type { Post } from './post.ts';
import type { User } from './user.ts';

export interface JudgedChange<R> {
  /** The stored record; undefined for a creation. */
  readonly before: R | undefined;
  /** The record to store; undefined for a deletion. */
  readonly after: R | undefined;
  /** Undefined for the host's own calls. */
  readonly caller: Caller | undefined;
}

/**
 * Throws {@link refused} to prevent a change. Pure and synchronous: for a stored record it runs in the store's atomic
 * step, again if another call was faster. It must not modify its argument.
 */
export type HostRule<R> = (change: JudgedChange<R>) => void;

/** Rules of the host about the content of records. */
export interface HostRules<U = User, P = Post> {
  readonly users?: HostRule<U> | undefined;
  readonly posts?: HostRule<P> | undefined;
}

/** Returns the error with which a host rejects a change. Clients see the reason. */
export function refused(reason: string): RostrumError<'refused'> {
  return new RostrumError('refused', { reason });
}

/** @throws TypeError for rules that cannot be called */
export function checkHostRules(rules: HostRules): void {
  checkOptions(rules, ['users', 'posts'], 'rules');
  for (const [name, rule] of Object.entries(rules)) {
    if (rule === undefined || typeof rule === 'function') continue;
    throw new TypeError(`The rule of ${name} must be a function.`);
  }
}

/**
 * Applies a rule to a change.
 *
 * @throws RostrumError `refused` or `invalid-record`, as the rule threw it
 * @throws Error for anything else that it threw: a missing record in a rule is not a 404 of the request
 */
export function judge<R>(rule: HostRule<R> | undefined, change: JudgedChange<R>): void {
  if (rule === undefined) return;
  let result: unknown;
  try {
    result = rule(change);
  } catch (cause) {
    const isVerdict = isRostrumError(cause, 'refused') || isRostrumError(cause, 'invalid-record');
    throw isVerdict ? cause : new Error('A rule of the host failed.', { cause });
  }
  checkSynchronous(result, 'A rule');
}
