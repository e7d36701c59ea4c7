import type { JsonSchema } from '../parameter.ts';
import { countSchema } from './fields.ts';

interface Header {
  readonly description: string;
  readonly schema: JsonSchema;
  /** Whether each response that names the header has it. */
  readonly required?: true;
}

const string: JsonSchema = { type: 'string' };

/** Every header of a response that a client may go by. */
const headers: Readonly<Record<string, Header>> = {
  'X-Request-Id': {
    description: 'The id of the request: the one that the client sent, or a new one.',
    schema: string,
    required: true,
  },
  'Cache-Control': {
    description: 'no-cache for records, which have to be revalidated; no-store for errors.',
    schema: string,
    required: true,
  },
  ETag: {
    description: 'The version of the record, as a strong entity tag.',
    schema: { type: 'string', pattern: '^"[1-9][0-9]*"$' },
    required: true,
  },
  Location: {
    description: 'Where the new record is.',
    schema: { type: 'string', format: 'uri-reference' },
    required: true,
  },
  Link: {
    description: 'The next page (RFC 8288), with rel="next", where there is one.',
    schema: string,
  },
  'X-Total-Count': {
    description: 'With count=exact: how many records the filter matches.',
    schema: countSchema,
  },
  'Idempotency-Replayed': {
    description: 'true where the response is that of an earlier request with the same key.',
    schema: { const: 'true' },
  },
  'Preference-Applied': {
    description: 'The preference that was followed (RFC 7240).',
    schema: { enum: ['return=minimal', 'return=representation'] },
  },
  'Retry-After': {
    description: 'Seconds after which another try makes sense.',
    schema: countSchema,
    required: true,
  },
  'WWW-Authenticate': {
    description: 'What is missing (RFC 6750, section 3).',
    schema: string,
    required: true,
  },
  'Accept-Post': { description: 'The media types that a POST may have.', schema: string },
  'Accept-Patch': { description: 'The media types that a PATCH may have.', schema: string },
  Accept: { description: 'The media types that a PUT may have.', schema: string },
  'Accept-Encoding': { description: 'The content encodings that there are.', schema: string },
  RateLimit: { description: 'What is left of each limit, and until when.', schema: string },
  'RateLimit-Policy': { description: 'The limits that the request counts for.', schema: string },
  Vary: { description: 'Responses differ by the origin of the script that asks.', schema: string },
  'Access-Control-Allow-Origin': {
    description: 'The origin whose scripts may read the response.',
    schema: string,
  },
  'Access-Control-Expose-Headers': {
    description: 'The headers that those scripts may read.',
    schema: string,
  },
};

/** The headers of these names, as references to the components. */
export function headerReferences(names: readonly string[]): JsonSchema {
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const),
  );
}

/** The components of these names. */
export function headerComponents(names: ReadonlySet<string>): JsonSchema {
  const used = Object.entries(headers).filter(([name]) => names.has(name));
  return Object.fromEntries(used.map(([name, header]) => [name, { ...header }]));
}
