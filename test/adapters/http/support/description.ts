import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { openApiDocument } from '../../../../src/adapters/http/openapi/document.ts';
import type { DeclaredFields } from '../../../../src/domain/fields/declared-fields.ts';
import { isEmail } from '../../../../src/domain/fields/email.ts';
import type { Answer } from './answer.ts';

interface Media {
  readonly schema: object;
}

interface Described {
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, Media>>;
}

/** A parameter, or a reference to one, which has none of these members. */
interface Parameter {
  readonly name?: string;
  readonly required?: boolean;
  readonly schema?: { readonly examples?: readonly unknown[] };
}

interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Described & { readonly $ref?: string }>>;
}

export interface OpenApi {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly examples?: readonly unknown[] }>>;
    readonly responses: Readonly<Record<string, Described>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: Readonly<Record<string, { readonly required?: boolean }>>;
  };
}

/** Returns the OpenAPI description with these options. */
export function documentOf(
  options: Parameters<typeof openApiDocument>[1] = {},
  declaredFields: DeclaredFields = {},
): OpenApi {
  return JSON.parse(JSON.stringify(openApiDocument(declaredFields, options)));
}

/** General HTTP headers, which the description does not list. */
const ofHttp = ['connection', 'content-length', 'content-type', 'date', 'keep-alive'];
const ofSecurity = [
  'x-content-type-options',
  'access-control-allow-origin',
  'access-control-expose-headers',
];

/** Checks responses against an OpenAPI description, and records which of its responses were seen. */
export class DescriptionUnderTest {
  readonly document: OpenApi;
  readonly operations: readonly Operation[];
  /** Operation and status, for errors also the code: `getUser 404 user-not-found`. */
  readonly seen = new Set<string>();
  readonly #schemas = new Map<string, object>();
  readonly #ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    formats: {
      'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
      'idn-email': isEmail,
      ...{ int32: true, int64: true, double: true },
      'uri-reference': (text) => URL.canParse(text, 'http://localhost'),
    },
  });

  constructor(document: OpenApi) {
    this.document = document;
    this.operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    const { components } = document;
    // The description lets clients expect new members, but this server must send only the described ones.
    const schemas = Object.entries(components.schemas).map(([name, schema]) =>
      name.startsWith('Problem')
        ? [name, { ...schema, additionalProperties: false }]
        : [name, schema],
    );
    const closed = { ...components, schemas: Object.fromEntries(schemas) };
    this.#ajv.addSchema({ ...document, components: closed, $id: 'http://localhost/openapi' });
  }

  /** All responses that the description lists. */
  get promised(): readonly string[] {
    return this.operations.flatMap(({ operationId, responses }) =>
      Object.entries(responses).flatMap(([status, { $ref }]) =>
        $ref === undefined
          ? [`${operationId} ${status}`]
          : codesOf($ref).map((code) => `${operationId} ${status} ${code}`),
      ),
    );
  }

  /** Checks a response if the description has the method and path of its request. */
  checkAt(method: string, url: string, answer: Answer): void {
    const [, path = ''] = /^\/api\/v1(\/.*)$/.exec(new URL(url).pathname) ?? [];
    const template = path.replace(/^(\/[a-z]+)\/[^/]+$/, '$1/{id}');
    const operations = this.document.paths[path] ?? this.document.paths[template];
    const operation = operations?.[method.toLowerCase()];
    if (operation !== undefined) this.check(operation.operationId, answer);
  }

  /** Checks a response of this operation. */
  check(operationId: string, { status, headers, text, body }: Answer): void {
    const what = `${operationId} ${status} ${text.slice(0, 200)}`;
    const operation = this.operations.find((one) => one.operationId === operationId);
    const named = operation?.responses[status];
    const described = named?.$ref === undefined ? named : this.#response(named.$ref);
    if (described === undefined) throw new Error(`Not described: ${what}`);
    this.seen.add(`${operationId} ${status}${status < 400 ? '' : ` ${body.code}`}`);

    const declared = Object.keys(described.headers ?? {});
    const known = [...ofHttp, ...ofSecurity, ...declared.map((name) => name.toLowerCase())];
    expect(known, what).to.include.members([...headers.keys()]);
    const shared = named?.$ref !== undefined && codesOf(named.$ref).length > 1;
    const required = declared.filter((name) => this.document.components.headers[name]?.required);
    if (!shared) expect([...headers.keys()], what).to.include.members(required.map(lowerCase));

    const [type = ''] = (headers.get('content-type') ?? '').split(';');
    if (text === '') expect(type, what).to.equal('');
    else
      expect(this.complaints(described.content?.[type]?.schema, body), what).to.equal('No errors');
  }

  /** Validates a value against a named schema and returns the errors as text. */
  complaintsOf(component: string, value: unknown): string {
    return this.complaints({ $ref: `#/components/schemas/${component}` }, value);
  }

  /** Validates a value against a schema of the description and returns the errors as text. */
  complaints(schema: object | undefined, value: unknown): string {
    if (schema === undefined) return 'There is no schema.';
    const text = JSON.stringify(schema).replaceAll('"#/', '"http://localhost/openapi#/');
    // Ajv caches compiled schemas by object identity.
    const known = this.#schemas.get(text) ?? JSON.parse(text);
    this.#schemas.set(text, known);
    this.#ajv.validate(known, value);
    return this.#ajv.errorsText();
  }

  /** Returns the example of each request body of an operation, by media type. */
  examplesOf(operationId: string): ReadonlyMap<string, unknown> {
    const operation = this.operations.find((one) => one.operationId === operationId);
    const { schemas } = this.document.components;
    return new Map(
      Object.entries(operation?.requestBody?.content ?? {}).map(([type, { schema }]) => {
        const { $ref } = schema as { readonly $ref: string };
        return [type, schemas[nameOf($ref)]?.examples?.[0]];
      }),
    );
  }

  #response(reference: string): Described | undefined {
    return this.document.components.responses[nameOf(reference)];
  }
}

function lowerCase(text: string): string {
  return text.toLowerCase();
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

/** Response components are named after the codes that they cover. */
function codesOf(reference: string): readonly string[] {
  return nameOf(reference).split('.');
}
