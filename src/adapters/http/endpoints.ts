import type { Endpoint } from './endpoint.ts';
import { postListParameters, userListParameters } from './list-parameters.ts';
import { postHandlers } from './posts.ts';
import { endpointsOf } from './record-endpoints.ts';
import { schemas } from './schemas.ts';
import { userHandlers } from './users.ts';

/** Every endpoint of the API: what routes, validates and documents it. */
export const endpoints: readonly Endpoint[] = [
  ...endpointsOf({
    one: 'user',
    One: 'User',
    many: 'users',
    Many: 'Users',
    handlers: userHandlers,
    schemas: {
      record: schemas.user,
      input: schemas.userInput,
      patch: schemas.userPatch,
      page: schemas.users,
    },
    listParameters: userListParameters,
    deleteParameters: [
      {
        name: 'posts',
        description: "What becomes of the user's posts; without it, a user who has some stays.",
        schema: { type: 'string', enum: ['delete', 'keep'] },
        check: (value) =>
          value === 'delete' || value === 'keep' ? undefined : 'Must be "delete" or "keep".',
      },
    ],
    conflicts: ['email-taken'],
    deleteConflicts: ['user-has-posts'],
  }),
  ...endpointsOf({
    one: 'post',
    One: 'Post',
    many: 'posts',
    Many: 'Posts',
    handlers: postHandlers,
    schemas: {
      record: schemas.post,
      input: schemas.postInput,
      patch: schemas.postPatch,
      page: schemas.posts,
    },
    listParameters: postListParameters,
    deleteParameters: [],
    conflicts: [],
    deleteConflicts: [],
  }),
];
