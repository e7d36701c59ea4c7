/** A client for Rostrum's HTTP API. It needs nothing but `fetch`: browsers, workers and Node have it. */

import { type Events, eventsBy } from './events.ts';
import { batchesOf, listBatches } from './id-batches.ts';
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
export type {
  Bounds,
  FieldOf,
  Picked,
  PostQuery,
  StartsWith,
  TimeBounds,
  UserQuery,
} from './query.ts';
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

/** A record and its version. */
export interface Versioned<R> {
  readonly record: R;
  readonly version: Version;
  /** The response's entity tag (RFC 9110, section 8.8.3). */
  readonly etag: string;
}

export interface Created<R> extends Versioned<R> {
  /** True if an earlier request with the same idempotency key created the record. */
  readonly replayed: boolean;
}

export interface Saved<R> extends Versioned<R> {
  /** True if the call created the record, false if it replaced it. */
  readonly created: boolean;
}

export interface ListPage<R> {
  readonly items: readonly R[];
  /** The `cursor` of the next page; null on the last page. */
  readonly next: string | null;
  /** The number of records that match the filter; only with `count: 'exact'`. */
  readonly total?: number;
}

export interface PageWithAuthors<R, Author = PublicUser> extends ListPage<R> {
  /** The authors of the page's posts, each once. An author who was just deleted is missing. */
  readonly users: readonly Author[];
}

export interface CreateOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters; a random key by default. */
  readonly idempotencyKey?: string | undefined;
}

export interface ChangeOptions extends CallOptions {
  /** The version or ETag that the record must have, or `*` for any. */
  readonly ifMatch?: Version | string | undefined;
}

export interface SaveOptions extends ChangeOptions {
  /** `*` only creates: if the record exists, the call rejects with `version-mismatch`. */
  readonly ifNoneMatch?: '*' | undefined;
}

export interface DeleteUserOptions extends ChangeOptions {
  /** What to do with the user's posts. By default, a user who has posts is not deleted. */
  readonly posts?: 'delete' | 'keep' | undefined;
}

/**
 * The users or the posts. Calls reject with an {@link ApiProblem}, or with the reason of an aborted
 * signal. An argument that cannot be sent is a TypeError, and no request is made. Errors thrown by
 * your own functions, such as `token`, are passed through.
 */
export interface Resource<R, Input, Patch, Query, Deletion = ChangeOptions> {
  /** Creates one record, even if the request has to be retried. */
  create(input: Input, options?: CreateOptions): Promise<Created<R>>;
  get(id: Id, options?: CallOptions): Promise<Versioned<R>>;
  /**
   * Reads one page. A page can have fewer records than `limit`: only `next` tells if there are more.
   * With `fields`, records have only their id and these fields.
   */
  list<F extends FieldOf<R> = FieldOf<R>>(
    query?: Query & { readonly fields?: readonly F[] | undefined },
    options?: CallOptions,
  ): Promise<ListPage<Picked<R, F>>>;
  /** Iterates over all pages of a list; `limit` is the size of a page. */
  all<F extends FieldOf<R> = FieldOf<R>>(
    query?: Query & { readonly fields?: readonly F[] | undefined },
    options?: CallOptions,
  ): AsyncGenerator<Picked<R, F>, void, undefined>;
  /** Replaces the whole record. Fields that are not in `input` are removed. */
  replace(id: Id, input: Input, options?: ChangeOptions): Promise<Versioned<R>>;
  /** Changes the given fields (RFC 7396): null removes a field, objects merge. */
  patch(id: Id, patch: Patch, options?: ChangeOptions): Promise<Versioned<R>>;
  /**
   * Reads a record, changes and replaces it. Starts again if someone else changed it in between.
   *
   * @param change returns the whole new record; it can run several times
   */
  update(id: Id, change: (record: R) => Input, options?: CallOptions): Promise<Versioned<R>>;
  delete(id: Id, options?: Deletion): Promise<void>;
}

/** Lists of posts with their authors. They have at most 100 posts on a page. */
export interface WithAuthors<R, Query, Author> {
  list<F extends FieldOf<R> = FieldOf<R>>(
    query: Query & { readonly include: 'author'; readonly fields?: readonly F[] | undefined },
    options?: CallOptions,
  ): Promise<PageWithAuthors<Picked<R, F | 'authorId'>, Author>>;
}

