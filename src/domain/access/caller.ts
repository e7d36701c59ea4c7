import { checkOptions } from '../options.ts';
import type { Id } from '../records/record.ts';

/**
 * The rights that a caller may have. `own` means the caller's own user, or its own posts; `public` means the
 * public view of users; `all` includes the drafts and scheduled posts of others.
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

/** A client of the core, and its rights. */
export interface Caller {
  /** Keeps the caller's idempotency keys apart from others', and appears in logs. Never blank. */
  readonly name: string;
  /** The id of the caller's own user; null for a caller without a user, who owns nothing. */
  readonly subject: Id | null;
  readonly scopes: ReadonlySet<Scope>;
  /** Shown on pages instead of the name; two callers may have the same label. */
  readonly label?: string | undefined;
}

/** A caller as an embedder passes it: its scopes are a list, a Set, or another iterable. */
export interface CallerInput extends Omit<Caller, 'scopes'> {
  readonly scopes: Iterable<Scope>;
}

/**
 * Returns a checked caller: the same object if its scopes are a Set, to save a copy for each call.
 *
 * @throws TypeError for a value that isn't a caller: no invalid value must ever grant access
 */
export function toCaller(caller: unknown): Caller {
  const {
    name,
    subject,
    scopes: granted,
    label,
  } = checkOptions<CallerInput>(caller, ['name', 'subject', 'scopes', 'label'], 'caller');
  if (typeof name !== 'string' || name.trim() === '') {
    throw new TypeError('The name of a caller must be a string that is not blank.');
  }
  if (subject !== null && (typeof subject !== 'string' || subject === '')) {
    throw new TypeError('The subject of a caller must be the id of a user, or null.');
  }
  if (label !== undefined && typeof label !== 'string') {
    throw new TypeError('The label of a caller must be a string.');
  }
  if (typeof granted !== 'object' || granted === null || !(Symbol.iterator in granted)) {
    throw new TypeError('The scopes of a caller must be a list, or a Set.');
  }
  const set = granted instanceof Set ? granted : new Set(granted);
  for (const scope of set) {
    if (!(scopes as readonly unknown[]).includes(scope)) {
      throw new TypeError(`"${String(scope)}" is not a scope. Scopes are: ${scopes.join(', ')}.`);
    }
  }
  if (set === granted) return caller as Caller;
  return { name, subject, scopes: set, ...(label !== undefined && { label }) };
}
