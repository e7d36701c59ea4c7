import { type Scope, scopes } from '../../../domain/caller.ts';
import type { CustomFilters } from '../../../domain/custom-filters.ts';
import type { Endpoint } from '../endpoint.ts';
import { ifMatch } from '../endpoints/header-parameters.ts';
import { commonProblems, endpointsFor, ownPath } from '../endpoints/table.ts';
import type { RostrumAppOptions } from '../options.ts';
import type { JsonSchema, Parameter } from '../parameter.ts';
import { type ProblemCode, problemCatalogue } from '../problems/catalogue.ts';
import { publicBase } from '../request/target.ts';
import { reference } from './fields.ts';
import { responseHeaders } from './headers.ts';
import { problemContent, problemHeaders, problemSchemas } from './problems.ts';
import { mediaType, recordSchemas } from './schemas.ts';

/** What of an app's options the description depends on. */
type Options = Omit<RostrumAppOptions, 'ready'>;

/**
 * The description of the API (OpenAPI 3.1), made of the table that routes and validates. It has
 * what this deployment declares, asks for and limits.
 */
export function openApiDocument(customFilters: CustomFilters, options: Options): JsonSchema {
  return new Description(customFilters, options).document();
}

class Description {
  readonly #options: Options;
  readonly #endpoints: readonly Endpoint[];
  readonly #headers = new Set<string>();
  readonly #problems = new Set<ProblemCode>();
  readonly #responses: Record<string, JsonSchema> = {};

  constructor(customFilters: CustomFilters, options: Options) {
    this.#options = options;
    this.#endpoints = endpointsFor(customFilters);
  }

  document(): JsonSchema {
    const { prefix = '/api/v1', publicUrl, authenticate, customFields = {} } = this.#options;
    const base = publicBase(publicUrl) ?? '';
    const paths: Record<string, Record<string, JsonSchema>> = {};
    for (const endpoint of this.#endpoints) {
      const path = endpoint.path.replace(':id', '{id}');
      const operations = paths[path] ?? {};
      operations[endpoint.method.toLowerCase()] = this.#operation(endpoint);
      paths[path] = operations;
    }
    const components = {
      schemas: { ...recordSchemas(customFields), ...problemSchemas([...this.#problems]) },
      responses: this.#responses,
      headers: Object.fromEntries(
        Object.entries(responseHeaders).filter(([name]) => this.#headers.has(name)),
      ),
      parameters: { id, requestId },
      ...(authenticate !== undefined && { securitySchemes: { bearer } }),
    };
    return {
      openapi: '3.1.0',
      info: {
        title: 'Rostrum',
        version: 'v1',
        description:
          'Users and posts. HEAD works wherever GET does, and OPTIONS on every path. Every error has one shape, by RFC 9457.',
        contact: { name: 'The operator of this server' },
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: base + prefix || '/' }],
      tags: [
        {
          name: 'users',
          description:
            'People, who may write posts. An email address is unique, ignoring case. Every response with one user has an ETag; a change that says it in If-Match is refused (412) where somebody else was faster. A user who has posts is deleted only with a choice of what becomes of them.',
        },
        {
          name: 'posts',
          description:
            'What they wrote. A post is public from publishedAt on: null is a draft, and a later time is scheduled. Lists are pages by cursor, which neither skip nor repeat what is there throughout. With an Idempotency-Key, a POST may be sent again when no response came: it makes one post.',
        },
        {
          name: 'events',
          description:
            'What changes, as it changes. A follower that keeps "next" meets every change, in one order, at least once.',
        },
      ],
      ...(authenticate === undefined && { security: [] }),
      paths,
      components,
    };
  }

  #operation(endpoint: Endpoint): JsonSchema {
    const { method, path, operation, summary, description, query, headers, body } = endpoint;
    const { authenticate, anonymous, requireIfMatch = false, customFields = {} } = this.#options;
    const isOpen = endpoint.scopes.some((scope) => anonymous?.includes(scope));
    const needsIfMatch = requireIfMatch && method !== 'GET';
    const content = body?.types.map(
      (type) => [type, mediaType(body.schema, customFields)] as const,
    );
    return {
      operationId: operation,
      tags: [path.split('/')[1] ?? ''],
      summary,
      description: [description, ...(this.#hasCallers ? [describeScopes(endpoint)] : [])].join(' '),
      parameters: [
        ...(path.includes(':id') ? [reference('id', 'parameters')] : []),
        ...query.map((one) => parameter(one, 'query')),
        ...headers.map((one) => parameter(one, 'header', needsIfMatch && one === ifMatch)),
        reference('requestId', 'parameters'),
      ],
      ...(content && { requestBody: { required: true, content: Object.fromEntries(content) } }),
      responses: { ...this.#successes(endpoint), ...this.#failures(endpoint) },
      ...(authenticate !== undefined && { security: securityOf(endpoint.scopes, isOpen) }),
    };
  }

  /** Whether what a client may do depends on who it is, or that it says nothing of that. */
  get #hasCallers(): boolean {
    return this.#options.authenticate !== undefined || this.#options.anonymous !== undefined;
  }

  #successes({ responses }: Endpoint): JsonSchema {
    const { customFields = {} } = this.#options;
    const described = Object.entries(responses).map(([status, response]) => {
      const { description, schema, headers = [] } = response;
      const lesser = this.#hasCallers ? response.publicSchema : undefined;
      const content = schema && { 'application/json': mediaType(schema, customFields, lesser) };
      return [
        status,
        {
          description,
          headers: this.#headersOf(headers),
          ...(content && { content }),
        },
      ] as const;
    });
    return Object.fromEntries(described);
  }

  #failures(endpoint: Endpoint): JsonSchema {
    const codes = this.#problemsOf(endpoint);
    const byStatus = Map.groupBy(codes, (code) => problemCatalogue[code].status);
    const responses = [...byStatus].map(([status, of]) => {
      const name = of.join('.');
      this.#responses[name] ??= {
        description: `${of.map((code) => problemCatalogue[code].title).join('; ')}.`,
        headers: this.#headersOf(of.flatMap(problemHeaders)),
        content: problemContent(of),
      };
      return [status, reference(name, 'responses')] as const;
    });
    return Object.fromEntries(responses);
  }

  /** The problems that a request of this deployment may end in. */
  #problemsOf({ path, headers, query, problems }: Endpoint): readonly ProblemCode[] {
    const { authenticate, isOwnHost, rateLimits = {}, requireIfMatch = false } = this.#options;
    const { address, caller, failures } = rateLimits;
    const asks = authenticate !== undefined;
    // Where nobody is asked, nobody has a user of its own.
    const isOwn = path === ownPath || query.some(({ name }) => name === 'authorId');
    const possible: { readonly [C in ProblemCode]?: boolean } = {
      'invalid-path': path.includes(':id'),
      'invalid-header': headers.length > 0 || asks,
      unauthenticated: asks,
      forbidden: this.#hasCallers || isOwn,
      'credentials-unavailable': asks,
      'misdirected-request': isOwnHost !== undefined,
      'too-many-requests': [address, caller, failures].some((limiter) => limiter !== undefined),
      'precondition-required': requireIfMatch,
    };
    const all = [...new Set([...commonProblems, ...problems])];
    const codes = all.filter((code) => possible[code] ?? true);
    for (const code of codes) this.#problems.add(code);
    return codes;
  }

