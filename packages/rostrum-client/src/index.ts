/** A client for Rostrum's HTTP API. It needs nothing but `fetch`: browsers, workers and Node have it. */

import type { DeclaredFields, DeclaredValues } from './declared-fields.ts';
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
  isPublicTag,
  type Send,
  type TransportOptions,
  versionOf,
} from './transport.ts';

export type { Bounds, DeclaredFields } from './declared-fields.ts';
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

/** The posts, whose lists can include their authors. */
export interface PostResource<R, Input, Patch, Query, Author>
  extends Omit<Resource<R, Input, Patch, Query>, 'list'> {
  /** Reads one page; with `include`, also the authors of its posts. */
  list<F extends FieldOf<R> = FieldOf<R>, I extends 'author' | undefined = undefined>(
    query?: Query & {
      readonly fields?: readonly F[] | undefined;
      readonly include?: I | undefined;
    },
    options?: CallOptions,
  ): Promise<
    I extends 'author' ? PageWithAuthors<Picked<R, F | 'authorId'>, Author> : ListPage<Picked<R, F>>
  >;
}

/** The caller's own user, whose id is the subject of the caller's credentials. */
export interface Me<R, Input, Patch> {
  get(options?: CallOptions): Promise<Versioned<R>>;
  /** Replaces the whole record, or creates it: also after it was deleted. */
  save(input: Input, options?: SaveOptions): Promise<Saved<R>>;
  patch(patch: Patch, options?: ChangeOptions): Promise<Versioned<R>>;
  delete(options?: DeleteUserOptions): Promise<void>;
}

/** The types of custom fields, as the schemas of the server have them. */
export interface CustomFields {
  readonly users?: object | undefined;
  readonly posts?: object | undefined;
}

type Collection = keyof CustomFields;

/** The member for users, or for posts, if there is one. */
type Of<T, Name extends Collection, Otherwise = unknown> = Name extends keyof T
  ? NonNullable<T[Name]>
  : Otherwise;

type CustomOf<Declared, Custom, Name extends Collection> = Of<Custom, Name, JsonObject> &
  DeclaredValues<Of<Declared, Name>>;

/** A declared field that `Input` names has the type that it has there. */
type InputOf<Declared, Input, Name extends Collection> = Of<Input, Name, CustomFieldsInput> &
  Omit<DeclaredValues<Of<Declared, Name>>, keyof Named<Of<Input, Name, CustomFieldsInput>>>;

/** The named members of an object, without its index signature. */
type Named<T> = { [K in keyof T as string extends K ? never : K]: T[K] };

/**
 * The whole API. The type parameters are the server's declared fields, and the types that its schemas
 * give to custom fields in records and in inputs.
 */
export interface Client<
  Declared extends DeclaredFields<Declared> = object,
  Custom extends CustomFields = object,
  Input extends CustomFields = Custom,
> {
  /** The API's URL, as passed to `createClient`. */
  readonly url: string;
  readonly me: Me<
    User<CustomOf<Declared, Custom, 'users'>>,
    UserInput<InputOf<Declared, Input, 'users'>>,
    UserPatch<InputOf<Declared, Input, 'users'>>
  >;
  readonly users: Resource<
    User<CustomOf<Declared, Custom, 'users'>>,
    UserInput<InputOf<Declared, Input, 'users'>>,
    UserPatch<InputOf<Declared, Input, 'users'>>,
    UserQuery<Of<Declared, 'users'>>,
    DeleteUserOptions
  >;
  readonly posts: PostResource<
    Post<CustomOf<Declared, Custom, 'posts'>>,
    PostInput<InputOf<Declared, Input, 'posts'>>,
    PostPatch<InputOf<Declared, Input, 'posts'>>,
    PostQuery<Of<Declared, 'posts'>>,
    PublicUser<CustomOf<Declared, Custom, 'users'>>
  >;
  readonly events: Events;
}

/** The records of a resource: `RecordOf<typeof client.posts>`. */
export type RecordOf<R extends { get(id: Id): Promise<Versioned<unknown>> }> = Awaited<
  ReturnType<R['get']>
>['record'];

/**
 * Creates a client. It makes no request before the first call.
 *
 * The type parameters are not checked at run time: the server checks the values of declared fields, and its
 * schema those of other custom fields.
 */
export function createClient<
  Declared extends DeclaredFields<Declared> = object,
  Custom extends CustomFields = object,
  Input extends CustomFields = Custom,
>(options: TransportOptions): Client<Declared, Custom, Input> {
  const send = createTransport(options);
  const users: Client<Declared, Custom, Input>['users'] = resource(send, 'users');
  const me: Client<Declared, Custom, Input>['me'] = {
    get: (options) => users.get('me', options),
    async save(body, { ifMatch, ifNoneMatch, signal } = {}) {
      const headers = {
        ...preconditionOf(ifMatch),
        ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch }),
      };
      const response = await send({ method: 'PUT', path: '/users/me', body, headers, signal });
      return { ...versioned<RecordOf<typeof users>>(response), created: response.status === 201 };
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

type AnyPage = PageWithAuthors<never, never>;

/** The maximum number of times that `update` starts, when others keep changing the record. */
const maxUpdates = 10;

/** Users or posts. The caller's types say what a page of a list is. */
interface AnyResource<R, Input, Patch>
  extends Omit<Resource<R, Input, Patch, object, DeleteUserOptions>, 'list'> {
  list(query?: object, options?: CallOptions): Promise<never>;
}

function resource<R, Input extends object, Patch extends object>(
  send: Send,
  plural: 'users' | 'posts',
): AnyResource<R, Input, Patch> {
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

  const self: AnyResource<R, Input, Patch> = {
    async create(body, { idempotencyKey = randomKey(), signal } = {}) {
      const headers = { 'Idempotency-Key': idempotencyKey };
      const response = await send({ method: 'POST', path: `/${plural}`, body, headers, signal });
      const replayed = response.headers.get('Idempotency-Replayed') === 'true';
      return { ...versioned<R>(response), replayed };
    },

    async get(id, { signal } = {}) {
      return versioned(await send({ method: 'GET', path: pathOf(id), signal }));
    },

    list: (query, options) => list(query, options) as Promise<never>,
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
        if (isPublicTag(etag)) {
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
