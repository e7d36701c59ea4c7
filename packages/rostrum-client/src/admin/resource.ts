// What data providers need of a client.
import type { ListPage, Versioned } from '../index.ts';
import type { CallOptions } from '../transport.ts';

/** The id of a record, as frameworks have it. */
export type Key = string | number;

export interface AdminRecord {
  readonly id: string;
  readonly updatedAt: string;
}

export interface AdminPage extends ListPage<AdminRecord> {
  /** The authors of posts, if the query has `include`. */
  readonly users?: readonly object[];
}

/** The part of a resource that providers use. The resources of every client fit. */
export interface AdminResource {
  create(input: object): Promise<Versioned<AdminRecord>>;
  get(id: string, options?: CallOptions): Promise<Versioned<AdminRecord>>;
  list(query?: object, options?: CallOptions): Promise<AdminPage>;
  update(id: string, change: (record: AdminRecord) => object): Promise<Versioned<AdminRecord>>;
  delete(id: string, options?: object): Promise<void>;
}

/** The part of a client that providers use. */
export interface AdminClient {
  readonly url: string;
  readonly users: AdminResource;
  readonly posts: AdminResource;
}

export function resourceOf(client: AdminClient, name: string): AdminResource {
  if (name === 'users' || name === 'posts') return client[name];
  throw new TypeError(`Unknown resource "${name}". The resources are "users" and "posts".`);
}

/** Wraps a record for a framework. */
export async function dataOf(
  call: Promise<Versioned<AdminRecord>>,
): Promise<{ data: AdminRecord }> {
  return { data: (await call).record };
}
