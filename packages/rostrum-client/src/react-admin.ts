/** A data provider for react-admin 5. It imports nothing of it: its types fit as they are. */
import {
  type AdminClient,
  dataOf,
  deleteRecord,
  type Failure,
  forEach,
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

export interface ReactAdminOptions {
  /**
   * Whether lists count their records; true when absent. A count costs more the more records
   * there are; without it, lists show a "next" and no number of pages.
   */
  readonly total?: boolean | undefined;
  /** What becomes of a user's posts when `meta.posts` does not say: the API refuses when absent. */
  readonly posts?: 'delete' | 'keep' | undefined;
}

/** What react-admin's forms and auth providers read of an error. */
export interface ReactAdminError extends Error {
  readonly status: number;
  /** The messages of fields by their names. */
  readonly body: { readonly errors: Readonly<Record<string, string>> };
  /** The problem, or the TypeError of a resource that there is not or a value that cannot be sent. */
  readonly cause: ApiProblem | TypeError;
}

interface ListParams extends CallOptions {
  readonly pagination?: { readonly page: number; readonly perPage: number };
  readonly sort?: { readonly field: string; readonly order: string };
  /**
   * The filters of the API: `{ title: 'Hello', createdAt: { gte: '2026-01-01T00:00:00Z' } }`; and
   * `q`, by which react-admin searches: the beginning of a name or title.
   */
  readonly filter?: { readonly q?: string };
  readonly meta?: { readonly include?: 'author' };
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
  /** `posts` is for deletions. */
  readonly meta?: DeleteParams['meta'];
}

interface UpdateParams {
  readonly id: Key;
  readonly data: object;
  /** Its `updatedAt` is what the record must still have. */
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
  /** With `include` in the `meta` of the request: the authors of the posts, in the public view. */
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
 * Makes a data provider for the resources `users` and `posts`.
 *
 * An update is refused when the record changed since react-admin read it (`previousData`), and
 * changes only the fields that it is given; null removes one. Every method rejects with a
 * {@link ReactAdminError}, with the reason of its signal, or with what the client's `token` threw.
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
    const { q, ...filters } = filter;
    const query = {
      [`${name === 'users' ? 'name' : 'title'}[startsWith]`]: q,
      ...filters,
      include: meta?.include,
      ...(sort && { sort: sortOf(sort.field, sort.order) }),
      ...(counted && { count: 'exact' }),
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

    async getMany(name: string, { ids, signal }: ManyParams) {
      return { data: await recordsOf(resourceOf(client, name), ids, { signal }) };
    },

    getManyReference: (name: string, { target, id, filter, ...params }: RelatedParams) =>
      getList(name, { ...params, filter: { ...filter, [target]: id } }),

    create: (name: string, { data }: { data: object }) =>
      dataOf(resourceOf(client, name).create(data)),

    async update(name: string, { id, data, previousData }: UpdateParams) {
      const seen = seenIn(previousData);
      return { data: await updateRecord(resourceOf(client, name), id, data, seen) };
    },

    async updateMany(name: string, { ids, data }: ManyParams & { data: object }) {
      const resource = resourceOf(client, name);
      await forEach(ids, (id) => updateRecord(resource, id, data, undefined));
      return { data: [...ids] };
    },

    async delete(name: string, { id, previousData, meta }: DeleteParams) {
      await deleteRecord(client, name, id, seenIn(previousData), meta?.posts ?? posts);
      return { data: previousData ?? { id } };
    },

    async deleteMany(name: string, { ids, meta }: ManyParams) {
      const mode = meta?.posts ?? posts;
      await forEach(ids, (id) => deleteRecord(client, name, id, undefined, mode));
      return { data: [...ids] };
    },
  };
  // Custom fields are of the types that the caller says.
  return translated(provider, reactAdminError) as unknown as ReactAdminProvider;
}

function reactAdminError({ cause, status, errors }: Failure): ReactAdminError {
  const error = new Error(cause.message, { cause });
  return Object.assign(error, { status, cause, body: { errors } });
}
