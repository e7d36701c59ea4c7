import { selfAlias, subjectOf } from '../../../domain/access/access.ts';
import type { FieldDeclarations } from '../../../domain/fields/declared-fields.ts';
import type { PostFilter, PostSort } from '../../../domain/lists/search.ts';
import type { PostInput } from '../../../domain/records/post.ts';
import type { Endpoint } from '../endpoint.ts';
import { sendPage } from '../lists/page.ts';
import { pageDescription, postListParameters } from '../lists/parameters.ts';
import { readListQuery, readPostFilter } from '../lists/query.ts';
import { logChange } from '../operator/log.ts';
import { preconditionOf } from '../preconditions.ts';
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
import { sendCreated, sendDeleted, sendRecord } from './respond.ts';

const responses = responsesOf('Post');

/** What PUT, PATCH and DELETE of a post have in common. */
const change = {
  path: '/posts/:id',
  scopes: ['posts:write', 'posts:write:own'],
  headers: changeHeaders,
} as const;

/** @param declared the declared fields of posts */
export function postEndpoints(declared: FieldDeclarations | undefined): readonly Endpoint[] {
  const problems = problemsOf('posts', declared);
  return [
    {
      method: 'GET',
      path: '/posts',
      operation: 'listPosts',
      summary: 'List posts',
      description: pageDescription,
      scopes: ['posts:read', 'posts:read:all'],
      query: postListParameters(declared),
      isList: true,
      responses: responses.listed,
      problems: ['invalid-cursor'],
      async handle(ctx) {
        const { caller, query, services } = ctx.state.rostrum;
        const list = readListQuery<PostFilter, PostSort>('posts', ctx, readPostFilter, declared);
        const { filter } = list.request;
        const isOwn = filter?.authorId === selfAlias;
        const request = isOwn
          ? { ...list.request, filter: { ...filter, authorId: subjectOf(caller) } }
          : list.request;
        const page = await (query.has('include')
          ? services.posts.listWithAuthors(request)
          : services.posts.list(request));
        sendPage(ctx, 'posts', list, page);
      },
    },
    {
      method: 'POST',
      path: '/posts',
      operation: 'createPost',
      summary: 'Create a post',
      description: 'Safe to repeat with an Idempotency-Key.',
      scopes: ['posts:write', 'posts:write:own'],
      callerNote: "Without an author, the post's author is the caller, if the caller is a user.",
      headers: [idempotencyKey, prefer],
      body: 'PostInput',
      responses: responses.created,
      problems: problems.created,
      async handle(ctx) {
        const { services } = ctx.state.rostrum;
        const body = ctx.request.body as PostInput;
        const created = await services.posts.create(body, createOptions(ctx));
        sendCreated(ctx, 'posts', created.id, created);
      },
    },
    {
      method: 'GET',
      path: '/posts/:id',
      operation: 'getPost',
      summary: 'Get a post',
      description: 'With If-None-Match, the response is 304 if the post is at that version.',
      scopes: ['posts:read', 'posts:read:all'],
      headers: [ifMatch, ifNoneMatch],
      responses: responses.found,
      problems: ['post-not-found', 'version-mismatch'],
      async handle(ctx) {
        const { id = '' } = ctx.params;
        sendRecord(ctx, await ctx.state.rostrum.services.posts.get(id));
      },
    },
    ...updateEndpoints('posts', change, 'Post', problems.changed), // PUT and PATCH /posts/:id
    {
      ...change,
      method: 'DELETE',
      operation: 'deletePost',
      summary: 'Delete a post',
      description: 'Cannot be undone.',
      responses: responses.deleted,
      problems: problems.deleted,
      async handle(ctx) {
        const { services } = ctx.state.rostrum;
        const { id = '' } = ctx.params;
        await services.posts.delete(id, preconditionOf(ctx));
        logChange(ctx, { collection: 'posts', id });
        sendDeleted(ctx);
      },
    },
  ];
}
