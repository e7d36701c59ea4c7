import { canReadInFull, selfAlias, subjectOf } from '../../../domain/access/access.ts';
import type { FieldDeclarations } from '../../../domain/fields/declared-fields.ts';
import type { UserFilter, UserSort } from '../../../domain/lists/search.ts';
import type { UserInput } from '../../../domain/records/user.ts';
import { deleteModes } from '../../../ports/user-repository.ts';
import type { Handler, Middleware } from '../context.ts';
import { type Endpoint, oneOf } from '../endpoint.ts';
import { sendPage } from '../lists/page.ts';
import { pageDescription, userListParameters } from '../lists/parameters.ts';
import { readListQuery, readUserFilter } from '../lists/query.ts';
import { logChange } from '../operator/log.ts';
import { preconditionOf, publicTag } from '../preconditions.ts';
import {
  changeHeaders,
  createOptions,
  idempotencyKey,
  ifMatch,
  ifNoneMatch,
  prefer,
  problemsOf,
  responsesOf,
  updateEndpoints,
} from './records.ts';
import { sendChanged, sendCreated, sendDeleted, sendRecord } from './respond.ts';

const responses = responsesOf('User');

/** What PUT, PATCH and DELETE of a user have in common. */
const change = {
  path: '/users/:id',
  scopes: ['users:write', 'users:write:own'],
  headers: changeHeaders,
} as const;

/** @param declared the declared fields of users */
export function userEndpoints(declared: FieldDeclarations | undefined): readonly Endpoint[] {
  const problems = problemsOf('users', declared);
  const endpoints: readonly Endpoint[] = [
    {
      method: 'GET',
      path: '/users',
      operation: 'listUsers',
      summary: 'List users',
      description: pageDescription,
      scopes: ['users:read', 'users:read:public'],
      query: userListParameters(declared),
      isList: true,
      responses: responses.listed,
      problems: ['invalid-cursor'],
      async handle(ctx) {
        const { caller, services } = ctx.state.rostrum;
        const list = readListQuery<UserFilter, UserSort>('users', ctx, readUserFilter, declared);
        const { users } = services;
        const page = await (canReadInFull(caller)
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
      headers: [idempotencyKey, prefer],
      body: 'UserInput',
      responses: responses.created,
      problems: problems.created,
      async handle(ctx) {
        const { services } = ctx.state.rostrum;
        const body = ctx.request.body as UserInput;
        const created = await services.users.create(body, createOptions(ctx));
        sendCreated(ctx, 'users', created.id, created);
      },
    },
    {
      method: 'GET',
      path: '/users/:id',
      operation: 'getUser',
      summary: 'Get a user',
      description: 'With If-None-Match, the response is 304 if the user is at that version.',
      scopes: ['users:read', 'users:read:public', 'users:write:own'],
      headers: [ifMatch, ifNoneMatch],
      responses: {
        ...responses.found,
        200: { ...responses.found[200], publicSchema: 'PublicUser' },
      },
      problems: ['user-not-found', 'version-mismatch'],
      async handle(ctx) {
        const { id = '' } = ctx.params;
        const { caller, services } = ctx.state.rostrum;
        if (canReadInFull(caller, id)) return sendRecord(ctx, await services.users.get(id));
        const shown = await services.users.getPublic(id);
        sendRecord(ctx, shown, publicTag(shown.version, shown.json));
      },
    },
    ...updateEndpoints('users', change, 'User', problems.changed), // PUT and PATCH /users/:id
    {
      ...change,
      method: 'DELETE',
      operation: 'deleteUser',
      summary: 'Delete a user',
      description: 'Cannot be undone.',
      callerNote:
        'With "posts", it also needs posts:write, or posts:write:own for the caller\'s own user.',
      query: [
        {
          name: 'posts',
          description:
            "What to do with the user's posts. If omitted, a user with posts isn't deleted (409).",
          ...oneOf(deleteModes.filter((mode) => mode !== 'refuse')),
        },
      ],
      responses: responses.deleted,
      problems: [...problems.deleted, 'user-has-posts'],
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
  return [...meEndpoints(endpoints), ...endpoints];
}

/** Sets `:id` to the caller's subject. */
const setOwnId: Middleware = (ctx, next) => {
  ctx.params = { id: subjectOf(ctx.state.rostrum.caller) };
  return next();
};

/** The endpoints of the caller's own user: those of any user, but PUT creates the user as well. */
function meEndpoints(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const ofUser = endpoints.filter(({ path }) => path === '/users/:id');
  return ofUser.map((endpoint) => {
    const { method, operation, summary } = endpoint;
    const own = {
      ...endpoint,
      path: `/users/${selfAlias}`,
      resolveId: setOwnId,
      operation: operation.replace('User', 'Me'),
      summary: summary.replace('a user', "the caller's own user"),
      handle: withNoStore(endpoint.handle),
    } satisfies Endpoint;
    if (method !== 'PUT') return own;
    return {
      ...own,
      operation: 'putMe',
      problems: (endpoint.problems ?? []).filter((code) => code !== 'user-not-found'),
      summary: "Create or replace the caller's own user",
      description:
        "A new user's id is the subject of the credentials. `If-Match` only replaces, `If-None-Match: *` only creates.",
      responses: {
        ...responses.changed,
        201: {
          ...responses.changed[200],
          headers: [...responses.changed[200].headers, 'Location'],
        },
      },
      handle: withNoStore(async (ctx) => {
        const { services } = ctx.state.rostrum;
        const body = ctx.request.body as UserInput;
        const saved = await services.users.saveOwn(body, preconditionOf(ctx));
        const { id = '' } = ctx.params;
        if (saved.created) sendCreated(ctx, 'users', id, saved);
        else sendChanged(ctx, 'users', id, saved);
      }),
    };
  });
}

/** Keeps responses out of caches: the users of two callers can have the same version, and so the same ETag. */
function withNoStore(handle: Handler): Handler {
  return async (ctx) => {
    await handle(ctx);
    ctx.set('Cache-Control', 'no-store');
  };
}
