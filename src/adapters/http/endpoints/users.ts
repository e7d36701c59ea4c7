import { itself, readsWhole } from '../../../domain/access.ts';
import type { CustomFilterFields } from '../../../domain/declared-fields.ts';
import type { UserFilter, UserSort } from '../../../domain/search.ts';
import { deleteModes } from '../../../domain/services/user-service.ts';
import type { UserInput } from '../../../domain/user.ts';
import { preconditionOf } from '../headers/preconditions.ts';
import { sendPage } from '../lists/page.ts';
import { pageDescription, userListParameters } from '../lists/parameters.ts';
import { readListQuery, readUserFilter } from '../lists/query.ts';
import { logChange } from '../operator/log.ts';
import { oneOf } from '../validate.ts';
import type { Endpoint } from './endpoint.ts';
import {
  bodyProblems,
  changeHeaders,
  changeProblems,
  createOptions,
  idempotencyKey,
  ifMatch,
  ifNoneMatch,
  json,
  mergePatch,
  noContent,
  prefer,
  sendChanged,
  sendCreated,
  sendDeleted,
  sendRecord,
  uniqueProblems,
} from './records.ts';

const one = { description: 'The user.', schema: 'User', headers: ['ETag'] } as const;
const changed = { ...one, headers: ['ETag', 'Preference-Applied'] } as const;
const unchanged = { ...noContent, headers: ['ETag', 'Preference-Applied'] };