  #headersOf(own: readonly string[]): JsonSchema {
    const { authenticate, anonymous, cors = [], rateLimits } = this.#options;
    const isLimited = rateLimits?.address !== undefined || rateLimits?.caller !== undefined;
    const names = new Set([
      ...['X-Request-Id', 'Cache-Control', ...own],
      ...(isLimited ? ['RateLimit', 'RateLimit-Policy'] : []),
      ...(authenticate !== undefined && anonymous !== undefined ? ['Vary'] : []),
      ...(cors.length > 0
        ? ['Vary', 'Access-Control-Allow-Origin', 'Access-Control-Expose-Headers']
        : []),
    ]);
    for (const name of names) this.#headers.add(name);
    const references = Array.from(names, (name) => [name, reference(name, 'headers')] as const);
    return Object.fromEntries(references);
  }
}

const id: JsonSchema = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the record, as it is in "id" or Location.',
  schema: { type: 'string', minLength: 1, examples: ['0192f0c1-6f5e-7b1c-9d3a-0f1e2d3c4b5a'] },
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
  description: `A key, or an access token of the identity provider. Scopes: ${scopes.join(', ')}.`,
};

/** What callers need to be allowed, and what becomes of it that they are known. */
const ofCallers: Readonly<Record<string, string>> = {
  deleteUser:
    ' With "posts", it needs posts:write too, or posts:write:own where the user is the caller.',
  createPost: ' Without an author, the post gets the caller for its author, if that is a user.',
};

/** What the narrower scopes are for. */
const rights: Readonly<Record<string, string>> = {
  own: "for what is the caller's own",
  public: 'for the public view',
  all: 'for drafts and scheduled posts of others too',
};

function describeScopes({ operation, scopes: [always, ...narrower] }: Endpoint): string {
  if (operation === 'listEvents') return 'Needs one of the scopes below.';
  const others = narrower.map((scope) => `, or ${scope} ${rights[scope.split(':')[2] ?? '']}`);
  return `Needs the scope ${always}${others.join('')}.${ofCallers[operation] ?? ''}`;
}

/**
 * One of the scopes is enough.
 *
 * @param isOpen whether no credentials will do, too
 */
function securityOf(needed: readonly Scope[], isOpen: boolean): readonly JsonSchema[] {
  return [...needed.map((scope) => ({ bearer: [scope] })), ...(isOpen ? [{}] : [])];
}

function parameter(
  { name, description, schema, example }: Parameter,
  place: 'query' | 'header',
  required = false,
): JsonSchema {
  // In the schema: with an `example` of its own, /docs would send each of them in every trial.
  const shown = { ...schema, examples: [example] };
  return { name, in: place, description, schema: shown, ...(required && { required }) };
}
