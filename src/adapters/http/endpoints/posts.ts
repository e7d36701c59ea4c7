import { itself, subjectOf } from '../../../domain/access.ts';
import type { CustomFilterFields } from '../../../domain/declared-fields.ts';
import type { PostInput } from '../../../domain/post.ts';
import type { PostFilter, PostSort } from '../../../domain/search.ts';
import { preconditionOf } from '../headers/preconditions.ts';
import { sendPage } from '../lists/page.ts';
import { pageDescription, postListParameters } from '../lists/parameters.ts';
import { readListQuery, readPostFilter } from '../lists/query.ts';
import { logChange } from '../operator/log.ts';
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

const one = { description: 'The post.', schema: 'Post', headers: ['ETag'] } as const;
const changed = { ...one, headers: ['ETag', 'Preference-Applied'] } as const;
const unchanged = { ...noContent, headers: ['ETag', 'Preference-Applied'] };

/** @param customFields the custom fields that lists can be filtered by */
export function postEndpoints(customFields: CustomFilterFields | undefined): readonly Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/posts',
      operation: 'listPosts',
      summary: 'List posts',
      description: pageDescription,
      scopes: ['posts:read', 'posts:read:all'],
      query: postListParameters(customFields),
      headers: [],
      responses: {
        200: {
          description: 'A page of posts.',
          schema: 'PostPage',
          headers: ['Link', 'X-Total-Count'],
        },
      },
      problems: ['invalid-cursor'],
      async handle(ctx) {
        const { caller, query, services } = ctx.state.rostrum;
        const list = readListQuery<PostFilter, PostSort>(
          'posts',
          ctx,
          readPostFilter,
          customFields,
        );
        const { filter } = list.request;
        const isOwn = filter?.authorId === itself;
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
      query: [],
      headers: [idempotencyKey, prefer],
      body: { types: json, acceptHeader: 'Accept-Post', schema: 'PostInput' },
      responses: {
        201: {
          description: 'The post, or no body (`Prefer: return=minimal`).',
          schema: 'Post',
          headers: ['ETag', 'Location', 'Idempotency-Replayed', 'Preference-Applied'],
        },
      },
      problems: [
        'invalid-header',
        ...bodyProblems,
        'idempotency-key-reused',
        'invalid-record',
        ...uniqueProblems(customFields),
        'refused',
      ],
      async handle(ctx) {
        const { body, services } = ctx.state.rostrum;
        const created = await services.posts.create(body as PostInput, createOptions(ctx));
        sendCreated(ctx, 'posts', created.record.id, created);
      },
    },
    {
      method: 'GET',
      path: '/posts/:id',
      operation: 'getPost',
      summary: 'Get a post',
      description: 'With If-None-Match, the response is 304 if the post is at that version.',
      scopes: ['posts:read', 'posts:read:all'],
      query: [],
      headers: [ifMatch, ifNoneMatch],
      responses: { 200: one, 304: { description: 'Not modified.', headers: ['ETag'] } },
      problems: ['invalid-header', 'post-not-found', 'version-mismatch'],
      async handle(ctx) {
        const { services } = ctx.state.rostrum;
        sendRecord(ctx, await services.posts.get(ctx.params.id ?? ''));
      },
    },
    {
      method: 'PUT',
      path: '/posts/:id',
      operation: 'replacePost',
      summary: 'Replace a post',
      description: 'Removes the fields that are left out. Never creates a post.',
      scopes: ['posts:write', 'posts:write:own'],
      query: [],
      headers: changeHeaders,
      body: { types: json, acceptHeader: 'Accept', schema: 'PostInput' },
      responses: { 200: changed, 204: unchanged },
      problems: [
        ...bodyProblems,
        'post-not-found',
        ...changeProblems,
        'invalid-record',
        ...uniqueProblems(customFields),
      ],
      async handle(ctx) {
        const { body, services } = ctx.state.rostrum;
        const { id = '' } = ctx.params;
        const post = await services.posts.replace(id, body as PostInput, preconditionOf(ctx));
        sendChanged(ctx, 'posts', post);
      },
    },
    {
      method: 'PATCH',
      path: '/posts/:id',
      operation: 'patchPost',
      summary: 'Change some fields of a post',
      description: 'A JSON merge patch (RFC 7396): absent fields stay, and null removes a field.',
      scopes: ['posts:write', 'posts:write:own'],
      query: [],
      headers: changeHeaders,
      body: { types: mergePatch, acceptHeader: 'Accept-Patch', schema: 'PostPatch' },
      responses: { 200: changed, 204: unchanged },
      problems: [
        ...bodyProblems,
        'post-not-found',
        ...changeProblems,
        'invalid-record',
        ...uniqueProblems(customFields),
      ],
      async handle(ctx) {
        const { body, services } = ctx.state.rostrum;
        const { id = '' } = ctx.params;
        const post = await services.posts.patch(id, body, preconditionOf(ctx));
        sendChanged(ctx, 'posts', post);
      },
    },
    {
      method: 'DELETE',
      path: '/posts/:id',
      operation: 'deletePost',
      summary: 'Delete a post',
      description: 'Cannot be undone.',
      scopes: ['posts:write', 'posts:write:own'],
      query: [],
      headers: changeHeaders,
      responses: {
        200: { description: 'Deleted.', schema: 'Deleted', headers: ['Preference-Applied'] },
        204: noContent,
      },
      problems: ['post-not-found', ...changeProblems],
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