/** The caller's own user, whose id is the subject of the caller's credentials. */
export interface Me<R, Input, Patch> {
  get(options?: CallOptions): Promise<Versioned<R>>;
  /** Replaces the whole record, or creates it: also after it was deleted. */
  save(input: Input, options?: SaveOptions): Promise<Saved<R>>;
  patch(patch: Patch, options?: ChangeOptions): Promise<Versioned<R>>;
  delete(options?: DeleteUserOptions): Promise<void>;
}

/** The whole API. The type parameters are the custom fields of records and of inputs. */
export interface Client<
  UserCustom extends object = JsonObject,
  PostCustom extends object = JsonObject,
  UserCustomInput extends object = InputOf<UserCustom>,
  PostCustomInput extends object = InputOf<PostCustom>,
> {
  /** The API's URL, as passed to `createClient`. */
  readonly url: string;
  readonly me: Me<User<UserCustom>, UserInput<UserCustomInput>, UserPatch<UserCustomInput>>;
  readonly users: Resource<
    User<UserCustom>,
    UserInput<UserCustomInput>,
    UserPatch<UserCustomInput>,
    UserQuery<UserCustom>,
    DeleteUserOptions
  >;
  readonly posts: WithAuthors<Post<PostCustom>, PostQuery<PostCustom>, PublicUser<UserCustom>> &
    Resource<
      Post<PostCustom>,
      PostInput<PostCustomInput>,
      PostPatch<PostCustomInput>,
      PostQuery<PostCustom>
    >;
  readonly events: Events;
}

/** Without a type for custom fields, they can be any JSON. */
type InputOf<Custom extends object> = JsonObject extends Custom ? CustomFieldsInput : Custom;

/**
 * Creates a client. It makes no request before the first call.
 *
 * The types of custom fields are not checked at run time: that is the job of the server's schema.
 */
export function createClient<
  UserCustom extends object = JsonObject,
  PostCustom extends object = JsonObject,
  UserCustomInput extends object = InputOf<UserCustom>,
  PostCustomInput extends object = InputOf<PostCustom>,
>(options: TransportOptions): Client<UserCustom, PostCustom, UserCustomInput, PostCustomInput> {
  const send = createTransport(options);
  const users: Client<UserCustom, PostCustom, UserCustomInput>['users'] = resource(send, 'users');
  const me: Client<UserCustom, PostCustom, UserCustomInput>['me'] = {
    get: (options) => users.get('me', options),
    async save(body, { ifMatch, ifNoneMatch, signal } = {}) {
      const headers = {
        ...preconditionOf(ifMatch),
        ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch }),
      };
      const response = await send({ method: 'PUT', path: '/users/me', body, headers, signal });
      return { ...versioned<User<UserCustom>>(response), created: response.status === 201 };
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

/** A page of any list. The caller's types say what its items are. */
type AnyPage = PageWithAuthors<never, never>;

/** The maximum number of times that `update` starts, when others keep changing the record. */
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

  async function list(query: object = {}, options: CallOptions = {}): Promise<AnyPage> {
    const { id, count, include }: Record<string, unknown> = { ...query };
    const batches = Array.isArray(id) ? batchesOf(id) : [id];
    if (batches.length > 1) return listBatches(list, query, batches as Id[][], options);
    const path = `/${plural}${searchOf({ ...query, id: batches[0] })}`;
    // The API has no query that matches nothing: without an id, it would list all records.
    const isEmpty = batches.length === 0;
    const empty = { [plural]: [], next: null, ...(count === 'exact' && { total: 0 }) };
    const { signal } = options;
    const body = isEmpty ? empty : (await send({ method: 'GET', path, signal })).body;
    const authors = include === 'author' && { users: [] };
    const { [plural]: items, ...others }: Record<string, unknown> = { ...authors, ...body };
    if (!Array.isArray(items) || (typeof others.next !== 'string' && others.next !== null)) {
      throw problemOf('unexpected-response', 200, 'The response is not a list of the API.');
    }
    return { items, ...others } as unknown as AnyPage;
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
          const detail = 'The response has no ETag with a version.';
          throw problemOf('unexpected-response', 200, detail);
        }
        if (etag.endsWith('-public"')) {
          const detail = 'You can only read the public view; replacing it would lose other fields.';
          throw problemOf('forbidden', 403, detail);
        }
        const input = makeInput(record);
        try {
          return await self.replace(id, input, { ...options, ifMatch: version });
        } catch (error) {
          // With the outcome "unknown", the new version may be this very change, made by a lost try.
          const isOutdated = isApiProblem(error, 'version-mismatch') && error.outcome === 'none';
          if (!isOutdated || number === maxUpdates) throw error;
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

/** Returns 128 random bits. `crypto.randomUUID` exists only in secure contexts. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
