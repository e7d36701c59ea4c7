/** A data provider for refine 5. It does not import refine, but its types are compatible. */
import {
  type Base,
  changeMany,
  deleteMany,
  deleteRecord,
  updateMany,
  updateRecord,
} from './admin/changes.ts';
import { type FailedChange, type ProviderError, withErrors } from './admin/errors.ts';
import { fullPage, type ListMeta, listQuery, NumberedPages, recordsOf } from './admin/lists.ts';
import { type AdminClient, dataOf, type Key, resourceOf } from './admin/resource.ts';
import type { ApiProblem } from './problem.ts';
import type { CallOptions } from './transport.ts';

/** An error as refine's forms and notifications expect it. */
export interface RefineError extends Error {
  readonly statusCode: number;
  /** The messages of invalid fields by name. */
  readonly errors: Readonly<Record<string, string>>;
  /** A TypeError for what the API does not support, or for a value that cannot be sent. */
  readonly cause: ApiProblem | TypeError;
  /** Of `createMany`, `updateMany` and `deleteMany`: the records that were not changed. */
  readonly failed?: readonly FailedChange[];
}

interface Meta extends ListMeta {
  /** The record as it was read. A change fails if someone else has changed the same field since. */
  readonly previousData?: object;
  /** The record's `updatedAt` as it was read. A change fails if the record has changed since. */
  readonly updatedAt?: string;
  /** What to do with the posts of a deleted user. */
  readonly posts?: 'delete' | 'keep';
  readonly queryContext?: { readonly signal?: AbortSignal };
}

interface Of {
  readonly resource: string;
  readonly meta?: Meta;
}

interface ListParams extends Of {
  /** `currentPage` is a number, or the cursor that `useInfiniteList` got with the last page. */
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
 * Creates a data provider for the resources `users` and `posts`.
 *
 * An update changes only the given fields; null removes a field. If someone else has changed the
 * record since you read it, the update fails with the status 412. For this, pass `updatedAt` in
 * `meta` or `variables`, or pass `meta.previousData` to compare only the changed fields. Methods
 * reject with a {@link RefineError}, the reason of an aborted signal, or an error thrown by `token`.
 */
export function refineProvider(client: AdminClient): RefineProvider {
  const pages = new NumberedPages();

  const provider = {
    async getList({ resource: name, pagination, sorters = [], filters = [], meta }: ListParams) {
      const { currentPage: at = 1, pageSize: size = 10, mode = 'server' } = pagination ?? {};
      const resource = resourceOf(client, name);
      const query = {
        ...listQuery(filterOf(filters), sorters, meta),
        ...(mode === 'server' && { count: 'exact' as const }),
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
      return { data: await recordsOf(resourceOf(client, resource), ids, meta, signalOf(meta)) };
    },

    create: ({ resource, variables }: Of & { variables: object }) =>
      dataOf(resourceOf(client, resource).create(variables)),

    async createMany({ resource, variables }: Of & { variables: object[] }) {
      const create = async (input: object) =>
        (await resourceOf(client, resource).create(input)).record;
      return { data: await changeMany(variables, 'created', create, (_, index) => index) };
    },

    async update({ resource, id, variables, meta }: One & { variables: object }) {
      const base = baseOf(meta, variables);
      return { data: await updateRecord(resourceOf(client, resource), id, variables, base) };
    },

    async updateMany({ resource, ids, variables }: Many & { variables: object }) {
      return { data: await updateMany(resourceOf(client, resource), ids, variables) };
    },

    async deleteOne({ resource, id, meta }: One) {
      await deleteRecord(client, resource, id, baseOf(meta), meta?.posts);
      return { data: { id } };
    },

    async deleteMany({ resource, ids, meta }: Many) {
      await deleteMany(client, resource, ids, meta?.posts);
      return { data: ids.map((id) => ({ id })) };
    },
  };
  const methods = withErrors(provider, refineError);
  // The caller says which type records have.
  return { ...methods, getApiUrl: () => client.url } as unknown as RefineProvider;
}

function signalOf(meta: Meta | undefined): CallOptions {
  return { signal: meta?.queryContext?.signal };
}

function baseOf({ previousData, updatedAt }: Meta = {}, variables: object = {}): Base {
  if (previousData) return { previousData };
  return { updatedAt: updatedAt ?? ('updatedAt' in variables ? variables.updatedAt : undefined) };
}

/** Translates refine's filters. @throws TypeError for a filter that the API does not have */
function filterOf(filters: readonly Filter[]): object {
  const query = new Map<string, unknown>();
  for (const filter of flat(filters)) {
    if (filter.value === undefined) continue;
    const [name, value] = parameterOf(filter);
    if (query.has(name)) throw new TypeError(`The filter "${name}" can be used only once.`);
    query.set(name, value);
  }
  return Object.fromEntries(query);
}

function parameterOf({ operator, field = '', value }: Filter): [name: string, value: unknown] {
  if (field === 'id' && (operator === 'eq' || operator === 'in')) return [field, value];
  if (operator === 'ina' && Array.isArray(value)) return [field, value];
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

/** Replaces an "and" by its parts, because all filters must match anyway. */
function flat(filters: readonly Filter[]): readonly Filter[] {
  return filters.flatMap((one) =>
    one.operator === 'and' ? flat(one.value as readonly Filter[]) : [one],
  );
}

function refineError({ message, cause, status, errors, failed }: ProviderError): RefineError {
  const error = new Error(message, { cause });
  return Object.assign(error, { statusCode: status, cause, errors, ...(failed && { failed }) });
}
