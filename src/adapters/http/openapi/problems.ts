import { maxIssues } from '../../../domain/issues.ts';
import type { JsonSchema } from '../parameter.ts';
import { type ProblemCode, problemCatalogue } from '../problems/catalogue.ts';
import { Problem, type ProblemEntry, problemResponse } from '../problems/problem.ts';
import { countSchema, reference } from './fields.ts';

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

/** Where in a request something is wrong. */
type Place = 'pointer' | 'parameter' | 'header';

/** The members that a problem has besides. */
interface Members {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly example: Pick<Problem['parts'], 'errors' | 'members'>;
}

function wrong(place: Place, name: string, code: string, message: string): Members {
  const items = {
    type: 'object',
    properties: { [place]: string, code: string, message: string },
    required: [place, 'code', 'message'],
  };
  const description = 'Everything that is wrong.';
  return {
    properties: { errors: { type: 'array', description, maxItems: maxIssues, items } },
    required: ['errors'],
    example: { errors: [{ [place]: name, code, message } as ProblemEntry] },
  };
}

const query = wrong('parameter', 'order', 'unknown', 'There is no such parameter here.');
const header = wrong('header', 'If-Match', 'invalid', 'Must be * or entity tags.');

const ownMembers: { readonly [C in ProblemCode]?: Members } = {
  'invalid-query': {
    properties: {
      ...query.properties,
      allowed: { type: 'array', description: 'The parameters that there are.', items: string },
    },
    example: { ...query.example, members: { allowed: ['limit', 'cursor', 'sort'] } },
  },
  'invalid-cursor': wrong('parameter', 'cursor', 'invalid', 'Use "next" of the page before.'),
  'invalid-header': { ...header, required: [] },
  'invalid-record': wrong('pointer', '/name', 'required', 'This field is required.'),
  'email-taken': wrong(
    'pointer',
    '/email',
    'taken',
    'Another user already has this email address.',
  ),
  'user-has-posts': {
    properties: {
      posts: {
        ...countSchema,
        minimum: 1,
        description: 'How many there are, for a caller that may read posts.',
      },
    },
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

const ownHeaders: { readonly [C in ProblemCode]?: readonly string[] } = {
  unauthenticated: ['WWW-Authenticate'],
  forbidden: ['WWW-Authenticate'],
  'version-mismatch': ['ETag'],
  'unsupported-media-type': ['Accept-Post', 'Accept-Patch', 'Accept', 'Accept-Encoding'],
  'too-many-requests': ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
};

/** The headers that a problem has besides. */
export function problemHeaders(code: ProblemCode): readonly string[] {
  return 'retryAfter' in problemCatalogue[code] ? ['Retry-After'] : (ownHeaders[code] ?? []);
}

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
      reference('Problem'),
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
  const refs = codes.map((code) => reference(code));
  const [only = {}] = refs;
  const discriminator = { propertyName: 'code' }; // The code is the name of its schema.
  const schema: JsonSchema = refs.length === 1 ? only : { oneOf: refs, discriminator };
  const examples = codes.map((code) => [code, { value: exampleOf(code) }] as const);
  return { 'application/problem+json': { schema, examples: Object.fromEntries(examples) } };
}

function exampleOf(code: ProblemCode): JsonSchema {
  const sentence = problemCatalogue[code].title;
  const problem = new Problem(code, `${sentence}.`, ownMembers[code]?.example);
  return JSON.parse(problemResponse(problem, '0192f0c1-6f5e-7b1c-9d3a-0f1e2d3c4b5a').body);
}
