import type { Caller, Scope } from './caller.ts';
import { RostrumError } from './errors.ts';
import { isPlainObject } from './json.ts';
import type { Collection, Id } from './record.ts';

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

  checkRead(): void {
    this.#require('read');
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
    const isItself = this.#resource === 'users' && id === this.caller.subject;
    if (!isItself && !this.#has('read') && !this.#has('write')) throw this.#notOwn();
  }

  /** True where a post may do without the author that {@link withAuthor} gave it. */
  get mayHaveNoAuthor(): boolean {
    return this.#has('write');
  }

  #ownerOf(record: Owned): unknown {
    return this.#resource === 'users' ? record.id : record.authorId;
  }

  /** Null owns nothing: not the posts without an author either. */
  #checkOwner(owner: unknown): void {
    const { subject } = this.caller;
    if ((subject === null || owner !== subject) && !this.#has('write')) throw this.#notOwn();
  }

  #notOwn(): RostrumError<'forbidden'> {
    return new RostrumError('forbidden', { scope: `${this.#resource}:write`, isNotOwn: true });
  }

  #has(right: 'read' | 'write' | 'write:own'): boolean {
    return this.caller.scopes.has(`${this.#resource}:${right}` as Scope);
  }

  #require(right: 'read' | 'write'): void {
    if (!this.#has(right)) throw forbidden(`${this.#resource}:${right}`);
  }
}

function forbidden(scope: Scope): RostrumError<'forbidden'> {
  return new RostrumError('forbidden', { scope });
}
