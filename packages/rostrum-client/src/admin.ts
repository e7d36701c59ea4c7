import type { CallOptions, ListPage, Versioned } from './index.ts';
import { type ApiProblem, isApiProblem, problemOf } from './problem.ts';
import { tokenErrors } from './transport.ts';

// What data providers of admin frameworks have in common: they number pages, change many records
// at once, and want what is wrong with a form by its fields.

/** How frameworks name a record. */
export type Key = string | number;

interface AdminRecord {
  readonly id: string;
  readonly updatedAt: string;
}

interface AdminPage extends ListPage<AdminRecord> {
  /** The authors of posts, where the query has `include`. */
  readonly users?: readonly object[];
}

/** What a provider needs of a resource; resources of every client fit. */
interface AdminResource {
  create(input: object): Promise<Versioned<AdminRecord>>;
  get(id: string, options?: CallOptions): Promise<Versioned<AdminRecord>>;
  list(query?: object, options?: CallOptions): Promise<AdminPage>;
  update(id: string, change: (record: AdminRecord) => object): Promise<Versioned<AdminRecord>>;
  delete(id: string, options?: object): Promise<void>;
}

/** What a provider needs of a client. */
export interface AdminClient {
  readonly url: string;
  readonly users: AdminResource;
  readonly posts: AdminResource;
}

export function resourceOf(client: AdminClient, name: string): AdminResource {
  if (name === 'users' || name === 'posts') return client[name];
  throw new TypeError(`There is no resource "${name}": there are "users" and "posts".`);
}

/** Frameworks sort by id when nobody says; ids are made in the order of creation. */
export function sortOf(field: string, order: string): string {
  return `${order.toLowerCase() === 'desc' ? '-' : ''}${field === 'id' ? 'createdAt' : field}`;
}

/** Records of a page, posts with authors, ids of a filter, and changes at the same time, at most. */
const most = { records: 1000, withAuthors: 100, ids: 100, atOnce: 8 };
/** Lists whose cursors are remembered. */
const maxLists = 100;

/**
 * Numbered pages on top of cursors. It remembers where the pages of a list begin; a page that
 * nobody has seen is reached from the nearest one before it, in steps of up to 1000 records.
 */
export class NumberedPages {
  /** By list: the cursor of each page by its index, as far as it is known. */
  readonly #lists = new Map<string, (string | null)[]>();

  /** @param number the first page is 1 */
  async page(
    resource: AdminResource,
    name: string,
    query: object,
    { number, size }: { readonly number: number; readonly size: number },
    options: CallOptions,
  ): Promise<AdminPage> {
    const cursors = this.#cursorsOf(JSON.stringify([name, size, query]));
    const target = number - 1;
    let at = Math.max(0, Math.min(target, cursors.length - 1));
    while (at > 0 && cursors[at] === undefined) at--;
    while (at < target) {
      const pages = Math.min(target - at, Math.max(1, Math.floor(most.records / size)));
      const step = { ...query, cursor: cursors[at], include: undefined };
      const skipped = await fullPage(resource, step, pages * size, options);
      if (skipped.next === null) return { ...skipped, items: [] };
      at += pages;
      cursors[at] = skipped.next;
    }
    const page = await fullPage(resource, { ...query, cursor: cursors[at] }, size, options);
    // The pages behind may begin elsewhere than when they were seen.
    cursors.length = at + 1;
    if (page.next !== null) cursors[at + 1] = page.next;
    return page;
  }

  #cursorsOf(list: string): (string | null)[] {
    const cursors = this.#lists.get(list) ?? [null];
    this.#lists.delete(list);
    this.#lists.set(list, cursors);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > maxLists && oldest !== undefined) this.#lists.delete(oldest);
    return cursors;
  }
}

/** A page of the size that was asked for, `Infinity` for all: one of the API may end earlier. */
export async function fullPage(
  resource: AdminResource,
  query: { readonly cursor?: unknown; readonly include?: unknown; readonly id?: unknown },
  size: number,
  options: CallOptions,
): Promise<AdminPage> {
  const perPage = query.include === undefined ? most.records : most.withAuthors;
  const items: AdminRecord[] = [];
  const users: object[] = [];
  let page: AdminPage | undefined;
  do {
    const limit = Math.min(size - items.length, perPage);
    page = await resource.list({ ...query, limit, cursor: page?.next ?? query.cursor }, options);
    items.push(...page.items);
    users.push(...(page.users ?? []));
  } while (items.length < size && page.next !== null);
  return { ...page, items, ...(page.users && { users }) };
}

