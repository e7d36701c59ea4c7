import type { Clock } from '../../ports/clock.ts';
import type { IdGenerator } from '../../ports/id-generator.ts';
import type { Store } from '../../ports/store.ts';
import { type Caller, checkCaller } from '../access.ts';
import type { JsonObject } from '../json.ts';
import type { CheckedSchema, OwnFieldsInput, OwnFieldsSchema } from '../own-fields.ts';
import type { Post, PostInput } from '../post.ts';
import { RecordModel } from '../record-model.ts';
import { postRules, userRules } from '../rules.ts';
import type { User, UserInput } from '../user.ts';
import { PostService } from './post-service.ts';
import { UserService } from './user-service.ts';

/**
 * The use cases: what every adapter that drives the core is given. Its types are those of the own
 * fields, of users and of posts: as they are stored, and as a caller gives them.
 */
export interface Rostrum<
  UserOwn extends object = JsonObject,
  UserOwnInput extends object = OwnFieldsInput,
  PostOwn extends object = JsonObject,
  PostOwnInput extends object = OwnFieldsInput,
> {
  readonly users: UserService<UserOwn, UserOwnInput>;
  readonly posts: PostService<PostOwn, PostOwnInput>;

  /**
   * The same services, bound to a caller: they do what its scopes allow and no more. A `Rostrum`
   * that is bound to nobody may do everything.
   *
   * @throws TypeError for a value that is no caller
   */
  as(caller: Caller): Rostrum<UserOwn, UserOwnInput, PostOwn, PostOwnInput>;
}

/** Schemas for a deployment's own fields; without one they may be anything. */
export interface OwnFieldsSchemas {
  readonly users?: OwnFieldsSchema | undefined;
  readonly posts?: OwnFieldsSchema | undefined;
}

/** The same, each with its types and held to what they can tell. */
export interface TypedSchemas<
  UO extends object,
  UI extends object,
  PO extends object,
  PI extends object,
> {
  readonly users?:
    | (OwnFieldsSchema<UI, UO> & CheckedSchema<UI, UO, keyof Known<UserInput>>)
    | undefined;
  readonly posts?:
    | (OwnFieldsSchema<PI, PO> & CheckedSchema<PI, PO, keyof Known<PostInput>>)
    | undefined;
}

/** Without the index signature of what is not known. */
type Known<T> = { [K in keyof T as string extends K ? never : K]: T[K] };

/** All that the core needs from outside. */
export interface RostrumParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly ownFields?: OwnFieldsSchemas | undefined;
}

export function assembleRostrum({ store, clock, ids, ownFields = {} }: RostrumParts): Rostrum {
  const { users, posts } = store;
  const userModel = new RecordModel<User>(userRules, ownFields.users);
  const postModel = new RecordModel<Post>(postRules, ownFields.posts);
  const boundTo = (caller?: Caller): Rostrum => ({
    users: new UserService({ model: userModel, repository: users, clock, ids, caller }),
    posts: new PostService({ model: postModel, repository: posts, users, clock, ids, caller }),
    as(bound) {
      checkCaller(bound); // Nobody may come to mean everybody.
      return boundTo(bound);
    },
  });
  return boundTo();
}
