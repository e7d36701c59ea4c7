/** A data provider for react-admin 5. It does not import react-admin, but its types are compatible. */
import { deleteMany, deleteRecord, updateMany, updateRecord } from './admin/changes.ts';
import { type FailedChange, type ProviderError, withErrors } from './admin/errors.ts';
import { type ListMeta, listQuery, NumberedPages, recordsOf } from './admin/lists.ts';
import { type AdminClient, dataOf, type Key, resourceOf } from './admin/resource.ts';
import type { ApiProblem } from './problem.ts';
import type { CallOptions } from './transport.ts';

export interface ReactAdminOptions {
  /**
   * Counts the records of lists; true by default. Counting takes longer the more records there are.
   * Without it, lists have a "next" button and no number of pages.
   */
  readonly total?: boolean | undefined;
  /** What to do with the posts of a deleted user, unless `meta.posts` says so. */
  readonly posts?: 'delete' | 'keep' | undefined;
}

/** An error as react-admin's forms and auth providers expect it. */
export interface ReactAdminError extends Error {
  readonly status: number;
  /** The messages of invalid fields by name. */
  readonly body: { readonly errors: Readonly<Record<string, string>> };
  /** A TypeError for what the API does not support, or for a value that cannot be sent. */
  readonly cause: ApiProblem | TypeError;
  /** Of `updateMany` and `deleteMany`: the records that were not changed. */
  readonly failed?: readonly FailedChange[];
}

interface ListParams extends CallOptions {
  readonly pagination?: { readonly page: number; readonly perPage: number };
  readonly sort?: { readonly field: string; readonly order: string };
  /**
   * The filters of the API: `{ title: 'Hello', createdAt: { gte: '2026-01-01' } }`; and `q`,
   * react-admin's name for a search: the start of a name or title.
   */
  readonly filter?: { readonly q?: string };
  readonly meta?: ListMeta;
}

interface RelatedParams extends ListParams {
  readonly target: string;
  readonly id: Key;
}

interface OneParams extends CallOptions {
  readonly id: Key;
}

interface ManyParams extends CallOptions {
  readonly ids: readonly Key[];
  /** `fields` is for `getMany`, `posts` for `deleteMany`. */
  readonly meta?: Pick<ListMeta, 'fields'> & DeleteParams['meta'];
}

interface UpdateParams {
  readonly id: Key;
  readonly data: object;
  /** The record as it was read. A field that has another value in `data` is changed. */
  readonly previousData?: object;
}

interface DeleteParams {
  readonly id: Key;
  readonly previousData?: object;
  readonly meta?: { readonly posts?: 'delete' | 'keep' } | undefined;
}

interface ListResult<R> {
  data: R[];
  total?: number;
  pageInfo?: { hasNextPage: boolean; hasPreviousPage: boolean };
  /** With `meta.include`: the authors of the posts, in the public view. */
  meta?: { users: readonly object[] };
}

/** A `DataProvider` of react-admin: `<Admin dataProvider={…}>`. */
export interface ReactAdminProvider {
  getList<R extends object>(name: string, params: ListParams): Promise<ListResult<R>>;
  getOne<R extends object>(name: string, params: OneParams): Promise<{ data: R }>;
  getMany<R extends object>(name: string, params: ManyParams): Promise<{ data: R[] }>;
  getManyReference<R extends object>(name: string, params: RelatedParams): Promise<ListResult<R>>;
  create<R extends object>(name: string, params: { data: object }): Promise<{ data: R }>;
  update<R extends object>(name: string, params: UpdateParams): Promise<{ data: R }>;
  updateMany(name: string, params: ManyParams & { data: object }): Promise<{ data: Key[] }>;
  delete<R extends object>(name: string, params: DeleteParams): Promise<{ data: R }>;
  deleteMany(name: string, params: ManyParams): Promise<{ data: Key[] }>;
  readonly supportAbortSignal: true;
}

/**
 * Creates a data provider for the resources `users` and `posts`.
 *
 * An update changes the fields that differ from `previousData`; null removes a field. If someone else
 * has set one of them to another value, it fails with the status 412. Methods reject with a
 * {@link ReactAdminError}, the reason of an aborted signal, or an error thrown by `token`.
 */
export function reactAdminProvider(
  client: AdminClient,
  options: ReactAdminOptions = {},
): ReactAdminProvider {
  const { total: counted = true, posts } = options;
  const pages = new NumberedPages();

  async function getList(name: string, params: ListParams): Promise<ListResult<never>> {
    const { pagination = { page: 1, perPage: 25 }, sort, filter = {}, meta, signal } = params;
    const { page: number, perPage: size } = pagination;
    const query = {
      ...listQuery(withSearch(name, filter), sort ? [sort] : [], meta),
      ...(counted && { count: 'exact' as const }),
    };
    const where = { number, size };
    const page = await pages.page(resourceOf(client, name), name, query, where, { signal });
    return {
      data: page.items as never[],
      pageInfo: { hasNextPage: page.next !== null, hasPreviousPage: number > 1 },
      ...(page.total !== undefined && { total: page.total }),
      ...(page.users && { meta: { users: page.users } }),
    };
  }

  const provider = {
    supportAbortSignal: true,
    getList,

    getOne: (name: string, { id, signal }: OneParams) =>
      dataOf(resourceOf(client, name).get(String(id), { signal })),

    async getMany(name: string, { ids, meta, signal }: ManyParams) {
      return { data: await recordsOf(resourceOf(client, name), ids, meta, { signal }) };
    },

    getManyReference: (name: string, { target, id, filter, ...params }: RelatedParams) =>
      getList(name, { ...params, filter: { ...filter, [target]: id } }),

    create: (name: string, { data }: { data: object }) =>
      dataOf(resourceOf(client, name).create(data)),

    async update(name: string, { id, data, previousData }: UpdateParams) {
      return { data: await updateRecord(resourceOf(client, name), id, data, { previousData }) };
    },

    async updateMany(name: string, { ids, data }: ManyParams & { data: object }) {
      await updateMany(resourceOf(client, name), ids, data);
      return { data: [...ids] };
    },

    async delete(name: string, { id, previousData, meta }: DeleteParams) {
      await deleteRecord(client, name, id, { previousData }, meta?.posts ?? posts);
      return { data: previousData ?? { id } };
    },

    async deleteMany(name: string, { ids, meta }: ManyParams) {
      await deleteMany(client, name, ids, meta?.posts ?? posts);
      return { data: [...ids] };
    },
  };
  // The caller says which type records have.
  return withErrors(provider, reactAdminError) as unknown as ReactAdminProvider;
}

/** Turns `q` into a filter. @throws TypeError beside a filter on the start of the same field */
function withSearch(name: string, { q, ...filters }: { readonly q?: string }): object {
  if (!q) return filters;
  const field = name === 'users' ? 'name' : 'title';
  const parameter = `${field}[startsWith]`;
  const { [field]: given }: Record<string, unknown> = { ...filters };
  if (parameter in filters || (typeof given === 'object' && given !== null)) {
    throw new TypeError(`Filter by "q" or by the start of "${field}", not by both.`);
  }
  return { ...filters, [parameter]: q };
}

function reactAdminError({
  message,
  cause,
  status,
  errors,
  failed,
}: ProviderError): ReactAdminError {
  const error = new Error(message, { cause });
  return Object.assign(error, { status, cause, body: { errors }, ...(failed && { failed }) });
}
