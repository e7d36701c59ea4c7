import { RostrumError } from '../errors.ts';
import {
  type DefaultOrder,
  lastPublishedFirst,
  newestFirst,
  type PostFilter,
  type SharedFilter,
} from '../lists/search.ts';
import { addMs, type Instant } from '../records/instant.ts';
import { isPlainObject } from '../records/json.ts';
import { isPublic, type Post } from '../records/post.ts';
import type { Collection, Id } from '../records/record.ts';
import type { Caller, Scope } from './caller.ts';

/** A record with an owner: users own themselves, and authors own their posts. */
interface Owned {
  readonly id: Id;
  readonly authorId?: unknown;
}

/** Checks what one caller is allowed to do with users, or with posts. Its checks throw `forbidden`. */
export class Access {
  readonly caller: Caller;
  readonly #collection: Collection;

  /** @param caller checked by {@link toCaller} */
  constructor(caller: Caller, collection: Collection) {
    this.caller = caller;
    this.#collection = collection;
  }

  // Scopes are checked before anything is read, so that an error does not reveal what exists.

  /** @param id of the record to read; absent for a list */
  checkRead(id?: Id): void {
    const isAllowed =
      this.#collection === 'users' ? canReadInFull(this.caller, id) : this.#has('read:all');
    if (!isAllowed) this.#require('read');
  }

