import {
  postListParameters,
  userListParameters,
} from '../../../../../src/adapters/http/lists/parameters.ts';
import { sorts as listSorts } from '../../../../../src/domain/lists/search.ts';
import type { Random } from '../../../../fuzz/random.ts';
import { at, sizes } from './paired-servers.ts';

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: object;
}

const custom = { users: ['city', 'secret', 'score'], posts: ['slug'] } as const;
const sorts = { users: Object.keys(listSorts.users), posts: Object.keys(listSorts.posts) };
const parameters = { users: userListParameters(), posts: postListParameters() } as const;

type Collection = 'users' | 'posts';

/** Generates random requests, mostly valid, about half of them for hidden records. */
export class Requests {
  readonly #random: Random;
  readonly #cursors: string[] = [];
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Remembers a cursor from a response for later requests. */
  keep(cursor: unknown): void {
    if (typeof cursor === 'string') this.#cursors.push(cursor);
  }

  next(): Sent {
    const { pick, chance } = this.#random;
    const headers = { 'X-Request-Id': `r-${++this.#count}`, ...this.#conditions() };
    const collection = pick<Collection>(['users', 'posts']);
    if (chance(0.5))
      return { method: pick(['GET', 'GET', 'HEAD']), path: this.#list(collection), headers };
    const one = `/${collection}/${chance(0.15) ? 'me' : this.#idOf(collection)}`;
    if (chance(0.5)) return { method: pick(['GET', 'GET', 'HEAD']), path: one, headers };
    const method = pick(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
    const path =
      method === 'POST' ? `/${collection}` : method === 'PUT' && chance(0.3) ? '/users/me' : one;
    if (method === 'OPTIONS') return { method, path, headers };
    if (method === 'DELETE') {
      const query = chance(0.5) ? `?posts=${pick(['delete', 'keep'])}` : '';
      // Keep the caller's own user and its posts: without them, most requests would be trivial.
      const isSelf = path === '/users/me' || path === '/users/u-3';
      return { method, path: path + (collection === 'users' && !isSelf ? query : ''), headers };
    }
    const key: Record<string, string> = chance(0.3)
      ? { 'Idempotency-Key': `k-${this.#random.int(5)}` }
      : {};
    return { method, path, headers: { ...headers, ...key }, body: this.#body(path) };
  }

  #idOf(collection: Collection): string {
    const { int, pick } = this.#random;
    if (collection === 'users') return `u-${int(sizes.users + 1)}`;
    return pick([`p-${int(sizes.posts)}`, `d-${int(14)}`, `new-${1 + int(20)}`]);
  }

  #conditions(): Record<string, string> {
    const { chance, pick } = this.#random;
    const tags = ['"1"', '"2"', '"1-public"', 'W/"1"', '*', '"1", "3"', '1'];
    return {
      ...(chance(0.2) && { 'If-Match': pick(tags) }),
      ...(chance(0.2) && { 'If-None-Match': pick(tags) }),
      ...(chance(0.1) && { Prefer: 'return=minimal' }),
    };
  }

  #list(collection: Collection): string {
    const { chance, pick, int } = this.#random;
    const query = new URLSearchParams();
    const names = [...parameters[collection].map(({ name }) => name), ...custom[collection]];
    for (let n = int(4); n > 0; n--) {
      const name = chance(0.02) ? pick(['status', 'filter', 'q', 'state']) : pick(names);
      if (!query.has(name)) query.set(name, this.#valueOf(name, collection));
    }
    if (chance(0.5)) query.set('count', 'exact');
    if (chance(0.5)) query.set('limit', String(1 + int(6)));
    return `/${collection}?${query}`;
  }

  #valueOf(name: string, collection: Collection): string {
    const { chance, pick, int } = this.#random;
    const time = () => at(int(1200) - 600);
    switch (name) {
      case 'limit':
        return String(1 + int(6));
      case 'cursor':
        return this.#cursors.length === 0 ? 'x' : pick(this.#cursors);
      case 'count':
        return 'exact';
      case 'sort':
        return `${chance(0.5) ? '-' : ''}${pick<string>(sorts[collection])}`;
      case 'fields':
        return pick(['email', 'name,email', 'id', 'updatedAt,secret', 'title,publishedAt', 'city']);
      case 'id':
        return this.#idOf(collection);
      case 'authorId':
        return pick(['me', '', this.#idOf('users')]);
      case 'email':
        return `${int(sizes.users)}.${pick(['a', 'b'])}@x.org`;
      case 'email[startsWith]':
        return pick(['', String(int(10)), 'SELF']);
      case 'name':
        return `Name ${int(6)}`;
      case 'title':
        return `Title ${int(8)}`;
      case 'name[startsWith]':
      case 'title[startsWith]':
        return pick(['n', 'Name 1', 'TITLE', 'title 2', 'x']);
      case 'publishedAt':
        return 'null';
      case 'include':
        return 'author';
      case 'city':
        return pick(['Bonn', 'Ulm', 'Rom']);
      case 'secret':
        return pick(['red', 'blue', 'own']);
      case 'score':
        return pick([String(int(12)), 'x']);
      case 'slug':
        return `slug-${int(4)}`;
      case 'status':
        return 'draft';
      default:
        return name.endsWith(']') ? pick([time(), at(1e9)]) : 'draft';
    }
  }

  #body(path: string): object {
    const { chance, pick, int } = this.#random;
    if (path.startsWith('/users')) {
      // No addresses that are taken on one server only: docs/security.md documents that this is visible.
      const email = chance(0.3) && { email: pick([null, 'self@x.org', `fresh-${int(9)}@x.org`]) };
      return { ...(chance(0.9) && { name: `Name ${int(5)}` }), ...email };
    }
    return {
      ...(chance(0.9) && { title: pick(['Title 1', `Title ${int(7)}`, '']) }),
      ...(chance(0.5) && { authorId: pick([null, 'u-3', this.#idOf('users'), 'nobody']) }),
      ...(chance(0.3) && { publishedAt: pick([null, at(int(100)), at(1e9), 'soon']) }),
    };
  }
}
