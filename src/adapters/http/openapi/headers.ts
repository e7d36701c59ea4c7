import type { JsonSchema } from '../endpoint.ts';
import { countSchema } from './fields.ts';

function header(description: string, schema: JsonSchema = { type: 'string' }): JsonSchema {
  return { description, schema };
}

/** A header that is always present in responses that list it. */
function required(description: string, schema?: JsonSchema): JsonSchema {
  return { ...header(description, schema), required: true };
}

/** The response headers for clients. */
export const responseHeaders: Readonly<Record<string, JsonSchema>> = {
  'X-Request-Id': required("The id of the request: the client's own, or a new one."),
  'Cache-Control': required('no-cache: revalidate the response. no-store: do not keep it.'),
  ETag: header(
    'The version of the record, if there is one, and its view, as a strong entity tag.',
    {
      type: 'string',
      pattern: '^"[1-9][0-9]*(-[\\w-]{8})?"$',
    },
  ),
  Location: required('The URL of the new record.', { type: 'string', format: 'uri-reference' }),
  Link: header('The next page (RFC 8288), with rel="next", if there is one.'),
  'X-Total-Count': header('With count=exact: the number of records that match.', countSchema),
  'Idempotency-Replayed': header('true if this is the response to an earlier request.'),
  'Preference-Applied': header('The preference that was followed (RFC 7240).'),
  'Retry-After': required('Seconds to wait before retrying.', countSchema),
  'WWW-Authenticate': header(
    'Which credentials or scope the request lacks (RFC 6750, section 3); absent from a 403 without credentials.',
  ),
  'Accept-Post': header('The media types of a POST.'),
  'Accept-Patch': header('The media types of a PATCH.'),
  Accept: header('The media types of a PUT.'),
  'Accept-Encoding': header('The content encodings of a body.'),
  RateLimit: header('The remaining quota of each limit, and when it resets.'),
  'RateLimit-Policy': header('The limits that the request counts for.'),
  Vary: header('The headers of the request that the response depends on.'),
};

/** The headers that any response of the API can have. */
export const possibleHeaderNames = [
  'X-Request-Id',
  'Cache-Control',
  'RateLimit',
  'RateLimit-Policy',
  'Vary',
];
