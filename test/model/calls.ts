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

export interface ListCall {
  readonly filter: UserFilter & PostFilter;
  readonly order: Order<UserSort | PostSort>;
  readonly limit: number;
}

/** How a record is changed: `update` is by a function, which spreads the input over the record. */
export type Change = 'replace' | 'patch' | 'update';

/** The calls of the contract, made on the core or over HTTP. */
export interface Calls {
  create(resource: Resource, input: JsonObject, options: CreateOptions): Promise<Outcome>;
  get(resource: Resource, id: string): Promise<Outcome>;
  change(
    how: Change,
    resource: Resource,
    id: string,
    input: JsonObject,
    precondition: Precondition,
  ): Promise<Outcome>;
  /** @param options `posts` only where the resource is users */
  delete(resource: Resource, id: string, options: DeleteUserOptions): Promise<Outcome>;
  /** All pages, one after the other. */
  list(resource: Resource, call: ListCall): Promise<Outcome>;
}

export interface Page {
  readonly records: readonly JsonObject[];
  readonly total: number;
}

/** What a client learns of one call, whichever way it was made. Records are plain JSON. */
export type Outcome =
  | { readonly record: JsonObject; readonly version: number; readonly replayed?: boolean }
  | { readonly deleted: true }
  | { readonly pages: readonly Page[] }
  | {
      readonly error: string;
      /** `pointer code`. */
      readonly issues?: readonly string[];
      readonly posts?: number;
      readonly version?: number;
    };
