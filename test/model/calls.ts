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
  readonly filter: UserFilter<unknown> & PostFilter<unknown>;
  readonly order: Order<UserSort | PostSort>;
  readonly limit: number;
}

/** How a record is changed. `update` uses a function that spreads the input over the record. */
export type Change = 'replace' | 'patch' | 'update';

/** The operations, called on the core or over HTTP. */
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
  /** @param options with `posts` only for users */
  delete(resource: Resource, id: string, options: DeleteUserOptions): Promise<Outcome>;
  /** Lists all pages. */
  list(resource: Resource, call: ListCall): Promise<Outcome>;
}

export interface Page {
  readonly records: readonly JsonObject[];
  readonly total: number;
}

/** The result of a call, in the same form for the core and HTTP. Records are plain JSON. */
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
