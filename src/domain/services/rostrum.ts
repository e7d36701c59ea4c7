import type { Clock } from '../../ports/clock.ts';
import type { IdGenerator } from '../../ports/id-generator.ts';
import type { Store } from '../../ports/store.ts';
import { Access, defaultOrder, isId, visibleEventCollections } from '../access/access.ts';
import { type Caller, type CallerInput, toCaller } from '../access/caller.ts';
import type {
  CheckedSchema,
  CustomFieldsInput,
  CustomFieldsSchema,
  Named,
} from '../fields/custom-fields.ts';
import { checkDeclaredFields, type DeclaredFields } from '../fields/declared-fields.ts';
import { postRules, userRules } from '../fields/rules.ts';
import type { FieldsOf } from '../lists/declared-types.ts';
import { checkSynchronous } from '../options.ts';
import { checkHostRules, type HostRules } from '../records/host-rules.ts';
import { type Instant, isInstant } from '../records/instant.ts';
import type { JsonObject } from '../records/json.ts';
import type { Post, PostInput } from '../records/post.ts';
import type { Id } from '../records/record.ts';
import { RecordModel } from '../records/record-model.ts';
import { checkPublicUserFields, type User, type UserInput } from '../records/user.ts';
import { type EventService, eventService } from './event-service.ts';
import { EventTail } from './event-tail.ts';
import { type PostContext, postService } from './posts.ts';
import type { PostService, UserService } from './record-service.ts';
import { publicUsers, type UserContext, userService } from './users.ts';

/** The use cases of users and of posts. */
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

/**
 * The use cases, for every adapter that drives the core. The type parameters are the custom fields of users
 * and of posts: as they are stored, and as a caller passes them.
 */
export interface Rostrum<
  UserCustom extends object = JsonObject,
  UserCustomInput extends object = CustomFieldsInput,
  PostCustom extends object = JsonObject,
  PostCustomInput extends object = CustomFieldsInput,
  Declared extends DeclaredFields = DeclaredFields,
> extends Services<UserCustom, UserCustomInput, PostCustom, PostCustomInput, Declared> {
  readonly events: EventService;
  readonly declaredFields: DeclaredFields;

  /**
   * Returns the same services, bound to a caller: they do what its scopes allow, and throw `forbidden` for
   * everything else. A `Rostrum` without a caller is allowed to do everything.
   *
   * @throws TypeError for a value that isn't a caller
   */
  as(
    caller: CallerInput,
  ): Rostrum<UserCustom, UserCustomInput, PostCustom, PostCustomInput, Declared>;
}

/** {@link Services} with any custom fields, for a wrapper: `<S extends AnyServices>`. */
export type AnyServices = Services<object, object, object, object>;

/** A {@link Rostrum} with any custom fields. */
export type AnyRostrum = Rostrum<object, object, object, object>;

/** Schemas for a deployment's custom fields; without one they can be anything. */
export interface CustomFieldsSchemas {
  readonly users?: CustomFieldsSchema | undefined;
  readonly posts?: CustomFieldsSchema | undefined;
}

/** The same schemas, with types that the compiler checks. */
export interface TypedSchemas<
  UO extends object,
  UI extends object,
  PO extends object,
  PI extends object,
> {
  readonly users?:
    | (CustomFieldsSchema<UI, UO> & CheckedSchema<UI, UO, keyof Named<UserInput>>)
    | undefined;
  readonly posts?:
    | (CustomFieldsSchema<PI, PO> & CheckedSchema<PI, PO, keyof Named<PostInput>>)
    | undefined;
}

/** The dependencies of the core. */
export interface RostrumParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly customFields?: CustomFieldsSchemas | undefined;
  /** The fields of the public view of users: custom fields, or `email`. By default none. */
  readonly publicUserFields?: readonly string[] | undefined;
  /** Wraps the services, once for each caller. */
  readonly around?: Around | undefined;
  /** The host's rules about the content of records. */
  readonly rules?: HostRules | undefined;
}

/** @throws TypeError or RangeError for parts or declared fields that cannot be used */
export function assembleRostrum(parts: RostrumParts): Rostrum {
  const { store, clock, ids, customFields = {}, publicUserFields = [], around, rules = {} } = parts;
  // A promise of a store, for example: otherwise it would fail only at the first call.
  if (!store?.users || !store.posts)
    throw new TypeError('The store must have repositories of users and posts.');
  const { declaredFields = {} } = store;
  checkDeclaredFields(declaredFields);
  checkPublicUserFields(publicUserFields);
  checkHostRules(rules);
  const declared = { users: { ...declaredFields.users }, posts: { ...declaredFields.posts } };
  const shared = { now: checkedClock(clock), newId: checkedIds(ids) };
  const users = {
    ...shared,
    collection: 'users',
    repository: store.users,
    declared: declared.users,
    model: new RecordModel<User>(userRules, customFields.users, declared.users),
    rule: rules.users,
    publicFields: ['id', 'name', 'createdAt', ...publicUserFields],
    access: undefined,
  } as const satisfies UserContext;
  const posts = {
    ...shared,
    collection: 'posts',
    repository: store.posts,
    declared: declared.posts,
    model: new RecordModel<Post>(postRules, customFields.posts, declared.posts),
    rule: rules.posts,
    authors: (ids, signal) => publicUsers(users, ids, signal),
    access: undefined,
  } as const satisfies PostContext;
  const all = { users: userService(users), posts: postService(posts) };
  const tail = store.events && new EventTail(store.events);

  const boundTo = (caller?: Caller): Rostrum => {
    const services =
      caller === undefined
        ? all
        : {
            users: userService({ ...users, access: new Access(caller, 'users') }),
            posts: postService({
              ...posts,
              access: new Access(caller, 'posts'),
              defaultOrder: defaultOrder('posts', caller),
            }),
          };
    const wrapped = around === undefined ? services : around(services, caller, all);
    if (!wrapped?.users || !wrapped.posts) {
      throw new TypeError('The option "around" must return { users, posts }.');
    }
    return {
      users: wrapped.users,
      posts: wrapped.posts,
      events: eventService(tail, visibleEventCollections(caller)),
      declaredFields: declared,
      as(input) {
        return boundTo(toCaller(input)); // Checked, so that a missing caller does not get every right.
      },
    };
  };
  return boundTo();
}

/** Returns the clock's time, checked. The last reading is kept: a check costs 0.7 µs. */
function checkedClock(clock: Clock): () => Instant {
  let last: Instant | undefined;
  return () => {
    const now = clock.now();
    if (last !== undefined && now === last) return now;
    checkSynchronous(now, 'The clock');
    if (!isInstant(now)) {
      throw new TypeError('The clock must return an instant like 2026-11-21T09:30:00.000Z.');
    }
    last = now;
    return now;
  };
}

function checkedIds(ids: IdGenerator): () => Id {
  return () => {
    const id = ids.next();
    if (typeof id === 'string' && isId(id)) return id;
    throw new TypeError(
      'The id generator must return strings of 1 to 255 characters, none of them a control character, other than ".", ".." and "me".',
    );
  };
}
