/** A data provider for refine 5. It imports nothing of it: its types fit as they are. */
import {
  type AdminClient,
  dataOf,
  deleteRecord,
  type Failure,
  forEach,
  fullPage,
  type Key,
  NumberedPages,
  recordsOf,
  resourceOf,
  seenIn,
  sortOf,
  translated,
  updateRecord,
} from './admin.ts';
import type { CallOptions } from './index.ts';
import type { ApiProblem } from './problem.ts';

/** What refine's forms and notifications read of an error. */
export interface RefineError extends Error {
  readonly statusCode: number;
  /** The messages of fields by their names. */
  readonly errors: Readonly<Record<string, string>>;
  /** The problem, or the TypeError of what the API does not have or of what cannot be sent. */
  readonly cause: ApiProblem | TypeError;
}

interface Meta {
  /** The record's `updatedAt` as it was read: a change of a record that changed since is refused. */
  readonly updatedAt?: string;
  /** What becomes of the posts of a user who is deleted. */
  readonly posts?: 'delete' | 'keep';
  /** Lists of posts come with their authors, as `users`, in the public view. */
  readonly include?: 'author';
  readonly queryContext?: { readonly signal?: AbortSignal };
}

interface Of {
  readonly resource: string;
  readonly meta?: Meta;
}

interface ListParams extends Of {
  /** `currentPage` is a number, or a cursor: `useInfiniteList` gives back what it was given. */
  readonly pagination?: {
    readonly currentPage?: Key;
    readonly pageSize?: number;
    readonly mode?: 'client' | 'server' | 'off';
  };
  readonly sorters?: readonly { readonly field: string; readonly order: string }[];
  readonly filters?: readonly Filter[];
}

interface Filter {
  readonly operator: string;
  readonly field?: string;
  readonly value: unknown;
}

interface ListResult<R> {
  data: R[];
  total: number;
  cursor?: { next?: string };
  users?: readonly object[];
}

interface One extends Of {
  readonly id: Key;
}

interface Many extends Of {
  readonly ids: readonly Key[];
}

/** A `DataProvider` of refine: `<Refine dataProvider={…}>`. */
export interface RefineProvider {
  getList<R extends object>(params: ListParams): Promise<ListResult<R>>;
  getOne<R extends object>(params: One): Promise<{ data: R }>;
  getMany<R extends object>(params: Many): Promise<{ data: R[] }>;
  create<R extends object, V = object>(params: Of & { variables: V }): Promise<{ data: R }>;
  createMany<R extends object, V = object>(params: Of & { variables: V[] }): Promise<{ data: R[] }>;
  update<R extends object, V = object>(params: One & { variables: V }): Promise<{ data: R }>;
  updateMany<R extends object, V = object>(params: Many & { variables: V }): Promise<{ data: R[] }>;
  deleteOne<R extends object>(params: One): Promise<{ data: R }>;
  deleteMany<R extends object>(params: Many): Promise<{ data: R[] }>;
  getApiUrl(): string;
}

/**
 * Makes a data provider for the resources `users` and `posts`.
 *
 * An update changes only the fields that it is given; null removes one. It is refused when the
 * record changed since it was read, where `meta.updatedAt` or `variables.updatedAt` says when that
 * was. Every method rejects with a {@link RefineError}, with the reason of its signal, or with
 * what the client's `token` threw.
 */