  checkReadPublic(): void {
    if (!this.#has('read')) this.#require('read:public');
  }

  checkCreateUser(): void {
    this.#require('write');
  }

  checkWrite(): void {
    if (!this.#has('write:own')) this.#require('write');
  }

  /** Checks the right to delete or change all posts of a user together with the user. */
  checkWritePostsOf(id: Id): void {
    const { scopes, subject } = this.caller;
    if (scopes.has('posts:write') || (scopes.has('posts:write:own') && id === subject)) return;
    throw forbidden('posts:write');
  }

  /** True if the caller is allowed to know how many posts a user has, drafts included. */
  canCountPostsOf(id: Id): boolean {
    const { scopes, subject } = this.caller;
    if (scopes.has('posts:read:all')) return true;
    return scopes.has('posts:read') && (scopes.has('posts:write') || id === subject);
  }

  // Posts that a caller is not allowed to see do not exist for that caller.

  /** True if this caller can see every record. Users are never hidden; other people's drafts and scheduled posts are. */
  get canSeeAll(): boolean {
    return this.#collection === 'users' || this.#has('read:all') || this.#has('write');
  }

  canSee(record: Owned & Partial<Pick<Post, 'publishedAt'>>, now: Instant): boolean {
    return (
      this.canSeeAll ||
      this.#isOwn(record.authorId) ||
      isPublic({ publishedAt: null, ...record }, now)
    );
  }

  /** Narrows a filter to public posts, unless it selects the caller's own, or this caller can see all. */
  narrow<Filter extends SharedFilter>(
    filter: Filter & Pick<PostFilter, 'authorId' | 'publishedAt'>,
    now: Instant,
  ): Filter {
    if (this.canSeeAll || this.#isOwn(filter.authorId)) return filter;
    const { publishedAt: span = {} } = filter;
    if (span === null) return { ...filter, publishedAt: undefined, ids: [] };
    const afterNow = addMs(now, 1);
    const isLater = span.before === undefined || span.before > afterNow;
    return { ...filter, publishedAt: isLater ? { ...span, before: afterNow } : span };
  }

  // Ownership is checked inside the step that makes the change.

  checkNewPost(input: unknown): void {
    if (isPlainObject(input)) this.#checkIsOwn(input.authorId);
  }

  checkOwner(record: Owned): void {
    this.#checkIsOwn(this.#collection === 'users' ? record.id : record.authorId);
  }

  /**
   * Prevents callers from giving a post to another author or taking one over. Looks at the input before its
   * fields are validated: an invalid field must not reveal whether the other author exists.
   */
  checkAuthor(current: Owned, input: unknown, mode: 'replace' | 'patch'): void {
    if (this.#collection === 'users' || !isPlainObject(input)) return;
    const { authorId = mode === 'patch' ? current.authorId : null } = input;
    if (authorId !== current.authorId) this.#require('write');
  }

  /** Hides whether a record exists from callers who are not allowed to read it. */
  checkMissing(id: Id): void {
    const canRead = this.#has('read') || this.#has('read:all') || this.#has('read:public');
    const isSelf = this.#collection === 'users' && this.#isOwn(id);
    if (!isSelf && !canRead && !this.#has('write')) throw this.#notOwn();
  }

  /** True if the caller is allowed to change every record, and posts without an author. */
  get canWriteAll(): boolean {
    return this.#has('write');
  }

  /** A caller without a subject owns no records, not even the posts without an author. */
  #isOwn(owner: unknown): boolean {
    return this.caller.subject !== null && owner === this.caller.subject;
  }

  #checkIsOwn(owner: unknown): void {
    if (!this.#isOwn(owner) && !this.#has('write')) throw this.#notOwn();
  }

  #notOwn(): RostrumError<'forbidden'> {
    return forbidden(`${this.#collection}:write`, 'not-own');
  }

  #has(right: Right): boolean {
    return this.caller.scopes.has(`${this.#collection}:${right}` as Scope);
  }

  #require(right: Right): void {
    if (!this.#has(right)) throw forbidden(`${this.#collection}:${right}` as Scope);
  }
}

/** True for at most 255 characters without control characters that are not `.` or `..` in a path, or {@link selfAlias}. */
export function isId(text: string): boolean {
  return text !== selfAlias && /^(?!\.{1,2}$)[^\p{Cc}\p{Surrogate}]{1,255}$/u.test(text);
}

/**
 * Returns the id of the caller's own user.
 *
 * @throws RostrumError `forbidden` if there is no subject, or if it can't be a user's id
 */
export function subjectOf(caller: Caller | undefined): Id {
  const subject = caller?.subject ?? null;
  if (subject === null) throw forbidden('users:write', 'no-subject');
  if (!isId(subject)) throw forbidden('users:write', 'no-id');
  return subject;
}

/** True if a caller is allowed to read this user, or all users, in full and not only in the public view. */
export function canReadInFull(caller: Caller | undefined, id?: Id): boolean {
  if (caller === undefined) return true;
  const { scopes, subject } = caller;
  return scopes.has('users:read') || (scopes.has('users:write:own') && id === subject);
}

/**
 * Returns the collections whose events a caller is allowed to see: users with `users:read`, posts with
 * `posts:read:all` or `posts:write`.
 */
export function visibleEventCollections(caller: Caller | undefined): ReadonlySet<Collection> {
  const visible = new Set<Collection>();
  if (canReadInFull(caller)) visible.add('users');
  if (caller === undefined || new Access(caller, 'posts').canSeeAll) visible.add('posts');
  return visible;
}

/**
 * Returns a pattern of origins that lets any web page do more than read what is public, by requests without
 * credentials. A browser never sends a key or a token on its own.
 *
 * @param anonymous the scopes of requests without credentials; if undefined, all of them without `hasCredentials`
 */
export function unsafeOrigin(
  origins: readonly string[],
  anonymous: readonly Scope[] | undefined,
  hasCredentials: boolean,
): string | undefined {
  const isPublic = (scope: Scope) => scope === 'posts:read' || scope === 'users:read:public';
  if (anonymous === undefined ? hasCredentials : anonymous.every(isPublic)) return undefined;
  return origins.find((origin) => origin.includes('*'));
}

/** Returns the default order of a caller's lists: by publication if the caller can see only public posts. */
export function defaultOrder(collection: Collection, caller: Caller | undefined): DefaultOrder {
  const seesAll = caller === undefined || new Access(caller, collection).canSeeAll;
  return seesAll ? newestFirst : lastPublishedFirst;
}

type Right = Scope extends `${Collection}:${infer R}` ? R : never;

/** Stands for the caller's subject in paths and filters, so no id is equal to it. */
export const selfAlias = 'me';

function forbidden(
  scope: Scope,
  reason?: 'not-own' | 'no-subject' | 'no-id',
): RostrumError<'forbidden'> {
  return new RostrumError('forbidden', reason === undefined ? { scope } : { scope, reason });
}
