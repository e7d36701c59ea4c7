import { type FieldDeclarations, fieldsIn } from '../../../domain/fields/declared-fields.ts';
import type { JsonObject } from '../../../domain/records/json.ts';
import type { PostInput } from '../../../domain/records/post.ts';
import type { CreateOptions } from '../../../domain/records/receipt.ts';
import type { Collection } from '../../../domain/records/record.ts';
import type { UserInput } from '../../../domain/records/user.ts';
import type { Context, Handler } from '../context.ts';
import type { Endpoint, Parameter } from '../endpoint.ts';
import { entityTagsPattern, parseEntityTags, preconditionOf } from '../preconditions.ts';
import type { ProblemCode } from '../problems/catalogue.ts';
import { sendChanged } from './respond.ts';

// What the endpoints of users and posts have in common: headers, responses, problems, PUT and PATCH.

export const ifMatch = entityTagParameter(
  'If-Match',
  'Apply the request only if the record is at one of these versions; * for any.',
);
export const ifNoneMatch = entityTagParameter(
  'If-None-Match',
  'Apply the change only if the record is at none of these versions. A GET returns 304 if it is at one of them.',
);

function entityTagParameter(name: string, description: string): Parameter {
  return {
    name,
    description,
    schema: { type: 'string', pattern: entityTagsPattern },
    example: '"1"',
    check: (value) =>
      parseEntityTags(value) ? undefined : 'Must be * or entity tags: "1", or "1", "2".',
  };
}

/** The pattern of `Idempotency-Key`: bare, or a string of structured fields (RFC 9651, section 3.3.3). */
const keyPattern = String.raw`^(?:"(?:[!#-[\]-~]|\\["\\]){1,255}"|[!#-~][!-~]{0,254})$`;
const keyForm = new RegExp(keyPattern);

export const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  description: 'Makes the request safe to repeat: for 24 hours, one key creates one record.',
  schema: { type: 'string', pattern: keyPattern },
  example: '3f2a9c5e-order-17',
  check: (value) =>
    keyForm.test(value) ? undefined : 'Must be 1 to 255 visible ASCII characters, quoted or bare.',
};

export const prefer: Parameter = {
  name: 'Prefer',
  description: 'return=minimal: a response without a body. return=representation: the record.',
  schema: { type: 'string' },
  example: 'return=minimal',
};

export const changeHeaders = [ifMatch, ifNoneMatch, prefer];

/** The responses of the endpoints of a collection. */
export function responsesOf(schema: 'User' | 'Post') {
  const name = schema.toLowerCase();
  const record = { description: `The ${name}.`, schema };
  const minimal = 'No content (`Prefer: return=minimal`).';
  const written = ['ETag', 'Preference-Applied'];
  const created = {
    description: `The ${name}, or no body (\`Prefer: return=minimal\`).`,
    schema,
    headers: ['ETag', 'Location', 'Idempotency-Replayed', 'Preference-Applied'],
  };
  const page = { description: `A page of ${name}s.`, schema: `${schema}Page` } as const;
  return {
    listed: { 200: { ...page, headers: ['Link', 'X-Total-Count'] } },
    found: {
      200: { ...record, headers: ['ETag'] },
      304: { description: 'Not modified.', headers: ['ETag'] },
    },
    created: { 201: created },
    changed: {
      200: { ...record, headers: written },
      204: { description: minimal, headers: written },
    },
    deleted: {
      200: { description: 'Deleted.', schema: 'Deleted', headers: ['Preference-Applied'] },
      204: { description: minimal, headers: ['Preference-Applied'] },
    },
  } as const satisfies Record<string, Endpoint['responses']>;
}

/** The problems of changes in a collection. */
export function problemsOf(
  collection: Collection,
  declared: FieldDeclarations | undefined,
): Readonly<Record<'created' | 'changed' | 'deleted', readonly ProblemCode[]>> {
  const taken: ProblemCode[] = collection === 'users' ? ['email-taken'] : [];
  if (fieldsIn(declared).some(({ isUnique }) => isUnique)) taken.push('field-taken');
  const body: readonly ProblemCode[] = ['unsupported-media-type', 'body-too-large', 'invalid-body'];
  const rejected: readonly ProblemCode[] = ['version-mismatch', 'precondition-required', 'refused'];
  const notFound = collection === 'users' ? 'user-not-found' : 'post-not-found';
  const deleted: readonly ProblemCode[] = [notFound, ...rejected];
  const repeated: readonly ProblemCode[] = [...body, 'idempotency-key-reused'];
  return {
    created: [...repeated, 'invalid-record', 'refused', ...taken],
    changed: [...body, ...deleted, 'invalid-record', ...taken],
    deleted,
  };
}

/** PUT and PATCH of a record. */
export function updateEndpoints(
  collection: Collection,
  change: Pick<Endpoint, 'path' | 'scopes' | 'headers'>,
  schema: 'User' | 'Post',
  problems: readonly ProblemCode[],
): readonly Endpoint[] {
  const name = schema.toLowerCase();
  const shared = { ...change, responses: responsesOf(schema).changed, problems };
  const handle =
    (method: 'replace' | 'patch'): Handler =>
    async (ctx) => {
      const service = ctx.state.rostrum.services[collection];
      const { id = '' } = ctx.params;
      const body = ctx.request.body as UserInput & PostInput & JsonObject;
      sendChanged(ctx, collection, id, await service[method](id, body, preconditionOf(ctx)));
    };
  return [
    {
      ...shared,
      method: 'PUT',
      operation: `replace${schema}`,
      summary: `Replace a ${name}`,
      description: `Removes the fields that are left out. Never creates a ${name}.`,
      body: `${schema}Input`,
      handle: handle('replace'),
    },
    {
      ...shared,
      method: 'PATCH',
      operation: `patch${schema}`,
      summary: `Change some fields of a ${name}`,
      description: 'A JSON merge patch (RFC 7396): absent fields stay, and null removes a field.',
      body: `${schema}Patch`,
      handle: handle('patch'),
    },
  ];
}

/** The header has already been validated. `"abc"` and `abc` are one key. */
export function createOptions({ headers }: Context): CreateOptions {
  const header = headers['idempotency-key'];
  if (typeof header !== 'string') return {};
  const isQuoted = header.startsWith('"');
  return { idempotencyKey: isQuoted ? header.slice(1, -1).replace(/\\(.)/g, '$1') : header };
}
