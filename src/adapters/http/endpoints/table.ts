import { itself, readsWhole, subjectOf } from '../../../domain/access.ts';
import type { CustomFilters } from '../../../domain/custom-filters.ts';
import type { PostFilter, PostSort, UserFilter, UserSort } from '../../../domain/search.ts';
import { deleteModes } from '../../../domain/services/user-service.ts';
import type { Endpoint } from '../endpoint.ts';
import { customParameters } from '../lists/custom-filters.ts';
import { listHandler, type ReadPage } from '../lists/handler.ts';
import { postListParameters, userListParameters } from '../lists/parameters.ts';
import { readPostFilter, readUserFilter } from '../lists/query.ts';
import type { ProblemCode } from '../problems/catalogue.ts';
import { postHandlers, userHandlers } from '../records/handlers.ts';
import { oneOf } from '../request/parameter-values.ts';
import { eventsEndpoint } from './events.ts';
import { endpointsOf } from './record-endpoints.ts';

/** What any request may end in; `path-not-found` and `method-not-allowed` are no endpoint's. */
export const commonProblems: readonly ProblemCode[] = [
  'bad-request',
  'invalid-path',
  'invalid-query',
  'invalid-header',
  'unauthenticated',
  'forbidden',
  'request-timeout',
  'uri-too-long',
  'expectation-failed',
  'misdirected-request',
  'too-many-requests',
  'headers-too-large',
  'internal',
  'store-unavailable',
  'overloaded',
  'credentials-unavailable',
  'shutting-down',
];

/** A page of users, as much of them as the caller may see. */
const readUsers: ReadPage<UserFilter, UserSort> = async (
  { caller, rostrum: { users } },
  request,
) => (readsWhole(caller) ? users.list(request) : users.listPublic(request));

const readPosts: ReadPage<PostFilter, PostSort> = async (exchange, request) => {
  const { caller, query, rostrum } = exchange;
  const { filter } = request;
  // The one author that is not the same for every caller.
  const own = filter?.authorId === itself && { filter: { ...filter, authorId: subjectOf(caller) } };
  const asked = { ...request, ...own };
  return query.has('include') ? rostrum.posts.listWithAuthors(asked) : rostrum.posts.list(asked);
};

/** Every endpoint of the API, as data: what routes, validates and documents it. */
export function endpointsFor({ users, posts }: CustomFilters): readonly Endpoint[] {
  const ofUsers = endpointsOf({
    one: 'user',
    handlers: { ...userHandlers, list: listHandler('users', readUsers, readUserFilter, users) },
    listParameters: [...userListParameters, ...customParameters(users)],
    deleteParameters: [
      {
        name: 'posts',
        description: "What becomes of the user's posts; without it, a user who has some stays.",
        ...oneOf(deleteModes.filter((mode) => mode !== 'refuse')),
      },
    ],
    conflicts: ['email-taken'],
    deleteConflicts: ['user-has-posts'],
  });
  const isOfAll = ({ path }: Endpoint) => path === '/users';
  return [
    ...ofUsers.filter(isOfAll),
    // In front of `/users/:id`, which its path is like.
    ...ownEndpoints(ofUsers),
    ...ofUsers.filter((endpoint) => !isOfAll(endpoint)),
    ...endpointsOf({
      one: 'post',
      handlers: { ...postHandlers, list: listHandler('posts', readPosts, readPostFilter, posts) },
      listParameters: [...postListParameters, ...customParameters(posts)],
      deleteParameters: [],
      conflicts: [],
      deleteConflicts: [],
    }),
    eventsEndpoint,
  ];
}

/** The path of the user that the caller is. */
export const ownPath = `/users/${itself}`;

/** The endpoints of one user, for the caller itself. PUT makes the user where there is none. */
function ownEndpoints(ofUsers: readonly Endpoint[]): readonly Endpoint[] {
  return ofUsers
    .filter(({ path }) => path === '/users/:id')
    .map((endpoint) => {
      const { method, operation, responses } = endpoint;
      const own = {
        ...endpoint,
        path: ownPath,
        operation: operation.replace('User', 'Me'),
        summary:
          endpoint.summary.replace('One user', 'The user').replace('a user', 'the user') +
          ' that the caller is',
      };
      if (method !== 'PUT') return own;
      const [record] = [responses[200]];
      return {
        ...own,
        operation: 'putMe',
        summary: 'Replaces or makes the user that the caller is',
        description:
          "A new user's id is the subject of the credentials. If-Match only replaces, If-None-Match: * only makes.",
        responses: {
          ...responses,
          201: {
            ...record,
            description: 'The new user.',
            headers: [...(record?.headers ?? []), 'Location'],
          },
        },
        handle: userHandlers.save,
      };
    });
}

/** The endpoints of a deployment that has declared no custom filters. */
export const endpoints = endpointsFor({});
