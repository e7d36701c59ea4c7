import type { ErrorCode } from '../../../domain/errors.ts';
import { recordLimits } from '../../../domain/fields/rules.ts';
import { maxBodyBytes, maxTargetLength } from '../sizes.ts';

function formatCount(bytes: number): string {
  return bytes.toLocaleString('en-US');
}

const bodyLimit = `${formatCount(maxBodyBytes)} bytes: 1 MiB for the record and ${formatCount(recordLimits.addedBytes)} bytes for what the server adds to it`;

/** A problem type (RFC 9457, section 3.1): everything that does not depend on the request. */
export interface ProblemType {
  readonly status: number;
  readonly title: string;
  /** When it is sent. */
  readonly meaning: string;
  /** What the client can do. */
  readonly advice: string;
  /** True if the same request can succeed later: it has a `Retry-After`. */
  readonly isTemporary?: true;
  /** The headers that it can have besides the common ones and `Retry-After`. */
  readonly headers?: readonly string[];
}

/** The `Retry-After` of temporary problems, in seconds: at random, so that clients don't all return at once. */
export const retryAfter = { min: 1, max: 5 };

const catalogue = {
  'bad-request': {
    status: 400,
    title: 'Malformed HTTP request',
    meaning: 'The first line, a header, the framing or the Host header breaks a rule of HTTP.',
    advice: 'Use a common HTTP client, and check the proxies between it and the server.',
  },
  'invalid-path': {
    status: 400,
    title: 'Malformed request target',
    meaning:
      'The path contains malformed percent-encoding or unencoded characters, or the first line contains a URL with a malformed host or a scheme other than http and https.',
    advice: 'Percent-encode each segment of the path as UTF-8.',
  },
  'invalid-query': {
    status: 400,
    title: 'Invalid query parameter',
    meaning: 'A query parameter is unknown, is repeated, or has a value that is not allowed.',
    advice:
      '"errors" names each such parameter, and "allowed" lists the known ones. To filter by a custom field, declare it on the server.',
  },
  'invalid-cursor': {
    status: 400,
    title: 'Invalid cursor',
    meaning: 'The cursor is damaged, or belongs to a list with another filter or sort.',
    advice: 'Use "next" with the filter and sort that it came from, or start without a cursor.',
  },
  'invalid-header': {
    status: 400,
    title: 'Malformed header',
    meaning: 'A header that the request relies on is malformed or repeated.',
    advice: '"errors" names the header and its format.',
  },
  'invalid-body': {
    status: 400,
    title: 'Body is not a JSON object',
    meaning: 'The body is empty, not JSON, not UTF-8, or not an object.',
    advice: 'Send one JSON object in UTF-8.',
  },
  unauthenticated: {
    status: 401,
    title: 'Credentials needed',
    meaning: 'The credentials are missing, unknown, revoked or expired.',
    advice: 'Send a key or an access token: Authorization: Bearer …. WWW-Authenticate says more.',
    headers: ['WWW-Authenticate'],
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    meaning: 'The caller lacks a scope, does not own the record, or is not a user.',
    advice: 'If WWW-Authenticate names a scope, ask the issuer of your credentials for it.',
    headers: ['WWW-Authenticate'],
  },
  'user-not-found': {
    status: 404,
    title: 'User not found',
    meaning: 'No user has the id in the path.',
    advice: 'List the users to see which exist.',
  },
  'post-not-found': {
    status: 404,
    title: 'Post not found',
    meaning: 'No post has the id in the path, or none that the caller can read.',
    advice: 'List the posts to see which exist.',
  },
  'path-not-found': {
    status: 404,
    title: 'Path not found',
    meaning: 'No such path. Paths are case-sensitive and have no trailing slash.',
    advice: 'Compare the path with the list of endpoints.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path exists, but not with this method.',
    advice: 'The header Allow lists the methods.',
  },
  'request-timeout': {
    status: 408,
    title: 'Request took too long',
    meaning: 'The request did not arrive completely in time.',
    advice: 'Send it again over a faster connection.',
  },
  'email-taken': {
    status: 409,
    title: 'Email already in use',
    meaning: 'Another user has the same email address, ignoring case.',
    advice: 'Use another address, or find the user who has it: GET /users?email=…',
  },
  'field-taken': {
    status: 409,
    title: 'Value already in use',
    meaning: 'Another record already has this value, and the field must be unique.',
    advice: 'Use another value. The member "errors" names the field.',
  },
  refused: {
    status: 409,
    title: 'Change rejected by a rule of this server',
    meaning:
      'A rule of the operator (in its code or its database) or a limit of the store rejects the change.',
    advice: '"reason" says which one.',
  },
  'user-has-posts': {
    status: 409,
    title: 'User still has posts',
    meaning: 'A user with posts is deleted only if the request says what to do with the posts.',
    advice: 'Add ?posts=delete to delete them, or ?posts=keep to keep them without an author.',
  },
  'events-expired': {
    status: 410,
    title: 'Events expired',
    meaning: 'The position is too old, malformed, or from another store.',
    advice: 'List all records, and read the events from their end: GET /events without "after".',
  },
  'version-mismatch': {
    status: 412,
    title: 'Version mismatch',
    meaning: 'The version of the record does not satisfy If-Match or If-None-Match.',
    advice: 'Read the record again, and send the change with its new ETag.',
    headers: ['ETag'],
  },
  'body-too-large': {
    status: 413,
    title: 'Body too large',
    meaning: `The body has more than ${bodyLimit}.`,
    advice: 'Send less: store large data elsewhere, and put its URL in the record.',
  },
  'uri-too-long': {
    status: 414,
    title: 'Path and query too long',
    meaning: `The path and the query together exceed ${maxTargetLength / 1024} KiB.`,
    advice: 'Shorten the URL: for example, filter by fewer ids at once.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    meaning:
      'The body does not have the type application/json (or merge patch), is not in UTF-8, or is compressed.',
    advice: 'Accept-Post, Accept-Patch or Accept of the response lists the media types.',
    headers: ['Accept-Post', 'Accept-Patch', 'Accept', 'Accept-Encoding'],
  },
  'misdirected-request': {
    status: 421,
    title: 'Wrong host',
    meaning: 'The header Host names another server (protection against DNS rebinding).',
    advice: 'Use the name localhost, or set PUBLIC_URL to the URL that you use.',
  },
  'invalid-record': {
    status: 422,
    title: 'Invalid record',
    meaning: 'One or more fields break a rule.',
    advice: '"errors" lists each field, with a pointer (RFC 6901) and a code.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'Idempotency key reused',
    meaning: 'The Idempotency-Key was used in the last 24 hours with another body.',
    advice: 'Use a new key for each new record, and the same key only to repeat a request.',
  },
  'precondition-required': {
    status: 428,
    title: 'If-Match required',
    meaning: 'This server rejects a change that does not say which version it is based on.',
    advice: 'Read the record and send its ETag in the header If-Match.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    meaning:
      'Too many requests came from your address or with your credentials, or too many of them are waiting. Nothing was changed.',
    advice:
      'Retry after the time in Retry-After. If there is a RateLimit, it shows which limit you have reached.',
    isTemporary: true,
  },
  'headers-too-large': {
    status: 431,
    title: 'Headers too large',
    meaning: 'The request line and the headers together exceed the limit (32 KiB by default).',
    advice: 'Send fewer or shorter headers; often a cookie is too large.',
  },
  internal: {
    status: 500,
    title: 'Internal server error',
    meaning: 'Something went wrong on the server. Its log contains the request id.',
    advice: 'Give the request id to the operator of the server.',
  },
  'events-unavailable': {
    status: 501,
    title: 'Events not available',
    meaning: 'The store that this server uses does not keep an event log.',
    advice: 'Use a store with an event log. The memory, SQLite and MongoDB stores have one.',
  },
  'store-unavailable': {
    status: 503,
    title: 'Store not available',
    meaning: 'The store currently cannot be reached or cannot write.',
    advice:
      'Retry after the time in Retry-After. If "outcome" is "unknown", the change may have been made: an Idempotency-Key or If-Match makes the retry safe.',
    isTemporary: true,
  },
  overloaded: {
    status: 503,
    title: 'Server overloaded',
    meaning: 'Too many requests are waiting, or a list took too long. Nothing was changed.',
    advice: 'Retry after the time in Retry-After.',
    isTemporary: true,
  },
  'credentials-unavailable': {
    status: 503,
    title: 'Credentials cannot be checked',
    meaning: 'The identity provider that issued the token cannot be reached. Nothing was changed.',
    advice: 'Retry after the time in Retry-After.',
    isTemporary: true,
  },
  'shutting-down': {
    status: 503,
    title: 'Server shutting down',
    meaning:
      'The server is finishing earlier requests and accepts no new ones. Nothing was changed.',
    advice: 'Retry after the time in Retry-After: another server may be there by then.',
    isTemporary: true,
  },
} as const satisfies Readonly<
  Record<Exclude<ErrorCode, 'id-taken'>, ProblemType> & Record<string, ProblemType>
>;

/** Every `code` of a response. Stable within v1. */
export type ProblemCode = keyof typeof catalogue;

/** The problem types by code, ordered by status. The responses, the pages and the documentation come from it. */
export const problemCatalogue: Readonly<Record<ProblemCode, ProblemType>> = catalogue;

/** The problems common to all requests, except `path-not-found` and `method-not-allowed`. */
export const commonProblems: readonly ProblemCode[] = [
  'bad-request',
  'invalid-path',
  'invalid-query',
  'invalid-header',
  'unauthenticated',
  'forbidden',
  'request-timeout',
  'uri-too-long',
  'misdirected-request',
  'too-many-requests',
  'headers-too-large',
  'internal',
  'store-unavailable',
  'overloaded',
  'credentials-unavailable',
  'shutting-down',
];
