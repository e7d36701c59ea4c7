import type { Caller } from '../caller.ts';
import type { CustomFieldsInput } from '../custom-fields.ts';
import type { CustomFilters, FieldsOf } from '../custom-filters.ts';
import type { JsonObject } from '../json.ts';
import { checkSynchronous } from '../options.ts';
import type { PostService } from './post-service.ts';
import type { UserService } from './user-service.ts';

/** The use cases of users and of posts. */
export interface Services<
  UserCustom extends object = JsonObject,
  UserCustomInput extends object = CustomFieldsInput,
  PostCustom extends object = JsonObject,
  PostCustomInput extends object = CustomFieldsInput,
  Filters extends CustomFilters = CustomFilters,
> {
  readonly users: UserService<UserCustom, UserCustomInput, FieldsOf<Filters, 'users'>>;
  readonly posts: PostService<PostCustom, PostCustomInput, FieldsOf<Filters, 'posts'>>;
}

/**
 * Puts something around the calls of the services: an audit, a measure, a rule of a deployment.
 *
 * It runs once for the services that may do everything, and again for each `as(caller)`, which is how
 * HTTP makes those of a caller.
 *
 * @param caller undefined for the services that may do everything
 * @returns the services to use in place of these
 */
export type Around<S extends object = Services> = (services: S, caller: Caller | undefined) => S;

const shared = ['create', 'get', 'list', 'all', 'replace', 'patch', 'update', 'delete'];
const methods = {
  users: [...shared, 'getPublic', 'listPublic', 'saveItself'],
  posts: [...shared, 'listWithAuthors'],
};

/** @throws TypeError for a result without one of the methods: no call may pass it by unseen */
export function wrapped(services: Services, around: Around, caller: Caller | undefined): Services {
  if (typeof around !== 'function') throw new TypeError('The option "around" must be a function.');
  const result: unknown = around(services, caller);
  checkSynchronous(result, 'The option "around"');
  for (const name of ['users', 'posts'] as const) {
    const service = memberOf(result, name);
    const missing = methods[name].find((method) => typeof memberOf(service, method) !== 'function');
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
