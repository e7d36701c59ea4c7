import type { Clock } from '../../ports/clock.ts';
import type { IdGenerator } from '../../ports/id-generator.ts';
import type { Store } from '../../ports/store.ts';
import type { OwnFieldsSchema } from '../own-fields.ts';
import { postModel } from '../post.ts';
import { userModel } from '../user.ts';
import { PostService } from './post-service.ts';
import { UserService } from './user-service.ts';

/** The use cases: what every adapter that drives the core is given. */
export interface Rostrum {
  readonly users: UserService;
  readonly posts: PostService;
}

/** Schemas for a deployment's own fields; without one they may be anything. */
export interface OwnFieldsSchemas {
  readonly users?: OwnFieldsSchema | undefined;
  readonly posts?: OwnFieldsSchema | undefined;
}

/** All that the core needs from outside. */
export interface RostrumParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly ownFields?: OwnFieldsSchemas | undefined;
}

export function assembleRostrum({ store, clock, ids, ownFields = {} }: RostrumParts): Rostrum {
  const { users, posts } = store;
  return {
    users: new UserService({ model: userModel(ownFields.users), repository: users, clock, ids }),
    posts: new PostService({
      model: postModel(ownFields.posts),
      repository: posts,
      users,
      clock,
      ids,
    }),
  };
}
