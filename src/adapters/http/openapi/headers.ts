import type { JsonSchema } from '../parameter.ts';
import { countSchema } from './fields.ts';

function header(description: string, schema: JsonSchema = { type: 'string' }): JsonSchema {
  return { description, schema };
}

/** A header of each response that names it. */
function required(description: string, schema?: JsonSchema): JsonSchema {
  return { ...header(description, schema), required: true };
}

/** Every header of a response that a client may go by. */
export const responseHeaders: Readonly<Record<string, JsonSchema>> = {
  'X-Request-Id': required('The id of the request: the one that the client sent, or a new one.'),
  'Cache-Control': required(
    'no-cache for records, which have to be revalidated; no-store for errors.',
  ),
  ETag: required('The version of the record and how much of it is shown, as a strong entity tag.', {
    type: 'string',
    pattern: '^"[1-9][0-9]*(-public)?"$',
  }),
  Location: required('Where the new record is.', { type: 'string', format: 'uri-reference' }),
  Link: header('The next page (RFC 8288), with rel="next", where there is one.'),
  'X-Total-Count': header('With count=exact: how many records the filter matches.', countSchema),
  'Idempotency-Replayed': header(
    'true where the response is that of an earlier request with the same key.',
    { const: 'true' },
  ),
  'Preference-Applied': header('The preference that was followed (RFC 7240).', {
    enum: ['return=minimal', 'return=representation'],
  }),
  'Retry-After': required('Seconds after which another try makes sense.', countSchema),
  'WWW-Authenticate': required('What is missing (RFC 6750, section 3).'),
  'Accept-Post': header('The media types that a POST may have.'),
  'Accept-Patch': header('The media types that a PATCH may have.'),
  Accept: header('The media types that a PUT may have.'),
  'Accept-Encoding': header('The content encodings that there are.'),
  RateLimit: header('What is left of each limit, and until when.'),
  'RateLimit-Policy': header('The limits that the request counts for.'),
  Vary: header('What responses differ by: credentials, or the origin of the script that asks.'),
  'Access-Control-Allow-Origin': header('The origin whose scripts may read the response.'),
  'Access-Control-Expose-Headers': header('The headers that those scripts may read.'),
};
