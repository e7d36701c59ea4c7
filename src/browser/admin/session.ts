import { createClient, type Events, type ListPage, type Versioned } from 'rostrum-client';

export type Kind = 'users' | 'posts';

export interface Item {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** The client's resource, with any field and any filter: a form has what the schema says. */
export interface Resource {
  create(input: object, options: { idempotencyKey: string }): Promise<Versioned<Item>>;
  get(id: string): Promise<Versioned<Item>>;
  list(query: object, options?: { signal?: AbortSignal }): Promise<ListPage<Item>>;
  replace(id: string, input: object, options: { ifMatch: number }): Promise<Versioned<Item>>;
  delete(id: string, options: object): Promise<void>;
}

interface Caller {
  /** Null for a request without credentials. */
  readonly name: string | null;
  readonly subject: string | null;
  readonly scopes: readonly string[];
  /** Whether the server knows credentials at all. */
  readonly asks: boolean;
}

const { api = '', site = '' } = document.documentElement.dataset;
const storage = 'rostrum.token';

export const description = `${site}/openapi.json`;

/** Kept for the tab alone. */
export function keep(token: string): void {
  if (token === '') sessionStorage.removeItem(storage);
  else sessionStorage.setItem(storage, token);
}

/** As whom this tab asks, and what that allows: what it does not allow is not offered. */
export class Session {
  readonly caller: Caller;
  readonly users: Resource;
  readonly posts: Resource;
  readonly events: Events;
  readonly #scopes: ReadonlySet<string>;

  /** @throws a sentence where the server does not know the credentials */
  static async open(): Promise<Session> {
    const token = sessionStorage.getItem(storage) ?? '';
    const headers = new Headers({ Accept: 'application/json' });
    try {
      if (token !== '') headers.set('Authorization', `Bearer ${token}`);
    } catch {
      throw new Error('A key has letters, digits and signs of ASCII alone.');
    }
    const response = await fetch(`${site}/admin/caller`, { headers, cache: 'no-store' });
    const body = await response.json();
    if (!response.ok) throw new Error(response.status === 401 && token === '' ? '' : body.error);
    return new Session(body, token);
  }

  private constructor(caller: Caller, token: string) {
    this.caller = caller;
    this.#scopes = new Set(caller.scopes);
    const { users, posts, events } = createClient({ url: api, ...(token !== '' && { token }) });
    this.users = users as unknown as Resource;
    this.posts = posts as unknown as Resource;
    this.events = events;
  }

  /** Whether it may list the records at all. */
  reads(kind: Kind): boolean {
    const ways = kind === 'users' ? ['read', 'read:public'] : ['read', 'read:all'];
    return ways.some((way) => this.#scopes.has(`${kind}:${way}`));
  }

  /** Users may be seen in their public view alone: it cannot be sorted, found or saved by the rest. */
  get seesWhole(): boolean {
    return this.#scopes.has('users:read');
  }

  get seesDrafts(): boolean {
    return this.#scopes.has('posts:read:all') || this.#scopes.has('posts:write');
  }

  /** Whether it sees drafts, but its own alone: a list of all posts has none of them. */
  get hasOwnDrafts(): boolean {
    return this.reads('posts') && !this.seesDrafts && this.caller.subject !== null;
  }

  creates(kind: Kind): boolean {
    if (this.#scopes.has(`${kind}:write`)) return true;
    return kind === 'posts' && this.#scopes.has('posts:write:own') && this.caller.subject !== null;
  }

  changes(kind: Kind, item: Item): boolean {
    const owner = kind === 'users' ? item.id : item.authorId;
    const isOwn = this.caller.subject !== null && owner === this.caller.subject;
    if (isOwn && this.#scopes.has(`${kind}:write:own`)) return true;
    return this.#scopes.has(`${kind}:write`) && (kind === 'posts' || this.seesWhole);
  }

  /** Whether it may delete the posts of a user, or take their author away. */
  changesPostsOf(id: string): boolean {
    if (this.#scopes.has('posts:write')) return true;
    return this.#scopes.has('posts:write:own') && id === this.caller.subject;
  }

  /** Whether it may choose another author than itself. */
  get choosesAuthors(): boolean {
    return this.#scopes.has('posts:write');
  }

  get ownUser(): string | null {
    const { subject } = this.caller;
    return this.#scopes.has('users:write:own') || this.reads('users') ? subject : null;
  }
}
