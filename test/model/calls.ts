import type {
  CreateOptions,
  DeleteUserOptions,
  JsonObject,
  Order,
  PostFilter,
  PostSort,
  Precondition,
  UserFilter,
  UserSort,
} from '../../src/index.ts';

export type Resource = 'users' | 'posts';

export type Filter = UserFilter & PostFilter;
export interface ListCall {
  readonly filter: Filter;
  readonly order: Order<UserSort | PostSort>;
  readonly limit: number;
}

/** How a record is changed: `update` is by a function, which spreads the input over the record. */
export type Change = 'replace' | 'patch' | 'update';

/** The calls of the contract: the model, the core and the HTTP API each make all of them. */
export interface Calls<T> {
  create(resource: Resource, input: JsonObject, options: CreateOptions): T;
  get(resource: Resource, id: string): T;
  change(
    how: Change,
    resource: Resource,
    id: string,
    input: JsonObject,
    precondition: Precondition,
  ): T;
  /** @param options `posts` only where the resource is users */
  delete(resource: Resource, id: string, options: DeleteUserOptions): T;
  /** All pages, one after the other. */
  list(resource: Resource, call: ListCall): T;
}

export interface Page {
  readonly records: readonly JsonObject[];
  readonly total: number;
}

export interface Failure {
  readonly error: string;
  /** `pointer code`, sorted. */
  readonly issues?: readonly string[];
  readonly posts?: number;
  readonly version?: number;
}

/** What a caller learns of one call, whichever way it was made. Records are plain JSON. */
export type Outcome =
  | { readonly record: JsonObject; readonly version: number; readonly replayed?: boolean }
  | { readonly deleted: true }
  | { readonly pages: readonly Page[] }
  | Failure;