/** A record as frameworks take it from a call. */
export async function dataOf(
  call: Promise<Versioned<AdminRecord>>,
): Promise<{ data: AdminRecord }> {
  return { data: (await call).record };
}

/** Those of the records that exist. */
export async function recordsOf(
  resource: AdminResource,
  ids: readonly Key[],
  options: CallOptions,
): Promise<AdminRecord[]> {
  const records: AdminRecord[] = [];
  for (let at = 0; at < ids.length; at += most.ids) {
    const id = ids.slice(at, at + most.ids).map(String);
    records.push(...(await fullPage(resource, { id }, Infinity, options)).items);
  }
  return records;
}

/**
 * Changes the fields of a record that are given, and leaves the others. As in a PATCH, undefined
 * is not given, and null removes.
 *
 * @param seen the record's `updatedAt` when the caller read it: every change moves it on
 * @throws ApiProblem `version-mismatch` when the record changed since
 */
export async function updateRecord(
  resource: AdminResource,
  id: Key,
  data: object,
  seen: unknown,
): Promise<AdminRecord> {
  const { record } = await resource.update(String(id), (current) => {
    if (seen !== undefined && current.updatedAt !== seen) throw changedSince();
    const fields = new Map<string, unknown>(Object.entries(current));
    for (const [name, value] of Object.entries(data)) {
      if (value === undefined) continue;
      // Forms give back the whole record: a null that is stored is no change.
      if (value === null && fields.get(name) !== null) fields.delete(name);
      else fields.set(name, value);
    }
    return Object.fromEntries(fields);
  });
  return record;
}

function changedSince(): ApiProblem {
  return problemOf('version-mismatch', 412, 'The record changed since it was read.');
}

/** When the record that a framework has at hand was last changed. */
export function seenIn(record: object | undefined): unknown {
  return record && 'updatedAt' in record ? record.updatedAt : undefined;
}

/**
 * Deletes a record as the caller saw it, or as it is. See {@link updateRecord}.
 *
 * @param posts what becomes of the posts of a user
 */
export async function deleteRecord(
  client: AdminClient,
  name: string,
  id: Key,
  seen: unknown,
  posts: 'delete' | 'keep' | undefined,
): Promise<void> {
  const resource = resourceOf(client, name);
  let ifMatch: string | number = '*';
  if (seen !== undefined) {
    const { record, version } = await resource.get(String(id));
    if (record.updatedAt !== seen) throw changedSince();
    ifMatch = version;
  }
  await resource.delete(String(id), { ifMatch, ...(name === 'users' && { posts }) });
}

/** Does something for each item, for some at once; after an error no further ones begin. */
export async function forEach<T, Result>(
  items: readonly T[],
  action: (item: T) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += most.atOnce) {
    results.push(...(await Promise.all(items.slice(at, at + most.atOnce).map(action))));
  }
  return results;
}

/** What is wrong with the fields of a form, by their names; nested ones as `address.city`. */
function fieldErrors(problem: ApiProblem): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const entry of problem.errors) {
    if (!('pointer' in entry)) continue;
    const path = entry.pointer.split('/').slice(1);
    const name = path.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
    fields[name] ??= entry.message;
  }
  return fields;
}

/** What a framework's error is made of. */
export interface Failure {
  /** A TypeError for what the API does not have, or for what cannot be sent. */
  readonly cause: ApiProblem | TypeError;
  readonly status: number;
  /** The messages of fields by their names. */
  readonly errors: Readonly<Record<string, string>>;
}

/**
 * The same methods, with every failure turned into the error that a framework knows. What the
 * program's own functions throw is passed on as it is.
 */
export function translated<Methods extends object>(
  methods: Methods,
  errorOf: (failure: Failure) => unknown,
): Methods {
  const entries = Object.entries(methods).map(([name, method]) => {
    if (typeof method !== 'function') return [name, method];
    const call = async (...parameters: unknown[]) => {
      try {
        return await method(...parameters);
      } catch (error) {
        if (isApiProblem(error)) {
          throw errorOf({ cause: error, status: error.status, errors: fieldErrors(error) });
        }
        const isWrongArgument = error instanceof TypeError && !tokenErrors.has(error);
        if (isWrongArgument) throw errorOf({ cause: error, status: 400, errors: {} });
        throw error;
      }
    };
    return [name, call];
  });
  return Object.fromEntries(entries);
}
