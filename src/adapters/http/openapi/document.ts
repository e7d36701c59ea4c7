import { scopes as allScopes } from '../../../domain/access/caller.ts';
import type { DeclaredFields } from '../../../domain/fields/declared-fields.ts';
import { type CheckedOptions, checkAppOptions } from '../check-options.ts';
import { acceptedBodies, type Endpoint, type JsonSchema, type Parameter } from '../endpoint.ts';
import { endpointsFor } from '../endpoints/index.ts';
import { ifMatch } from '../endpoints/records.ts';
import type { RostrumAppOptions } from '../options.ts';
import { commonProblems, type ProblemCode, problemCatalogue } from '../problems/catalogue.ts';
import { reference, sampleId } from './fields.ts';
import { possibleHeaderNames, responseHeaders } from './headers.ts';
import { problemContent, problemSchemas } from './problems.ts';
import { recordSchemas } from './schemas.ts';

/** The options that the description depends on. */
type Options = Pick<
  RostrumAppOptions,
  'prefix' | 'publicUrl' | 'authenticate' | 'anonymous' | 'customFields' | 'requireIfMatch'
>;

/**
 * Returns the OpenAPI 3.1 description, derived from the endpoint literals.
 *
 * @throws TypeError for an unknown or invalid option
 */
export function openApiDocument(declaredFields: DeclaredFields, options: Options): JsonSchema {
  const checked = checkAppOptions<Partial<RostrumAppOptions>>(options, 'app');
  const { prefix, publicUrl = '', authenticate, customFields = {} } = checked;
  const endpoints = endpointsFor(declaredFields);
  const paths: Record<string, Record<string, JsonSchema>> = {};
  const responses: Record<string, JsonSchema> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(':id', '{id}');
    const method = endpoint.method.toLowerCase();
    paths[path] = { ...paths[path], [method]: operationOf(endpoint, checked) };
    for (const codes of codesByStatus(endpoint).values())
      responses[codes.join('.')] = failureOf(codes);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Rostrum',
      version: 'v1',
      description:
        'Users and posts. HEAD works wherever GET does, and OPTIONS on every path. Every error has the shape of RFC 9457.',
      contact: { name: 'The operator of this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl + prefix || '/' }],
    tags,
    ...(authenticate === undefined && { security: [] }),
    paths,
    components: {
      schemas: { ...recordSchemas(declaredFields, customFields), ...problemSchemas },
      responses,
      headers: responseHeaders,
      parameters: { id, requestId },
      ...(authenticate !== undefined && { securitySchemes: { bearer } }),
    },
  };
}

const tags: readonly JsonSchema[] = [
  {
    name: 'users',
    description:
      'People, who can write posts. An email address is unique, ignoring case. Every response with one user has an ETag: send it in If-Match, and an update based on an old version is rejected (412). To delete a user with posts, say what to do with the posts.',
  },
  {
    name: 'posts',
    description:
      'A post is public from publishedAt on. With null it is a draft, and with a later time it is scheduled. Lists are paged by cursor, and pages neither skip nor repeat records. With an Idempotency-Key, you can safely repeat a POST.',
  },
  {
    name: 'events',
    description:
      'The changes of records. A follower that keeps "next" sees every change, in one order, at least once.',
  },
];

const id: JsonSchema = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the record.',
  schema: { type: 'string', minLength: 1, examples: [sampleId] },
};

const requestId: JsonSchema = {
  name: 'X-Request-Id',
  in: 'header',
  description: 'An id for the request: 1 to 128 letters, digits, ".", "_" and "-".',
  schema: { type: 'string', examples: ['checkout-4711'] },
};

const bearer: JsonSchema = {
  type: 'http',
  scheme: 'bearer',
  description: `A key, or an access token of the identity provider. Scopes: ${allScopes.join(', ')}.`,
};

