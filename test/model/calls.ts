import type { JsonObject } from '../../src/domain/json.ts';
import type { PostSort, UserSort } from '../../src/domain/page.ts';
import type { Outcome } from './outcome.ts';

export type Kind = 'users' | 'posts';

/** Versions that a change is allowed at, and not at. */
export interface Condition {
  readonly only?: readonly number[] | 'any';
  readonly except?: readonly number[] | 'any';
}

export interface ListCall {
  readonly kind: Kind;
  readonly sort: UserSort | PostSort;
  readonly descending: boolean;
  readonly limit: number;
  readonly ids?: readonly string[];
  readonly name?: string;
  readonly email?: string;
  readonly title?: string;
  readonly authorId?: string | null;
  /** Milliseconds. */
  readonly createdFrom?: number;
  readonly updatedBefore?: number;
}

/** The calls of the contract: what the model, the core and the HTTP API all answer. */
export interface Calls {
  create(kind: Kind, input: JsonObject, key?: string): Promise<Outcome>;
  get(kind: Kind, id: string): Promise<Outcome>;
  replace(kind: Kind, id: string, input: JsonObject, condition: Condition): Promise<Outcome>;
  patch(kind: Kind, id: string, patch: JsonObject, condition: Condition): Promise<Outcome>;
  deleteUser(
    id: string,
    posts: 'refuse' | 'delete' | 'keep',
    condition: Condition,
  ): Promise<Outcome>;
  deletePost(id: string, condition: Condition): Promise<Outcome>;
  /** All pages, one after the other. */
  list(call: ListCall): Promise<Outcome>;
}
