import { RostrumError } from './errors.ts';
import { isPlainObject } from './json.ts';
import { checkOptions } from './options.ts';
import type { Id } from './record.ts';

/** What a caller may be allowed to do. `own` is the user that is itself, or the posts it wrote. */
export const scopes = [
  'users:read',
  'users:write',
  'users:write:own',
  'posts:read',
  'posts:write',
  'posts:write:own',
] as const;

export type Scope = (typeof scopes)[number];

/** Who asks. */
export interface Caller {
  /** What its idempotency keys belong to, and what logs name; never empty. */
  readonly name: string;
  /** The id of the user that the caller is; null for a caller that is no user, and owns nothing. */
  readonly subject: Id | null;
  readonly scopes: ReadonlySet<Scope>;
}

/** @throws TypeError for a value that is no caller: nothing must ever count as a yes */
export function checkCaller(caller: unknown): asserts caller is Caller {
  const {
    name,
    subject,
    scopes: given,
  } = checkOptions<Caller>(caller, ['name', 'subject', 'scopes'], 'caller');
  if (typeof name !== 'string' || name === '') {
    throw new TypeError('The name of a caller must be a text that is not empty.');
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

/** What has an owner: a user is its own, a post is its author's. */
interface Owned {
  readonly id: Id;
  readonly authorId?: unknown;
}

/** What one caller may do with users, or with posts: pure checks that throw `forbidden`. */
export class Access {
  readonly caller: Caller;
  readonly #resource: 'users' | 'posts';

  /** @param caller checked by {@link checkCaller} */
  constructor(caller: Caller, resource: 'users' | 'posts') {
    this.caller = caller;
    this.#resource = resource;
  }

  // The scope is judged before anything is read, so that existence is not told.

  checkRead(): void {
    this.#require('read');
  }

  /** A new user is nobody's own. */
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

  /** An owner is neither given away nor taken. */
  checkResult(current: Owned, next: Owned): void {
    if (this.#ownerOf(current) !== this.#ownerOf(next)) this.#require('write');
  }

  #ownerOf(record: Owned): unknown {
    return this.#resource === 'users' ? record.id : record.authorId;
  }

  /** Null owns nothing: not the posts without an author either. */
  #checkOwner(owner: unknown): void {
    const { subject } = this.caller;
    if (subject === null || owner !== subject) this.#require('write');
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
