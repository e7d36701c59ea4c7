/** A client of Rostrum's HTTP API over `fetch`: for browsers, workers, Node and others. */

import { type Events, eventsBy } from './events.ts';
import { isApiProblem, problemOf } from './problem.ts';
import { type FieldOf, type Picked, type PostQuery, searchOf, type UserQuery } from './query.ts';
import type {
  CustomFieldsInput,
  Id,
  JsonObject,
  Post,
  PostInput,
  PostPatch,
  PublicUser,
  User,
  UserInput,
  UserPatch,
  Version,
} from './records.ts';
import {
  type ApiRequest,
  type ApiResponse,
  type CallOptions,
  createTransport,
  type Send,
  type TransportOptions,
  versionOf,
} from './transport.ts';

export type { EventPage, EventQuery, Events, RecordEvent } from './events.ts';
export {
  type AnyApiProblem,
  type ApiCode,
  ApiProblem,
  isApiProblem,
  type ProblemDetails,
  type ProblemEntry,
} from './problem.ts';
export type { Beginning, FieldOf, Picked, PostQuery, TimeBounds, UserQuery } from './query.ts';
export type {
  Id,
  Json,
  JsonObject,
  Outcome,
  Post,
  PostInput,
  PostPatch,
  PublicUser,
  User,
  UserInput,
  UserPatch,
  Version,
} from './records.ts';
export type { CallOptions, RetryOptions, TransportOptions } from './transport.ts';

/** A record, and the version that it is at. */
export interface Versioned<R> {
  readonly record: R;
  readonly version: Version;
  /** The response's entity tag (RFC 9110, section 8.8.3). */
  readonly etag: string;
}

export interface Created<R> extends Versioned<R> {
  /** True when the key's first request had made the record already. */
  readonly replayed: boolean;
}

export interface Saved<R> extends Versioned<R> {
  /** True when the call has made the record, and not replaced it. */
  readonly created: boolean;
}

export interface ListPage<R> {
  readonly items: readonly R[];
  /** The `cursor` of the page behind; null on the last one. */
  readonly next: string | null;
  /** With `count: 'exact'`: how many records the filter matches. */
  readonly total?: number;
}

export interface PageWithAuthors<R, Author = PublicUser> extends ListPage<R> {
  /** The authors of its posts, each once; one who was just deleted is missing. */
  readonly users: readonly Author[];
}

export interface CreateOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters; a random one when absent. */
  readonly idempotencyKey?: string | undefined;
}

export interface ChangeOptions extends CallOptions {
  /** The version that the record must be at, its entity tag, or `*`. */
  readonly ifMatch?: Version | string | undefined;
}

export interface DeleteUserOptions extends ChangeOptions {
  /** What becomes of the user's posts; a user who has some is not deleted when absent. */
  readonly posts?: 'delete' | 'keep' | undefined;
}

/**
 * The records of one resource. Every call rejects with an {@link ApiProblem}, or with the reason
 * of its signal. An argument that cannot be sent is a TypeError, and nothing is sent. What the
 * program's own functions throw, such as `token`, is passed on as it is.
 */
export interface Resource<R, Input, Patch, Query, Deletion = ChangeOptions> {
  /** Makes one record, however often the request has to be repeated. */
  create(input: Input, options?: CreateOptions): Promise<Created<R>>;
  get(id: Id, options?: CallOptions): Promise<Versioned<R>>;
  /**
   * One page. It may end before `limit`: only `next` tells whether more follow. With `fields`, its
   * records have their id and these fields, as far as they have them.
   */
  list<F extends FieldOf<R> = FieldOf<R>>(
    query?: Query & { readonly fields?: readonly F[] | undefined },
    options?: CallOptions,
  ): Promise<ListPage<Picked<R, F>>>;
  /** All records of a list, page by page; what `limit` sets is the size of a page. */
  all<F extends FieldOf<R> = FieldOf<R>>(
    query?: Query & { readonly fields?: readonly F[] | undefined },
    options?: CallOptions,
  ): AsyncGenerator<Picked<R, F>, void, undefined>;
  /** Replaces the whole record: fields that are left out are gone. */
  replace(id: Id, input: Input, options?: ChangeOptions): Promise<Versioned<R>>;
  /** Changes the fields that are supplied (RFC 7396): null removes one, objects merge. */
  patch(id: Id, patch: Patch, options?: ChangeOptions): Promise<Versioned<R>>;
  /**
   * Reads, changes and replaces a record, again when somebody else changed it meanwhile.
   *
   * @param change makes the whole new record; it may run several times
   */
  update(id: Id, change: (record: R) => Input, options?: CallOptions): Promise<Versioned<R>>;
  delete(id: Id, options?: Deletion): Promise<void>;
}