/** @param customFields the custom fields that lists can be filtered by */
export function userEndpoints(customFields: CustomFilterFields | undefined): readonly Endpoint[] {
  const endpoints: readonly Endpoint[] = [
    {
      method: 'GET',
      path: '/users',
      operation: 'listUsers',
      summary: 'List users',
      description: pageDescription,
      scopes: ['users:read', 'users:read:public'],
      query: userListParameters(customFields),
      headers: [],
      responses: {
        200: {
          description: 'A page of users.',
          schema: 'UserPage',
          headers: ['Link', 'X-Total-Count'],
        },
      },
      problems: ['invalid-cursor'],
      async handle(ctx) {
        const { caller, services } = ctx.state.rostrum;
        const list = readListQuery<UserFilter, UserSort>(
          'users',
          ctx,
          readUserFilter,
          customFields,
        );
        const { users } = services;
        const page = await (readsWhole(caller)
          ? users.list(list.request)
          : users.listPublic(list.request));
        sendPage(ctx, 'users', list, page);
      },
    },
    {
      method: 'POST',
      path: '/users',
      operation: 'createUser',
      summary: 'Create a user',
      description: 'Safe to repeat with an Idempotency-Key.',
      scopes: ['users:write'],
      query: [],
      headers: [idempotencyKey, prefer],
      body: { types: json, acceptHeader: 'Accept-Post', schema: 'UserInput' },
      responses: {
        201: {
          description: 'The user, or no body (`Prefer: return=minimal`).',
          schema: 'User',
          headers: ['ETag', 'Location', 'Idempotency-Replayed', 'Preference-Applied'],
        },
      },
      problems: [
        'invalid-header',
        ...bodyProblems,
        'idempotency-key-reused',
        'invalid-record',
        'refused',
        'email-taken',
        ...uniqueProblems(customFields),
      ],
      async handle(ctx) {
        const { body, services } = ctx.state.rostrum;
        const created = await services.users.create(body as UserInput, createOptions(ctx));
        sendCreated(ctx, 'users', created.record.id, created);
      },
    },
    {
      method: 'GET',
      path: '/users/:id',
      operation: 'getUser',
      summary: 'Get a user',
      description: 'With If-None-Match, the response is 304 if the user is at that version.',
      scopes: ['users:read', 'users:read:public', 'users:write:own'],
      query: [],
      headers: [ifMatch, ifNoneMatch],
      responses: {
        200: { ...one, publicSchema: 'PublicUser' },
        304: { description: 'Not modified.', headers: ['ETag'] },
      },
      problems: ['invalid-header', 'user-not-found', 'version-mismatch'],
      async handle(ctx) {
        const { id = '' } = ctx.params;
        const { caller, services } = ctx.state.rostrum;
        if (readsWhole(caller, id)) sendRecord(ctx, await services.users.get(id));
        else sendRecord(ctx, await services.users.getPublic(id), 'public');
      },
    },
    {
      method: 'PUT',
      path: '/users/:id',
      operation: 'replaceUser',
      summary: 'Replace a user',
      description: 'Removes the fields that are left out. Never creates a user.',
      scopes: ['users:write', 'users:write:own'],
      query: [],
      headers: changeHeaders,
      body: { types: json, acceptHeader: 'Accept', schema: 'UserInput' },
      responses: { 200: changed, 204: unchanged },
      problems: [
        ...bodyProblems,
        'user-not-found',
        ...changeProblems,
        'invalid-record',
        'email-taken',
        ...uniqueProblems(customFields),
      ],
      async handle(ctx) {
        const { body, services } = ctx.state.rostrum;
        const { id = '' } = ctx.params;
        const user = await services.users.replace(id, body as UserInput, preconditionOf(ctx));
        sendChanged(ctx, 'users', user);
      },
    },
    {
      method: 'PATCH',
      path: '/users/:id',
      operation: 'patchUser',
      summary: 'Change some fields of a user',
      description: 'A JSON merge patch (RFC 7396): absent fields stay, and null removes a field.',
      scopes: ['users:write', 'users:write:own'],
      query: [],
      headers: changeHeaders,
      body: { types: mergePatch, acceptHeader: 'Accept-Patch', schema: 'UserPatch' },
      responses: { 200: changed, 204: unchanged },
      problems: [
        ...bodyProblems,
        'user-not-found',
        ...changeProblems,
        'invalid-record',
        'email-taken',
        ...uniqueProblems(customFields),
      ],
      async handle(ctx) {
        const { body, services } = ctx.state.rostrum;
        const { id = '' } = ctx.params;
        const user = await services.users.patch(id, body, preconditionOf(ctx));
        sendChanged(ctx, 'users', user);
      },
    },
    {
      method: 'DELETE',
      path: '/users/:id',
      operation: 'deleteUser',
      summary: 'Delete a user',
      description: 'Cannot be undone.',
      scopes: ['users:write', 'users:write:own'],
      query: [
        {
          name: 'posts',
          description: "What to do with the user's posts. If absent, a user with posts is kept.",
          ...oneOf(deleteModes.filter((mode) => mode !== 'refuse')),
        },
      ],
      headers: changeHeaders,
      responses: {
        200: { description: 'Deleted.', schema: 'Deleted', headers: ['Preference-Applied'] },
        204: noContent,
      },
      problems: ['user-not-found', ...changeProblems, 'user-has-posts'],
      async handle(ctx) {
        const { query, services } = ctx.state.rostrum;
        const { id = '' } = ctx.params;
        const [given] = query.get('posts') ?? [];
        const posts = deleteModes.find((mode) => mode === given) ?? 'refuse';
        await services.users.delete(id, { posts, ...preconditionOf(ctx) });
        logChange(ctx, { collection: 'users', id, posts });
        sendDeleted(ctx);
      },
    },
  ];
  // Before `/users/:id`, which matches `/users/me` as well.
  return [...ownEndpoints(endpoints), ...endpoints];
}

/** The path of the caller's own user. */
export const ownPath = `/users/${itself}`;

/** The endpoints of the caller's own user: those of any user, but PUT creates the user as well. */
function ownEndpoints(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const ofUser = endpoints.filter(({ path }) => path === '/users/:id');
  return ofUser.map((endpoint) => {
    const { method, operation, summary, responses } = endpoint;
    const own = {
      ...endpoint,
      path: ownPath,
      operation: operation.replace('User', 'Me'),
      summary: summary.replace('a user', "the caller's own user"),
    };
    if (method !== 'PUT') return own;
    return {
      ...own,
      operation: 'putMe',
      summary: "Create or replace the caller's own user",
      description:
        "A new user's id is the subject of the credentials. `If-Match` only replaces, `If-None-Match: *` only creates.",
      responses: {
        ...responses,
        201: { ...changed, headers: [...changed.headers, 'Location'] },
      },
      async handle(ctx) {
        const { body, services } = ctx.state.rostrum;
        const saved = await services.users.saveItself(body as UserInput, preconditionOf(ctx));
        if (saved.created) sendCreated(ctx, 'users', ctx.params.id ?? '', saved);
        else sendChanged(ctx, 'users', saved);
      },
    };
  });
}
