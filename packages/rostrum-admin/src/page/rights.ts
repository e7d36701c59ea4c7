import type { Item, Kind } from './fields.ts';
import { type Session, session } from './session.ts';

/** Whether it may list the records at all. */
export function reads(kind: Kind): boolean {
  return session.has(`${kind}:read`, kind === 'users' ? 'users:read:public' : 'posts:read:all');
}

/** Users may be seen in their public view alone: it cannot be sorted, found or saved by the rest. */
export const seesWhole = () => session.has('users:read');
export const seesDrafts = () => session.has('posts:read:all', 'posts:write');

/** What changes is told of records that are seen whole. */
export const seesEvents = () => seesWhole() || seesDrafts();

export function creates(kind: Kind): boolean {
  const isOwn = kind === 'posts' && session.subject !== null;
  return session.has(`${kind}:write`, ...(isOwn ? ['posts:write:own'] : []));
}

/** Whether the caller's own user can be created, if there is none. */
export const createsItself = () =>
  session.subject !== null && session.has('users:write', 'users:write:own');

/** Whether this session may do all that another one might, as the same user. */
export const mayAsMuchAs = ({ subject, scopes }: Session) =>
  subject === session.subject && scopes.every((scope) => session.has(scope));

export function changes(kind: Kind, { id, authorId }: Item): boolean {
  const isOwn = session.subject !== null && (kind === 'users' ? id : authorId) === session.subject;
  if (isOwn && session.has(`${kind}:write:own`)) return true;
  return session.has(`${kind}:write`) && (kind === 'posts' || seesWhole());
}