export function refineProvider(client: AdminClient): RefineProvider {
  const pages = new NumberedPages();

  const provider = {
    async getList({ resource: name, pagination, sorters = [], filters = [], meta }: ListParams) {
      const { currentPage: at = 1, pageSize: size = 10, mode = 'server' } = pagination ?? {};
      const resource = resourceOf(client, name);
      const [sorter] = sorters;
      const query = {
        ...filterOf(filters),
        ...(sorter && { sort: sortOf(sorter.field, sorter.order) }),
        ...(mode === 'server' && { count: 'exact' }),
        include: meta?.include,
      };
      const options = signalOf(meta);
      const page =
        mode !== 'server'
          ? await fullPage(resource, query, Infinity, options)
          : typeof at === 'string'
            ? await fullPage(resource, { ...query, cursor: at }, size, options)
            : await pages.page(resource, name, query, { number: at, size }, options);
      const { items: data, next, total = data.length, users } = page;
      return { data, total, cursor: next === null ? {} : { next }, ...(users && { users }) };
    },

    getOne: ({ resource, id, meta }: One) =>
      dataOf(resourceOf(client, resource).get(String(id), signalOf(meta))),

    async getMany({ resource, ids, meta }: Many) {
      return { data: await recordsOf(resourceOf(client, resource), ids, signalOf(meta)) };
    },

    create: ({ resource, variables }: Of & { variables: object }) =>
      dataOf(resourceOf(client, resource).create(variables)),

    async createMany({ resource, variables }: Of & { variables: object[] }) {
      const create = async (input: object) =>
        (await resourceOf(client, resource).create(input)).record;
      return { data: await forEach(variables, create) };
    },

    async update({ resource, id, variables, meta }: One & { variables: object }) {
      const seen = meta?.updatedAt ?? seenIn(variables);
      return { data: await updateRecord(resourceOf(client, resource), id, variables, seen) };
    },

    async updateMany({ resource: name, ids, variables }: Many & { variables: object }) {
      const resource = resourceOf(client, name);
      const update = (id: Key) => updateRecord(resource, id, variables, undefined);
      return { data: await forEach(ids, update) };
    },

    async deleteOne({ resource, id, meta }: One) {
      await deleteRecord(client, resource, id, meta?.updatedAt, meta?.posts);
      return { data: { id } };
    },

    async deleteMany({ resource: name, ids, meta }: Many) {
      await forEach(ids, (id) => deleteRecord(client, name, id, undefined, meta?.posts));
      return { data: ids.map((id) => ({ id })) };
    },
  };
  const methods = translated(provider, refineError);
  // Records are of the types that the caller says.
  return { ...methods, getApiUrl: () => client.url } as unknown as RefineProvider;
}

function signalOf(meta: Meta | undefined): CallOptions {
  return { signal: meta?.queryContext?.signal };
}

/** Refine's filters as those of the API. @throws TypeError for one that the API does not have */
function filterOf(filters: readonly Filter[]): object {
  const query = new Map<string, unknown>();
  for (const filter of flat(filters)) {
    if (filter.value === undefined) continue;
    const [name, value] = parameterOf(filter);
    // All filters must hold, and the API has no second one of a name.
    if (query.has(name)) throw new TypeError(`The API has only one filter "${name}".`);
    query.set(name, value);
  }
  return Object.fromEntries(query);
}

function parameterOf({ operator, field = '', value }: Filter): [name: string, value: unknown] {
  if (field === 'id' && (operator === 'eq' || operator === 'in')) return [field, value];
  const isNull =
    operator === 'null' ? String(value) !== 'false' : operator === 'eq' && value === null;
  if ((field === 'authorId' || field === 'publishedAt') && isNull) return [field, null];
  if (value !== null && !Array.isArray(value)) {
    if (operator === 'eq') return [field, value];
    if (['gte', 'gt', 'lte', 'lt'].includes(operator)) return [`${field}[${operator}]`, value];
    if (operator === 'startswith') return [`${field}[startsWith]`, value];
  }
  throw new TypeError(`The API has no filter "${operator}" on "${field}" for this value.`);
}

/** All filters must hold, so an "and" is its parts. */
function flat(filters: readonly Filter[]): readonly Filter[] {
  return filters.flatMap((one) =>
    one.operator === 'and' ? flat(one.value as readonly Filter[]) : [one],
  );
}

function refineError({ cause, status: statusCode, errors }: Failure): RefineError {
  return Object.assign(new Error(cause.message, { cause }), { statusCode, cause, errors });
}