/** The lists of posts that come with their authors, at most 100 posts a page. */
export interface WithAuthors<R, Query, Author> {
  list<F extends FieldOf<R> = FieldOf<R>>(
    query: Query & { readonly include: 'author'; readonly fields?: readonly F[] | undefined },
    options?: CallOptions,
  ): Promise<PageWithAuthors<Picked<R, F | 'authorId'>, Author>>;
}

/** The user that the caller is: the one whose id is the subject of its credentials. */
export interface Me<R, Input, Patch> {
  get(options?: CallOptions): Promise<Versioned<R>>;
  /** Replaces the whole record, or makes it. A deleted user is not made again: `id-taken`. */
  save(input: Input, options?: ChangeOptions): Promise<Saved<R>>;
  patch(patch: Patch, options?: ChangeOptions): Promise<Versioned<R>>;
  delete(options?: DeleteUserOptions): Promise<void>;
}

/** The whole API. The type parameters are custom fields: as they are read, and as they are given. */
export interface Client<
  UserOwn extends object = JsonObject,
  PostOwn extends object = JsonObject,
  UserOwnInput extends object = InputOf<UserOwn>,
  PostOwnInput extends object = InputOf<PostOwn>,
> {
  /** Where the API is, as it was given. */
  readonly url: string;
  readonly me: Me<User<UserOwn>, UserInput<UserOwnInput>, UserPatch<UserOwnInput>>;
  readonly users: Resource<
    User<UserOwn>,
    UserInput<UserOwnInput>,
    UserPatch<UserOwnInput>,
    UserQuery<UserOwn>,
    DeleteUserOptions
  >;
  readonly posts: WithAuthors<Post<PostOwn>, PostQuery<PostOwn>, PublicUser<UserOwn>> &
    Resource<Post<PostOwn>, PostInput<PostOwnInput>, PostPatch<PostOwnInput>, PostQuery<PostOwn>>;
  readonly events: Events;
}

/** Custom fields of no known type are given as any JSON. */
type InputOf<Own extends object> = JsonObject extends Own ? CustomFieldsInput : Own;

/**
 * Makes a client. Nothing is sent before its first call.
 *
 * The types of custom fields are what the program says; the server's schema is what checks them.
 */
export function createClient<
  UserOwn extends object = JsonObject,
  PostOwn extends object = JsonObject,
  UserOwnInput extends object = InputOf<UserOwn>,
  PostOwnInput extends object = InputOf<PostOwn>,
>(options: TransportOptions): Client<UserOwn, PostOwn, UserOwnInput, PostOwnInput> {
  const send = createTransport(options);
  const users: Client<UserOwn, PostOwn, UserOwnInput>['users'] = resource(send, 'users');
  const me: Client<UserOwn, PostOwn, UserOwnInput>['me'] = {
    get: (options) => users.get('me', options),
    async save(body, { ifMatch, signal } = {}) {
      const headers = preconditionOf(ifMatch);
      const response = await send({ method: 'PUT', path: '/users/me', body, headers, signal });
      return { ...versioned<User<UserOwn>>(response), created: response.status === 201 };
    },
    patch: (patch, options) => users.patch('me', patch, options),
    delete: (options) => users.delete('me', options),
  };
  return {
    url: options.url,
    me,
    users,
    posts: resource(send, 'posts'),
    events: eventsBy(send, options.timeoutMs),
  };
}

/** How often `update` starts from the record as somebody else has just left it. */
const maxUpdates = 10;

