import type { Item, Kind } from './fields.ts';
import { type Session, session } from './session.ts';

/** True if the caller can list the records. */
export function reads(kind: Kind): boolean {
  return session.has(`${kind}:read`, kind === 'users' ? 'users:read:public' : 'posts:read:all');
}

/** True if the caller sees more than the public view of users. Otherwise, other fields cannot be sorted, searched or saved. */
export const readsFullUsers = () => session.has('users:read');
export const seesDrafts = () => session.has('posts:read:all', 'posts:write');

/** True if the caller receives events: it can read all users or all posts. */
export const seesEvents = () => readsFullUsers() || seesDrafts();

export function creates(kind: Kind): boolean {
  const isOwn = kind === 'posts' && session.subject !== null;
  return session.has(`${kind}:write`, ...(isOwn ? ['posts:write:own'] : []));
}

/** True if the caller can create its own user. */
export const createsItself = () =>
  session.subject !== null && session.has('users:write', 'users:write:own');

/** True if this caller is the same user as another one, with all of its scopes. */
export const hasAllRightsOf = ({ subject, scopes }: Session) =>
  subject === session.subject && scopes.every((scope) => session.has(scope));

export function changes(kind: Kind, { id, authorId }: Item): boolean {
  const isOwn = session.subject !== null && (kind === 'users' ? id : authorId) === session.subject;
  if (isOwn && session.has(`${kind}:write:own`)) return true;
  return session.has(`${kind}:write`) && (kind === 'posts' || readsFullUsers());
}
