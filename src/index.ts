/** The public core: what a service that embeds Rostrum imports. */
import { systemClock, uuidV7 } from './adapters/system/index.ts';
import type { CustomFieldsInput } from './domain/fields/custom-fields.ts';
import type { DeclaredFields } from './domain/fields/declared-fields.ts';
import type { CheckedDeclarations, CustomOf, FieldsOf } from './domain/lists/declared-types.ts';
import { checkOptions } from './domain/options.ts';
import type { HostRules } from './domain/records/host-rules.ts';
import type { JsonObject } from './domain/records/json.ts';
import type { Post } from './domain/records/post.ts';
import type { User } from './domain/records/user.ts';
import {
  type Around,
  assembleRostrum,
  type CustomFieldsSchemas,
  type Rostrum,
  type Services,
  type TypedSchemas,
} from './domain/services/rostrum.ts';
import type { Clock } from './ports/clock.ts';
import type { IdGenerator } from './ports/id-generator.ts';
import type { Store } from './ports/store.ts';

/** Replaceable parts, and the schemas of custom fields. */
export interface RostrumOptions<
  Schemas = CustomFieldsSchemas,
  Wrapped extends object = Services,
  Rules = HostRules,
> {
  /** The machine's clock when absent. */
  readonly clock?: Clock | undefined;
  /** UUIDs of version 7 when absent. */
  readonly ids?: IdGenerator | undefined;
  /** Custom fields may be any JSON when absent. */
  readonly customFields?: Schemas | undefined;
  /** The custom fields, or `email`, in the public view of users. Default: none. */
  readonly publicUserFields?: readonly string[] | undefined;
  /** Wraps the services, for every caller. */
  readonly around?: Around<Wrapped> | undefined;
  /** Rules about the content of records, for every caller and every interface. */
  readonly rules?: Rules | undefined;
}

/** Stops a type from being inferred from where a result goes, and keeps unions and hovers. */
type Exactly<T> = [T][T extends unknown ? 0 : never];

/**
 * Returns the services on a store. You open the store, and you close it.
 *
 * They are allowed to do everything. For code that acts for a caller, use `rostrum.as(caller)`.
 *
 * Custom fields are typed by their schemas and declarations, and are any JSON without one. Filters and sorts are typed by
 * what the store was opened with.
 *
 * @throws TypeError or RangeError for an unknown or invalid option
 */
export function createRostrum<
  UO extends object = JsonObject,
  UI extends object = CustomFieldsInput,
  PO extends object = JsonObject,
  PI extends object = CustomFieldsInput,
  Declared extends DeclaredFields = DeclaredFields,
>(
  store: Store<Declared> & CheckedDeclarations<Declared, Exactly<UO>, Exactly<PO>>,
  options: RostrumOptions<
    TypedSchemas<UO, UI, PO, PI>,
    Services<Exactly<UO>, Exactly<UI>, Exactly<PO>, Exactly<PI>, Exactly<Declared>>,
    HostRules<
      User<CustomOf<Exactly<UO>, FieldsOf<Exactly<Declared>, 'users'>>>,
      Post<CustomOf<Exactly<PO>, FieldsOf<Exactly<Declared>, 'posts'>>>
    >
  > = {},
): Rostrum<Exactly<UO>, Exactly<UI>, Exactly<PO>, Exactly<PI>, Exactly<Declared>> {
  checkOptions(options, ['clock', 'ids', 'customFields', 'publicUserFields', 'around', 'rules']);
  const { clock = systemClock, ids = uuidV7, customFields, publicUserFields } = options;
  const { around, rules } = options;
  if (customFields !== undefined) checkOptions(customFields, ['users', 'posts']);
  const schemas = customFields as CustomFieldsSchemas | undefined;
  // The schemas guarantee the types of custom fields.
  return assembleRostrum({
    store,
    clock,
    ids,
    customFields: schemas,
    publicUserFields,
    around: around as unknown as Around | undefined,
    rules: rules as HostRules | undefined,
  }) as unknown as Rostrum<Exactly<UO>, Exactly<UI>, Exactly<PO>, Exactly<PI>, Exactly<Declared>>;
}

export { type Caller, type CallerInput, type Scope, scopes } from './domain/access/caller.ts';
export {
  type AnyRostrumError,
  type ErrorCode,
  type ErrorDetails,
  isRostrumError,
  type Outcome,
  RostrumError,
} from './domain/errors.ts';
export type { CustomFieldsInput, CustomFieldsSchema } from './domain/fields/custom-fields.ts';
export type {
  DeclaredFields,
  DeclaredType,
  FieldDeclarations,
} from './domain/fields/declared-fields.ts';
export type { FieldCode, FieldIssue } from './domain/fields/issues.ts';
export { postRules, recordLimits, serverMade, userRules } from './domain/fields/rules.ts';
export type { Page, Position } from './domain/lists/list.ts';
export type { ListRequest } from './domain/lists/list-request.ts';
export type {
  Order,
  PostFilter,
  PostSort,
  TimeSpan,
  UserFilter,
  UserSort,
} from './domain/lists/search.ts';
export {
  type HostRule,
  type HostRules,
  type JudgedChange,
  refused,
} from './domain/records/host-rules.ts';
export type { Instant } from './domain/records/instant.ts';
export type { Json, JsonObject } from './domain/records/json.ts';
export type { Post, PostInput, PostPatch } from './domain/records/post.ts';
export type { Precondition, Versions } from './domain/records/precondition.ts';
export type { CreateOptions } from './domain/records/receipt.ts';
export type { Id, Version, Versioned } from './domain/records/record.ts';
export type { PublicUser, User, UserInput, UserPatch } from './domain/records/user.ts';
export type {
  Change,
  Created,
  DeleteUserOptions,
  PageWithAuthors,
  PostService,
  RecordService,
  Saved,
  UserService,
} from './domain/services/record-service.ts';
export type {
  AnyRostrum,
  AnyServices,
  Around,
  Rostrum,
  Services,
} from './domain/services/rostrum.ts';
export type { Clock } from './ports/clock.ts';
export type { IdGenerator } from './ports/id-generator.ts';
export type { Store } from './ports/store.ts';
export type { DeleteMode, Deletion } from './ports/user-repository.ts';