function resource<R, Input extends object, Patch extends object, Query extends object>(
  send: Send,
  plural: 'users' | 'posts',
): WithAuthors<R, Query, never> & Resource<R, Input, Patch, Query, DeleteUserOptions> {
  function pathOf(id: Id): string {
    try {
      return `/${plural}/${encodeURIComponent(id)}`;
    } catch (cause) {
      throw new TypeError('The id is not well-formed Unicode.', { cause });
    }
  }

  async function change(
    method: ApiRequest['method'],
    id: Id,
    body: object,
    { ifMatch, signal }: ChangeOptions = {},
  ): Promise<Versioned<R>> {
    const headers = preconditionOf(ifMatch);
    return versioned(await send({ method, path: pathOf(id), body, headers, signal }));
  }

  // What the items are, a caller knows by the fields that it asked for.
  async function list(
    query?: object,
    { signal }: CallOptions = {},
  ): Promise<PageWithAuthors<never, never>> {
    const { id, count, include }: Record<string, unknown> = { ...query };
    const path = `/${plural}${searchOf(query ?? {})}`;
    // A query cannot say "none of these": without an id it would ask for every record.
    const isNone = Array.isArray(id) && id.length === 0;
    const none = { [plural]: [], next: null, ...(count === 'exact' && { total: 0 }) };
    const body: object = isNone ? none : (await send({ method: 'GET', path, signal })).body;
    const authors = include === 'author' && { users: [] };
    const { [plural]: items, ...others }: Record<string, unknown> = { ...authors, ...body };
    if (!Array.isArray(items) || (typeof others.next !== 'string' && others.next !== null)) {
      throw problemOf('unexpected-response', 200, 'The response is not a list of the API.');
    }
    return { items, ...others } as unknown as PageWithAuthors<never, never>;
  }

  async function* all(
    query?: object,
    options?: CallOptions,
  ): AsyncGenerator<never, void, undefined> {
    let page: ListPage<never> | undefined;
    do {
      page = await list({ ...query, ...(page && { cursor: page.next }) }, options);
      yield* page.items;
    } while (page.next !== null);
  }

  const self: ReturnType<typeof resource<R, Input, Patch, Query>> = {
    async create(body, { idempotencyKey = randomKey(), signal } = {}) {
      const headers = { 'Idempotency-Key': idempotencyKey };
      const response = await send({ method: 'POST', path: `/${plural}`, body, headers, signal });
      const replayed = response.headers.get('Idempotency-Replayed') === 'true';
      return { ...versioned<R>(response), replayed };
    },

    async get(id, { signal } = {}) {
      return versioned(await send({ method: 'GET', path: pathOf(id), signal }));
    },

    list,
    all,
    replace: (id, input, options) => change('PUT', id, input, options),
    patch: (id, patch, options) => change('PATCH', id, patch, options),

    async update(id, makeInput, options) {
      for (let number = 1; ; number++) {
        const { record, version, etag } = await self.get(id, options);
        if (versionOf(etag) === undefined) {
          const detail = 'The response has no ETag that names a version.';
          throw problemOf('unexpected-response', 200, detail);
        }
        if (etag.endsWith('-public"')) {
          throw problemOf(
            'forbidden',
            403,
            'Only the public view was read: the rest would be lost.',
          );
        }
        const input = makeInput(record);
        try {
          return await self.replace(id, input, { ...options, ifMatch: version });
        } catch (error) {
          // Where an earlier try may have made this very change, it must not be made again.
          const missed = isApiProblem(error, 'version-mismatch') && error.outcome === 'none';
          if (!missed || number === maxUpdates) throw error;
        }
      }
    },

    async delete(id, { posts, ifMatch, signal } = {}) {
      const headers = preconditionOf(ifMatch);
      const path = `${pathOf(id)}${searchOf({ posts })}`;
      await send({ method: 'DELETE', path, headers, signal });
    },
  };
  return self;
}

function versioned<R>({ body, headers }: ApiResponse): Versioned<R> {
  const etag = headers.get('ETag') ?? '';
  return { record: body as R, version: versionOf(etag) ?? 0, etag };
}

function preconditionOf(ifMatch: Version | string | undefined): Readonly<Record<string, string>> {
  if (ifMatch === undefined) return {};
  return { 'If-Match': typeof ifMatch === 'number' ? `"${ifMatch}"` : ifMatch };
}

/** 128 random bits; `crypto.randomUUID` exists in secure contexts alone. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
