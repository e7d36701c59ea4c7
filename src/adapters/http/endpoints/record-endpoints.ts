import type { Endpoint, EndpointResponse, Handler } from '../endpoint.ts';
import type { Parameter } from '../parameter.ts';
import type { ProblemCode } from '../problems/catalogue.ts';
import { idempotencyKey, ifMatch, ifNoneMatch, prefer } from './header-parameters.ts';

const json = 'application/json';
const mergePatch = 'application/merge-patch+json';

/** Says that `Prefer` was heard. */
const applied = 'Preference-Applied';

const noContent: EndpointResponse = {
  description: 'Done, without a body, as Prefer: return=minimal wants.',
  headers: [applied],
};

const bodyProblems: readonly ProblemCode[] = [
  'unsupported-media-type',
  'body-too-large',
  'invalid-body',
];
const changeProblems: readonly ProblemCode[] = [
  'invalid-header',
  'version-mismatch',
  'precondition-required',
  'refused',
];

/** What the six endpoints of a collection have of their own. */
interface CollectionParts {
  readonly one: 'user' | 'post';
  readonly handlers: Readonly<
    Record<'list' | 'create' | 'get' | 'replace' | 'patch' | 'remove', Handler>
  >;
  readonly listParameters: readonly Parameter[];
  readonly deleteParameters: readonly Parameter[];
  readonly conflicts: readonly ProblemCode[];
  readonly deleteConflicts: readonly ProblemCode[];
}

export function endpointsOf(collection: CollectionParts): readonly Endpoint[] {
  const { one, handlers } = collection;
  const One = one === 'user' ? 'User' : 'Post';
  const many = `${one}s` as const;
  const path = `/${many}`;
  const all = many === 'users' ? 'users:read:public' : 'posts:read:all';
  const read = [`${many}:read`, all] as const;
  const write = [`${many}:write`, `${many}:write:own`] as const;
  const record: EndpointResponse = {
    description: `The ${one}.`,
    schema: One,
    headers: ['ETag'],
  };
  const change = {
    path: `${path}/:id`,
    scopes: write,
    query: [],
    headers: [ifMatch, ifNoneMatch, prefer],
    responses: {
      200: { ...record, headers: ['ETag', applied] },
      204: { ...noContent, headers: ['ETag', applied] },
    },
    problems: [
      ...bodyProblems,
      `${one}-not-found`,
      ...changeProblems,
      'invalid-record',
      ...collection.conflicts,
    ],
  } as const satisfies Partial<Endpoint>;

  return [
    {
      method: 'GET',
      path,
      operation: `list${One}s`,
      summary: `A page of the ${many}`,
      description:
        'A page ends at "limit", or before it has more than 2 MiB. Only "next" tells whether more follow.',
      scopes: read,
      query: collection.listParameters,
      headers: [],
      responses: {
        200: {
          description: 'A page.',
          schema: `${One}Page`,
          headers: ['Link', 'X-Total-Count'],
        },
      },
      problems: ['invalid-cursor'],
      handle: handlers.list,
    },
    {
      method: 'POST',
      path,
      operation: `create${One}`,
      summary: `Makes a ${one}`,
      description:
        'With an Idempotency-Key it is safe to repeat: one key makes one record for 24 hours.',
      // A new user has no owner.
      scopes: many === 'users' ? ['users:write'] : write,
      query: [],
      headers: [idempotencyKey, prefer],
      body: { types: [json], acceptHeader: 'Accept-Post', schema: `${One}Input` },
      responses: {
        201: {
          ...record,
          description: `The ${one}; without a body as Prefer: return=minimal wants.`,
          headers: ['ETag', 'Location', 'Idempotency-Replayed', applied],
        },
      },
      problems: [
        'invalid-header',
        ...bodyProblems,
        'idempotency-key-reused',
        'invalid-record',
        'refused',
        ...collection.conflicts,
      ],
      handle: handlers.create,
    },
    {
      method: 'GET',
      path: `${path}/:id`,
      operation: `get${One}`,
      summary: `One ${one}`,
      description: 'With If-None-Match, the response is 304 while the record is at that version.',
      scopes: many === 'users' ? [...read, 'users:write:own'] : read,
      query: [],
      headers: [ifMatch, ifNoneMatch],
      responses: {
        200: many === 'users' ? { ...record, publicSchema: 'PublicUser' } : record,
        304: { description: 'Not modified.', headers: ['ETag'] },
      },
      problems: ['invalid-header', `${one}-not-found`, 'version-mismatch'],
      handle: handlers.get,
    },
    {
      ...change,
      method: 'PUT',
      operation: `replace${One}`,
      summary: `Replaces a whole ${one}`,
      description: 'Fields that are left out are gone. It never makes a record.',
      body: { types: [json], acceptHeader: 'Accept', schema: `${One}Input` },
      handle: handlers.replace,
    },
    {
      ...change,
      method: 'PATCH',
      operation: `patch${One}`,
      summary: `Changes the supplied fields of a ${one}`,
      description: 'A JSON merge patch (RFC 7396): absent is unchanged, and null removes.',
      body: {
        types: [mergePatch, json],
        acceptHeader: 'Accept-Patch',
        schema: `${One}Patch`,
      },
      handle: handlers.patch,
    },
    {
      ...change,
      method: 'DELETE',
      operation: `delete${One}`,
      summary: `Deletes a ${one}`,
      description: 'It cannot be undone.',
      query: collection.deleteParameters,
      responses: {
        200: { description: 'Deleted.', schema: 'Deleted', headers: [applied] },
        204: noContent,
      },
      problems: [`${one}-not-found`, ...changeProblems, ...collection.deleteConflicts],
      handle: handlers.remove,
    },
  ];
}
