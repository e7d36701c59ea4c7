import type { Caller } from '../access/caller.ts';
import type { CustomFieldsInput } from '../fields/custom-fields.ts';
import type { DeclaredFields } from '../fields/declared-fields.ts';
import type { FieldsOf } from '../lists/declared-types.ts';
import { checkSynchronous } from '../options.ts';
import type { JsonObject } from '../records/json.ts';
import type { PostService, UserService } from './record-service.ts';

export interface Services<
  UserCustom extends object = JsonObject,
  UserCustomInput extends object = CustomFieldsInput,
  PostCustom extends object = JsonObject,
  PostCustomInput extends object = CustomFieldsInput,
  Declared extends DeclaredFields = DeclaredFields,
> {
  readonly users: UserService<UserCustom, UserCustomInput, FieldsOf<Declared, 'users'>>;
  readonly posts: PostService<PostCustom, PostCustomInput, FieldsOf<Declared, 'posts'>>;
}

/**
 * Wraps the services: to audit calls, to measure them, or to add a rule of the host. A rule rejects a call
 * with `new RostrumError('refused', { reason })`, and clients see the reason. To clients, any other error is
 * an internal one.
 *
 * It runs once for the services without a caller, and once for each `as(caller)`, which is how HTTP gets
 * the services of a caller.
 *
 * @param caller undefined for the services without a caller
 * @param all the services without a caller and without a wrapper: what a rule looks up is not limited by
 * the caller's scopes
 * @returns the services to use instead
 */
export type Around<S extends object = Services> = (
  services: S,
  caller: Caller | undefined,
  all: S,
) => S;

/** @throws TypeError for a result that lacks a method: every call must go through the wrapper */
export function wrapServices(
  services: Services,
  around: Around,
  caller: Caller | undefined,
  all: Services,
): Services {
  if (typeof around !== 'function') throw new TypeError('The option "around" must be a function.');
  const result: unknown = around(services, caller, all);
  checkSynchronous(result, 'The option "around"');
  for (const name of ['users', 'posts'] as const) {
    const service = memberOf(result, name);
    const methods = Object.keys(services[name]);
    const missing = methods.find((method) => typeof memberOf(service, method) !== 'function');
    if (missing === undefined) continue;
    throw new TypeError(
      `The option "around" must return { users, posts }, and what it returned has no method ${name}.${missing}.`,
    );
  }
  const { users, posts } = result as Services;
  return { users, posts };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
