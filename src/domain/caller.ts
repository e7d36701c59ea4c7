import { checkOptions } from './options.ts';
import type { Id } from './record.ts';

/**
 * What a caller may be allowed to do. `own` is the user that is itself, or the posts it wrote;
 * `public` is the public view of users; `all` has drafts and scheduled posts of others in it.
 */
export const scopes = [
  'users:read',
  'users:read:public',
  'users:write',
  'users:write:own',
  'posts:read',
  'posts:read:all',
  'posts:write',
  'posts:write:own',
] as const;

export type Scope = (typeof scopes)[number];

/** A client of the core, and what it may do. */
export interface Caller {
  /** What its idempotency keys belong to, and what logs name; never blank. */
  readonly name: string;
  /** The id of the user that the caller is; null for a caller that is no user, and owns nothing. */
  readonly subject: Id | null;
  readonly scopes: ReadonlySet<Scope>;
}

/** The client that sends no credentials, and what it may do. It is no user. */
export function anonymousCaller(given: Iterable<Scope>): Caller {
  return { name: 'anonymous', subject: null, scopes: new Set(given) };
}

/** @throws TypeError for a value that is no caller: nothing must ever count as a yes */
export function checkCaller(caller: unknown): asserts caller is Caller {
  const {
    name,
    subject,
    scopes: given,
  } = checkOptions<Caller>(caller, ['name', 'subject', 'scopes'], 'caller');
  if (typeof name !== 'string' || name.trim() === '') {
    throw new TypeError('The name of a caller must be a text that is not blank.');
  }
  if (subject !== null && (typeof subject !== 'string' || subject === '')) {
    throw new TypeError('The subject of a caller must be the id of a user, or null.');
  }
  if (!(given instanceof Set)) throw new TypeError('The scopes of a caller must be a Set.');
  for (const scope of given) {
    if (!(scopes as readonly unknown[]).includes(scope)) {
      throw new TypeError(`"${String(scope)}" is no scope; scopes are ${scopes.join(', ')}.`);
    }
  }
}
