import type { Caller, Scope } from './caller.ts';
import { RostrumError } from './errors.ts';
import { addMs, type Instant } from './instant.ts';
import { isPlainObject } from './json.ts';
import { isPublic, type Post } from './post.ts';
import type { Collection, Id } from './record.ts';
import {
  type DefaultOrder,
  type EntityFilter,
  lastPublishedFirst,
  newestFirst,
  type PostFilter,
  type TimeSpan,
} from './search.ts';

/** What has an owner: a user is its own, a post is its author's. */
interface Owned {
  readonly id: Id;
  readonly authorId?: unknown;
}

/** What one caller may do with users, or with posts: pure checks that throw `forbidden`. */
export class Access {
  readonly caller: Caller;
  readonly #resource: Collection;

  /** @param caller checked by {@link toCaller} */
  constructor(caller: Caller, resource: Collection) {
    this.caller = caller;
    this.#resource = resource;
  }

  // The scope is judged before anything is read, so that existence is not told.

  /** @param id of the one record that is read; absent for a list */
  checkRead(id?: Id): void {
    if (this.#resource === 'posts' && this.#has('read:all')) return;
    if (id === undefined || !this.#isItself(id)) this.#require('read');
  }

  /** To read users in the public view. */
  checkReadPublic(): void {
    if (!this.#has('read')) this.#require('read:public');
  }

  /** A new user has no owner yet. */
  checkCreate(): void {
    if (this.#resource === 'users') this.#require('write');
    else this.checkWrite();
  }

  checkWrite(): void {
    if (!this.#has('write:own')) this.#require('write');
  }

  /** The deletion or change of all posts of a user, with the user. */
  checkPostsOf(id: Id): void {
    const { scopes: given, subject } = this.caller;
    if (given.has('posts:write') || (given.has('posts:write:own') && id === subject)) return;
    throw forbidden('posts:write');
  }

  /** Whether a caller may be told how many posts a user has, those that are not public among them. */
  mayCountPostsOf(id: Id): boolean {
    const { scopes: given, subject } = this.caller;
    if (given.has('posts:read:all')) return true;
    return given.has('posts:read') && (given.has('posts:write') || id === subject);
  }

  // Posts that a caller is not allowed to see do not exist for that caller.

  /** True if this caller can see every record. Users are never hidden; other people's drafts are. */
  get canSeeAll(): boolean {
    return this.#resource === 'users' || this.#has('read:all') || this.#has('write');
  }

  canSee(record: Owned & Partial<Pick<Post, 'publishedAt'>>, now: Instant): boolean {
    return (
      this.canSeeAll ||
      this.#isOwn(record.authorId) ||
      isPublic({ publishedAt: null, ...record }, now)
    );
  }

  /** Narrows a filter to what this caller can see: all of its own posts, and other people's public ones. */
  visible<Filter extends EntityFilter>(
    filter: Filter & Pick<PostFilter, 'authorId' | 'publishedAt'>,
    now: Instant,
  ): Filter {
    if (this.canSeeAll || this.#isOwn(filter.authorId)) return filter;
    const { publishedAt = {} } = filter;
    if (publishedAt === null) return { ...filter, publishedAt: undefined, ids: [] };
    return { ...filter, publishedAt: untilNow(publishedAt, now) };
  }

  // Ownership is judged inside the step that makes the change.

  /** The input of a new post, with its caller for its author when it names none. */
  withAuthor(input: unknown): unknown {
    const { subject } = this.caller;
    const isOpen = isPlainObject(input) && input.authorId === undefined && subject !== null;
    return this.#resource === 'posts' && isOpen ? { ...input, authorId: subject } : input;
  }

  checkInput(input: unknown): void {
    if (this.#resource === 'posts' && isPlainObject(input)) this.#checkOwner(input.authorId);
  }

  checkChange(current: Owned): void {
    this.#checkOwner(this.#ownerOf(current));
  }

  /**
   * An author is neither given away nor taken. Judged by the input alone, before its fields: what is
   * wrong with them must not tell whether the other author exists.
   */
  checkAuthor(current: Owned, input: unknown, way: 'replace' | 'patch'): void {
    if (this.#resource === 'users' || !isPlainObject(input)) return;
    const { authorId = way === 'patch' ? current.authorId : null } = input;
    if (authorId !== current.authorId) this.#require('write');
  }

  /** A record that is not there is as one of another owner, to a caller that may not read it. */
  checkMissing(id: Id): void {
    const mayRead = this.#has('read') || this.#has('read:all') || this.#has('read:public');
    const isItself = this.#resource === 'users' && id === this.caller.subject;
    if (!isItself && !mayRead && !this.#has('write')) throw this.#notOwn();
  }

  isAuthorOf(post: object): boolean {
    return 'authorId' in post && this.#isOwn(post.authorId);
  }

  /** True where a post may do without the author that {@link withAuthor} gave it. */
  get mayHaveNoAuthor(): boolean {
    return this.#has('write');
  }

  /** Whether this is the user that the caller is, and may change. */
  #isItself(id: Id): boolean {
    return this.#resource === 'users' && this.#isOwn(id) && this.#has('write:own');
  }

  #ownerOf(record: Owned): unknown {
    return this.#resource === 'users' ? record.id : record.authorId;
  }

  /** Null owns nothing: not the posts without an author either. */
  #isOwn(owner: unknown): boolean {
    return this.caller.subject !== null && owner === this.caller.subject;
  }

  #checkOwner(owner: unknown): void {
    if (!this.#isOwn(owner) && !this.#has('write')) throw this.#notOwn();
  }

  #notOwn(): RostrumError<'forbidden'> {
    return forbidden(`${this.#resource}:write`, 'not-own');
  }

  #has(right: Right): boolean {
    return this.caller.scopes.has(`${this.#resource}:${right}` as Scope);
  }

  #require(right: Right): void {
    if (!this.#has(right)) throw forbidden(`${this.#resource}:${right}` as Scope);
  }
}

/** Whether a subject can be a user's id. */
export function isSubject(text: string): boolean {
  return subjectPattern.test(text);
}

/**
 * The id of the user that a caller is.
 *
 * @throws RostrumError `forbidden` where it is none, or where its subject can be no user's id
 */
export function subjectOf(caller: Caller | undefined): Id {
  const subject = caller?.subject ?? null;
  if (subject === null) throw forbidden('users:write', 'no-subject');
  if (!isSubject(subject)) throw forbidden('users:write', 'no-id');
  return subject;
}

/** Whether a caller reads this user, or all users, whole: if it may, and not in the public view. */
export function readsWhole(caller: Caller | undefined, id?: Id): boolean {
  if (caller === undefined) return true;
  const { scopes: given, subject } = caller;
  return given.has('users:read') || (given.has('users:write:own') && id === subject);
}

/** The collections whose events a caller may see: those that it may read whole. */
export function eventsSeen(caller: Caller | undefined): ReadonlySet<Collection> {
  const seen = new Set<Collection>();
  if (caller === undefined || caller.scopes.has('users:read')) seen.add('users');
  const mayReadPosts = caller?.scopes.has('posts:read:all') || caller?.scopes.has('posts:write');
  if (caller === undefined || mayReadPosts) seen.add('posts');
  return seen;
}

/** The order of a caller's lists when it says none: who sees public posts only has the last published first. */
export function defaultOrder(collection: Collection, caller: Caller | undefined): DefaultOrder {
  const seesAll = caller === undefined || new Access(caller, collection).canSeeAll;
  return seesAll ? newestFirst : lastPublishedFirst;
}

type Right = Scope extends `${Collection}:${infer R}` ? R : never;

/** What stands for the caller's subject, in a path and as an author; so it is no id. */
export const itself = 'me';

/** What can be a user's id: no control character in it, not {@link itself}, and no dots of a path. */
const subjectPattern = /^(?!(?:me|\.{1,2})$)[^\p{Cc}\p{Surrogate}]{1,255}$/u;

/** The part of a span that is not in the future. */
function untilNow({ from, before }: TimeSpan, now: Instant): TimeSpan {
  const behind = addMs(now, 1);
  return { from, before: before === undefined || before > behind ? behind : before };
}

function forbidden(
  scope: Scope,
  reason?: 'not-own' | 'no-subject' | 'no-id',
): RostrumError<'forbidden'> {
  return new RostrumError('forbidden', reason === undefined ? { scope } : { scope, reason });
}
