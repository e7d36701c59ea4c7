import { maxIssues } from '../../../domain/issues.ts';
import type { JsonSchema } from '../parameter.ts';
import { type ProblemCode, problemCatalogue } from '../problems/catalogue.ts';
import { Problem, type ProblemEntry, problemResponse } from '../problems/problem.ts';
import { countSchema } from './fields.ts';

const string: JsonSchema = { type: 'string' };

/** What all problems have (RFC 9457). */
const base: JsonSchema = {
  type: 'object',
  description: 'What a request ends in when it cannot be served (RFC 9457).',
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'A page about the problem.' },
    title: string,
    status: { type: 'integer', format: 'int32', minimum: 400, maximum: 599 },
    code: { type: 'string', description: 'What programs go by; stable within v1.' },
    error: { type: 'string', description: 'A sentence for people.' },
    detail: { type: 'string', description: 'The same as "error".' },
    requestId: { type: 'string', description: 'Finds the request in the log.' },
  },
  required: ['type', 'title', 'status', 'code', 'error', 'detail', 'requestId'],
};

/** The members that a problem has besides, by their place in the request. */
function entries(...places: readonly ('pointer' | 'parameter' | 'header')[]): JsonSchema {
  const items = places.map((place) => ({
    type: 'object',
    properties: { [place]: string, code: string, message: string },
    required: [place, 'code', 'message'],
  }));
  return {
    type: 'array',
    description: 'Everything that is wrong.',
    maxItems: maxIssues,
    items: items.length === 1 ? (items[0] as JsonSchema) : { anyOf: items },
  };
}

interface Members {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly example: {
    readonly errors?: readonly ProblemEntry[];
    readonly members?: Readonly<Record<string, unknown>>;
  };
}

function wrong(entry: ProblemEntry, place: 'pointer' | 'parameter' | 'header'): Members {
  return {
    properties: { errors: entries(place) },
    required: ['errors'],
    example: { errors: [entry] },
  };
}

const field = (pointer: string, code: string, message: string) =>
  wrong({ pointer, code, message }, 'pointer');

/** The members that problems have of their own. */
const ownMembers: { readonly [C in ProblemCode]?: Members } = {
  'invalid-query': {
    properties: {
      errors: entries('parameter'),
      allowed: { type: 'array', description: 'The parameters that there are.', items: string },
    },
    required: [],
    example: {
      errors: [
        { parameter: 'order', code: 'unknown', message: 'There is no such parameter here.' },
      ],
      members: { allowed: ['limit', 'cursor', 'sort'] },
    },
  },
  'invalid-cursor': wrong(
    { parameter: 'cursor', code: 'invalid', message: 'Use "next" of the page before.' },
    'parameter',
  ),
  'invalid-header': {
    properties: { errors: entries('header') },
    required: [],
    example: {
      errors: [{ header: 'If-Match', code: 'invalid', message: 'Must be * or entity tags.' }],
    },
  },
  'invalid-record': field('/name', 'required', 'This field is required.'),
  'email-taken': field('/email', 'taken', 'Another user already has this email address.'),
  'user-has-posts': {
    properties: {
      posts: {
        ...countSchema,
        minimum: 1,
        description: 'How many there are, for a caller that may read posts.',
      },
    },
    required: [],
    example: { members: { posts: 3 } },
  },
  'store-unavailable': {
    properties: {
      outcome: { enum: ['none', 'unknown'], description: 'What became of a change.' },
    },
    required: ['outcome'],
    example: { members: { outcome: 'none' } },
  },
};

/** The headers that problems have of their own. */
export const problemHeaders: { readonly [C in ProblemCode]?: readonly string[] } = {
  unauthenticated: ['WWW-Authenticate'],
  forbidden: ['WWW-Authenticate'],
  'version-mismatch': ['ETag'],
  'unsupported-media-type': ['Accept-Post', 'Accept-Patch', 'Accept', 'Accept-Encoding'],
  'too-many-requests': ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  'store-unavailable': ['Retry-After'],
  overloaded: ['Retry-After'],
  'credentials-unavailable': ['Retry-After'],
  'shutting-down': ['Retry-After'],
};

/** The schemas of these problems, by name: the base and one for each code. */
export function problemSchemas(codes: readonly ProblemCode[]): JsonSchema {
  return { Problem: base, ...Object.fromEntries(codes.map((code) => [code, schemaOf(code)])) };
}

function schemaOf(code: ProblemCode): JsonSchema {
  const { status, title, meaning } = problemCatalogue[code];
  const { properties = {}, required = [] } = ownMembers[code] ?? {};
  return {
    description: meaning,
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      {
        type: 'object',
        properties: {
          ...{ status: { const: status }, code: { const: code }, title: { const: title } },
          ...properties,
        },
        ...(required.length > 0 && { required }),
      },
    ],
  };
}

/** What a request with this status may end in, as a response. */
export function problemContent(codes: readonly ProblemCode[]): JsonSchema {
  const refs = codes.map((code) => ({ $ref: `#/components/schemas/${code}` }));
  const [only] = refs;
  const schema: JsonSchema =
    refs.length === 1 && only !== undefined
      ? only
      : {
          oneOf: refs,
          discriminator: {
            propertyName: 'code',
            mapping: Object.fromEntries(codes.map((code, i) => [code, refs[i]?.$ref ?? ''])),
          },
        };
  const examples = codes.map((code) => [code, { value: exampleOf(code) }] as const);
  return { 'application/problem+json': { schema, examples: Object.fromEntries(examples) } };
}

function exampleOf(code: ProblemCode): JsonSchema {
  const sentence = problemCatalogue[code].title;
  const problem = new Problem(code, `${sentence}.`, ownMembers[code]?.example);
  return JSON.parse(problemResponse(problem, '0192f0c1-6f5e-7b1c-9d3a-0f1e2d3c4b5a').body);
}