function operationOf(endpoint: Endpoint, options: CheckedOptions): JsonSchema {
  const { authenticate, anonymous, requireIfMatch = false } = options;
  const { method, path, operation, summary, scopes, query = [], headers = [], body } = endpoint;
  const hasCallers = authenticate !== undefined || anonymous !== undefined;
  const notes = hasCallers ? [`Needs ${scopes.join(' or ')}.`, endpoint.callerNote ?? ''] : [];
  const isOwn = path.endsWith('/me');
  if (isOwn && authenticate === undefined) {
    notes.push('This server has no credentials configured, so every request gets 403.');
  }
  // Requests without credentials don't belong to a user.
  const isOpen = !isOwn && scopes.some((scope) => anonymous?.scopes.has(scope));
  // One of the scopes is enough; an empty requirement stands for a request without credentials.
  const security = [...scopes.map((scope) => ({ bearer: [scope] })), ...(isOpen ? [{}] : [])];
  const needsIfMatch = requireIfMatch && method !== 'GET';
  const media = typeof body === 'string' ? { schema: reference(body) } : undefined;
  const content = media && acceptedBodies[method]?.types.map((type) => [type, media] as const);
  const failures = codesByStatus(endpoint)
    .entries()
    .map(([status, codes]) => [status, reference(codes.join('.'), 'responses')] as const);
  return {
    operationId: operation,
    tags: [path.split('/')[1] ?? ''],
    summary,
    description: [endpoint.description, ...notes].filter(Boolean).join(' '),
    parameters: [
      ...(path.includes(':id') ? [reference('id', 'parameters')] : []),
      ...query.map((one) => parameter(one, 'query')),
      ...headers.map((one) => parameter(one, 'header', needsIfMatch && one === ifMatch)),
      reference('requestId', 'parameters'),
    ],
    ...(content && { requestBody: { required: true, content: Object.fromEntries(content) } }),
    responses: { ...successesOf(endpoint, hasCallers), ...Object.fromEntries(failures) },
    ...(authenticate !== undefined && { security }),
  };
}

function successesOf({ responses }: Endpoint, hasCallers: boolean): JsonSchema {
  const described = Object.entries(responses).map(([status, response]) => {
    const { description, schema, publicSchema, headers = [] } = response;
    const full = schema && reference(schema);
    const either = full && publicSchema && { anyOf: [full, reference(publicSchema)] };
    const content = full && { 'application/json': { schema: (hasCallers && either) || full } };
    return [status, { description, headers: headersOf(headers), ...(content && { content }) }];
  });
  return Object.fromEntries(described) as JsonSchema;
}

/** Groups the problems of an endpoint by status. */
function codesByStatus({ path, problems = [] }: Endpoint): ReadonlyMap<number, ProblemCode[]> {
  const codes = new Set([...commonProblems, ...problems]);
  if (!path.includes(':id')) codes.delete('invalid-path');
  return Map.groupBy(codes, (code) => problemCatalogue[code].status);
}

function failureOf(codes: readonly ProblemCode[]): JsonSchema {
  const headers = codes.flatMap((code) => {
    const { headers: own = [], isTemporary } = problemCatalogue[code];
    return isTemporary ? [...own, 'Retry-After'] : own;
  });
  return {
    description: codes.map((code) => `${code}: ${problemCatalogue[code].title}.`).join(' '),
    headers: headersOf(headers),
    content: problemContent,
  };
}

function headersOf(own: readonly string[]): JsonSchema {
  const names = new Set([...possibleHeaderNames, ...own]);
  return Object.fromEntries(Array.from(names, (name) => [name, reference(name, 'headers')]));
}

function parameter(
  { name, description, schema, example }: Parameter,
  place: 'query' | 'header',
  required = false,
): JsonSchema {
  // In the schema: Swagger UI would fill in the `example` of a parameter, and send it with every trial.
  const shown = { ...schema, examples: [example] };
  return { name, in: place, description, schema: shown, ...(required && { required }) };
}
