import type { DeclaredFields } from '../../../domain/fields/declared-fields.ts';
import type { Endpoint } from '../endpoint.ts';
import { eventsEndpoint } from './events.ts';
import { postEndpoints } from './posts.ts';
import { userEndpoints } from './users.ts';

/** Returns every endpoint of the API. */
export function endpointsFor({ users, posts }: DeclaredFields): readonly Endpoint[] {
  return [...userEndpoints(users), ...postEndpoints(posts), eventsEndpoint()];
}
