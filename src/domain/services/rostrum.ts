import type { Clock } from '../../ports/clock.ts';
import type { IdGenerator } from '../../ports/id-generator.ts';
import type { Creation } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';
import { eventsSeen } from '../access.ts';
import { type Caller, type CallerInput, toCaller } from '../caller.ts';
import type { CheckedSchema, CustomFieldsInput, CustomFieldsSchema } from '../custom-fields.ts';
import { type AnyCustomFilter, type CustomFilters, checkCustomFilters } from '../custom-filters.ts';
import type { JsonObject } from '../json.ts';
import type { Page, PostFilter, PostSort, UserFilter, UserSort } from '../list.ts';
import type { ListRequest } from '../list-request.ts';
import type { Post, PostInput } from '../post.ts';
import type { Precondition } from '../precondition.ts';
import type { EntityFields, Id, Versioned } from '../record.ts';
import { RecordModel } from '../record-model.ts';
import { postRules, userRules } from '../rules.ts';
import { checkPublicUserFields, type User, type UserInput } from '../user.ts';
import { type EventService, eventService } from './event-service.ts';
import { EventTail } from './event-tail.ts';
import type { PageWithAuthors, PostService } from './post-service.ts';
import { PostUseCases } from './post-use-cases.ts';
import type { Change, CreateOptions } from './record-service.ts';
import { type Around, type Services, wrapped } from './services.ts';
import type { Saved, UserService } from './user-service.ts';
import { UserUseCases } from './user-use-cases.ts';

/**
 * The use cases: what every adapter that drives the core is given. Its types are those of custom
 * fields, of users and of posts: as they are stored, and as a caller gives them.
 */
export interface Rostrum<
  UserCustom extends object = JsonObject,
  UserCustomInput extends object = CustomFieldsInput,
  PostCustom extends object = JsonObject,
  PostCustomInput extends object = CustomFieldsInput,
  Filters extends CustomFilters = CustomFilters,
> extends Services<UserCustom, UserCustomInput, PostCustom, PostCustomInput, Filters> {
  readonly events: EventService;
  /** The custom fields that lists can be filtered by. */
  readonly customFilters: CustomFilters;

  /**
   * The same services, bound to a caller: they do what its scopes allow, and raise `forbidden` for
   * everything else. A `Rostrum` without a caller may do everything.
   *
   * @throws TypeError for a value that is no caller
   */
  as(
    caller: CallerInput,
  ): Rostrum<UserCustom, UserCustomInput, PostCustom, PostCustomInput, Filters>;
}

/** A service of any custom fields. */
export interface AnyService<Filter, Sort extends string> {
  create(input: object, options?: CreateOptions): Promise<Creation<EntityFields>>;
  get(id: Id): Promise<Versioned<EntityFields>>;
  list(request?: ListRequest<Filter, Sort>): Promise<Page<EntityFields>>;
  all(request?: Omit<ListRequest<Filter, Sort>, 'total'>): AsyncGenerator<Versioned<EntityFields>>;
  replace(id: Id, input: object, precondition?: Precondition): Promise<Change<EntityFields>>;
  patch(id: Id, patch: object, precondition?: Precondition): Promise<Change<EntityFields>>;
  /** The change is of the service's own types: one that is given can be handed on. */
  update(id: Id, change: never, precondition?: Precondition): Promise<Change<EntityFields>>;
}

/** {@link Services} whatever their custom fields are: `<S extends AnyServices>` in a wrapper of any. */
export interface AnyServices {
  readonly users: AnyService<UserFilter<AnyCustomFilter>, UserSort> &
    Pick<UserService, 'delete'> & {
      getPublic(id: Id): Promise<Versioned<unknown>>;
      listPublic(
        request?: ListRequest<UserFilter<AnyCustomFilter>, UserSort>,
      ): Promise<Page<unknown>>;
      saveItself(input: object, precondition?: Precondition): Promise<Saved<EntityFields>>;
    };
  readonly posts: AnyService<PostFilter<AnyCustomFilter>, PostSort> &
    Pick<PostService, 'delete'> & {
      listWithAuthors(
        request?: ListRequest<PostFilter<AnyCustomFilter>, PostSort>,
      ): Promise<PageWithAuthors<EntityFields>>;
    };
}

/** A {@link Rostrum} whatever its custom fields are, for code that works with any. */
export interface AnyRostrum extends AnyServices {
  readonly events: EventService;
  readonly customFilters: CustomFilters;
  as(caller: CallerInput): AnyRostrum;
}

/** Schemas for a deployment's custom fields; without one they may be anything. */
export interface CustomFieldsSchemas {
  readonly users?: CustomFieldsSchema | undefined;
  readonly posts?: CustomFieldsSchema | undefined;
}

/** The same, each with its types and held to what they can tell. */
export interface TypedSchemas<
  UO extends object,
  UI extends object,
  PO extends object,
  PI extends object,
> {
  readonly users?:
    | (CustomFieldsSchema<UI, UO> & CheckedSchema<UI, UO, keyof Known<UserInput>>)
    | undefined;
  readonly posts?:
    | (CustomFieldsSchema<PI, PO> & CheckedSchema<PI, PO, keyof Known<PostInput>>)
    | undefined;
}

/** Without the index signature of what is not known. */
type Known<T> = { [K in keyof T as string extends K ? never : K]: T[K] };

/** All that the core needs from outside. */
export interface RostrumParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly customFields?: CustomFieldsSchemas | undefined;
  /** Custom fields of users, or `email`, that their public view has; none when absent. */
  readonly publicUserFields?: readonly string[] | undefined;
  /** Wraps the services, once for each caller. */
  readonly around?: Around | undefined;
}

/** @throws TypeError or RangeError for parts or custom filters that cannot be */
export function assembleRostrum(parts: RostrumParts): Rostrum {
  const { store, clock, ids, customFields = {}, publicUserFields = [], around } = parts;
  checkParts(store, clock, ids, customFields);
  const { users, posts, customFilters = {} } = store;
  checkCustomFilters(customFilters);
  checkPublicUserFields(publicUserFields);
  const filters = { users: { ...customFilters.users }, posts: { ...customFilters.posts } };
  const userModel = new RecordModel<User>(userRules, customFields.users);
  const postModel = new RecordModel<Post>(postRules, customFields.posts);
  const tail = store.events && new EventTail(store.events);
  const boundTo = (caller?: Caller): Rostrum => {
    const shared = { clock, ids, caller };
    const ofUsers = new UserUseCases({
      ...{ ...shared, model: userModel, repository: users, customFilters: filters.users },
      publicFields: publicUserFields,
    });
    const ofPosts = new PostUseCases({
      ...{ ...shared, model: postModel, repository: posts, customFilters: filters.posts, users },
      authors: (ids, signal) => ofUsers.authors(ids, signal),
    });
    const services = { users: ofUsers.service(), posts: ofPosts.service() };
    return {
      ...(around === undefined ? services : wrapped(services, around, caller)),
      events: eventService(tail, eventsSeen(caller)),
      customFilters: filters,
      as(bound) {
        return boundTo(toCaller(bound)); // A missing caller must not come to mean every right.
      },
    };
  };
  return boundTo();
}

/** @throws TypeError for a part that cannot be one: it must not fail at the first call only */
function checkParts(
  store: unknown,
  clock: unknown,
  ids: unknown,
  customFields: CustomFieldsSchemas,
): void {
  const has = (part: unknown, name: string, type: string): boolean =>
    typeof part === 'object' && part !== null && typeof Reflect.get(part, name) === type;
  if (!has(store, 'users', 'object') || !has(store, 'posts', 'object')) {
    throw new TypeError('The store must have repositories of users and posts.');
  }
  if (!has(clock, 'now', 'function')) throw new TypeError('The clock must have a method "now".');
  if (!has(ids, 'next', 'function')) {
    throw new TypeError('The id generator must have a method "next".');
  }
  for (const [name, schema] of Object.entries(customFields)) {
    if (schema === undefined || has(schema['~standard'], 'validate', 'function')) continue;
    throw new TypeError(`The schema of custom fields of ${name} is no Standard Schema.`);
  }
}
