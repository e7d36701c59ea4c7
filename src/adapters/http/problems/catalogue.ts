import type { ErrorCode } from '../../../domain/errors.ts';
import { recordLimits } from '../../../domain/rules.ts';

/** What a response has beside the client's fields: id, times and fallbacks. 160 bytes with our own ids. */
const addedBytes = 1024;

/** Bytes of a body: the largest record as GET returns it, so that it can be PUT back. */
export const bodyLimit = recordLimits.bytes + addedBytes;

function count(bytes: number): string {
  return bytes.toLocaleString('en-US');
}

const bodyLimitText = `${count(bodyLimit)} bytes: 1 MiB for the record and ${count(addedBytes)} bytes for what the server adds to it`;

/** A problem type (RFC 9457, section 3.1): everything that does not depend on the request. */
export interface ProblemType {
  readonly status: number;
  readonly title: string;
  /** When it is sent. */
  readonly meaning: string;
  /** What the client can do. */
  readonly advice: string;
  /** The header `Retry-After`, in seconds. */
  readonly retryAfter?: number;
  /** Up to this many seconds are added at random, so that clients do not all come back at once. */
  readonly jitter?: number;
}

/** The problem types by code, ordered by status. The responses, the pages and the documentation come from it. */
export const problemCatalogue = {
  'bad-request': {
    status: 400,
    title: 'Not a proper HTTP request',
    meaning:
      'The request breaks a rule of HTTP itself: its first line, a header, its framing, or the Host header that HTTP/1.1 requires.',
    advice: 'Send it with a common HTTP client, and look at what stands between it and the server.',
  },
  'invalid-path': {
    status: 400,
    title: 'Path cannot be decoded',
    meaning:
      'The path has a "%" that begins no encoded byte, bytes that are not UTF-8, or characters that have to be encoded.',
    advice: 'Percent-encode each segment of the path as UTF-8.',
  },
  'invalid-query': {
    status: 400,
    title: 'Query parameter not accepted',
    meaning:
      'A query parameter is unknown here, is given more often than it may be, or has a value that it cannot have.',
    advice:
      'The member "errors" names each such parameter, and "allowed" lists the parameters that there are.',
  },
  'invalid-cursor': {
    status: 400,
    title: 'Cursor not usable here',
    meaning:
      'The cursor was not made by this server, or was made for a list with another filter or another sort.',
    advice:
      'Use "next" of the page before, or its Link header, with the same filter and the same sort; or begin again without a cursor.',
  },
  'invalid-header': {
    status: 400,
    title: 'Header malformed',
    meaning:
      'A header that the request relies on cannot be read, or is given more often than it may be: If-Match, If-None-Match, Idempotency-Key or Authorization.',
    advice: 'The member "errors" names the header and says what it has to look like.',
  },
  'invalid-body': {
    status: 400,
    title: 'Body is not a JSON object',
    meaning: 'The body is empty, is not JSON, is not UTF-8, or is not an object.',
    advice: 'Send one JSON object, in UTF-8.',
  },
  unauthenticated: {
    status: 401,
    title: 'Credentials needed',
    meaning:
      'The request has no credentials, or has some that are not valid: unknown, changed, revoked or expired.',
    advice:
      'Send a key or an access token in the header Authorization, as Bearer. WWW-Authenticate says where to learn who issues tokens.',
  },
  forbidden: {
    status: 403,
    title: 'Not allowed',
    meaning:
      'The caller lacks the scope that this needs, or does not own the record; or it is no user, where the path or the query has "me".',
    advice:
      'WWW-Authenticate names the scope that is enough, if one is. Ask for it where you got the credentials.',
  },
  'user-not-found': {
    status: 404,
    title: 'No such user',
    meaning: 'No user has the id in the path.',
    advice: 'The user may have been deleted. List the users to see which there are.',
  },
  'post-not-found': {
    status: 404,
    title: 'No such post',
    meaning: 'No post has the id in the path, or none that the caller may see.',
    advice: 'The post may have been deleted. List the posts to see which there are.',
  },
  'path-not-found': {
    status: 404,
    title: 'No such path',
    meaning:
      'Nothing is served under this path. Paths are case-sensitive and have no slash at their end.',
    advice: 'Compare the path with the list of endpoints.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path is served, but not with this method.',
    advice: 'The header Allow lists the methods that there are.',
  },
  'request-timeout': {
    status: 408,
    title: 'Request took too long',
    meaning: 'The request did not arrive completely in the time that the server waits for one.',
    advice: 'Send it again, over a connection that is fast enough.',
  },
  'email-taken': {
    status: 409,
    title: 'Email already in use',
    meaning: 'Another user has the same email address, ignoring case.',
    advice: 'Use another address, or find the user who has it: list users with ?email=…',
  },
  'field-taken': {
    status: 409,
    title: 'Value already in use',
    meaning: 'Another record has this value of a field that is unique here.',
    advice: 'Use another value. The member "errors" names the field.',
  },
  refused: {
    status: 409,
    title: 'Change rejected by a rule of this server',
    meaning:
      'The operator of this server has a rule, in its code or in its database, that rejects the change. The member "reason" says which.',
    advice: 'Read "reason", and send a request that keeps the rule.',
  },
  'user-has-posts': {
    status: 409,
    title: 'User still has posts',
    meaning: 'A user who has posts is not deleted unless the request says what becomes of them.',
    advice:
      'Delete with ?posts=delete to delete the posts too, or with ?posts=keep to leave them without an author.',
  },
  'events-expired': {
    status: 410,
    title: 'Events are gone',
    meaning:
      'The log of changes cannot be read on from this position: it is too old, of another store, or no position at all.',
    advice:
      'List all records again, then follow the log from its end: read it once without "after".',
  },
  'version-mismatch': {
    status: 412,
    title: 'Record is at another version',
    meaning:
      'The record changed since it was read: If-Match names another version or has only weak entity tags, or If-None-Match names this one.',
    advice: 'Read the record again, look at what changed, and send the change with the new ETag.',
  },
  'body-too-large': {
    status: 413,
    title: 'Body too large',
    meaning: `The body has more than ${bodyLimitText}.`,
    advice: 'Send less, or keep large data elsewhere and its address in the record.',
  },
  'uri-too-long': {
    status: 414,
    title: 'Path and query too long',
    meaning: 'The path and the query together are longer than the server takes.',
    advice: 'Ask for fewer things at once.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Body is not of a JSON media type',
    meaning:
      'Bodies are application/json, patches also application/merge-patch+json; in UTF-8 and without a content encoding.',
    advice:
      'A header of the response lists the media types that there are: Accept-Post, for PATCH Accept-Patch, for PUT Accept.',
  },
  'expectation-failed': {
    status: 417,
    title: 'Expectation not met',
    meaning: 'The header Expect asks for something other than 100-continue.',
    advice: 'Send the request without this header.',
  },
  'misdirected-request': {
    status: 421,
    title: 'Not a name of this server',
    meaning:
      'The header Host names another server. One that asks for no credentials answers to names of its own machine only, so that no web page can reach it under a name of its own (DNS rebinding).',
    advice: 'Call the server localhost or 127.0.0.1, or start it with the PUBLIC_URL that you use.',
  },
  'invalid-record': {
    status: 422,
    title: 'Record breaks rules',
    meaning: 'The body is a JSON object, but one or more of its fields break a rule.',
    advice: 'The member "errors" lists each such field, with a pointer (RFC 6901) and a code.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'Idempotency key used otherwise',
    meaning: 'The Idempotency-Key was used within the last 24 hours with another body.',
    advice:
      'Use a new key for each new record, and the same one only to repeat the very same request.',
  },
  'precondition-required': {
    status: 428,
    title: 'If-Match required',
    meaning:
      'This server accepts a change only if it says which version of the record it starts from.',
    advice: 'Read the record and send its ETag in the header If-Match.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    meaning:
      'Your address or your credentials sent more requests than they may in a minute, or too many tokens that are not valid. Nothing was changed.',
    advice:
      'Try again after the time in the header Retry-After. RateLimit says which limit is used up.',
  },
  'headers-too-large': {
    status: 431,
    title: 'Headers too large',
    meaning: 'The headers together are larger than the server takes.',
    advice: 'Send fewer or shorter headers; often it is a cookie that grew.',
  },
  internal: {
    status: 500,
    title: 'Error in the server',
    meaning:
      'Something went wrong that is not the fault of the request. It was logged with the request id.',
    advice: 'Give the request id to the operator of the server.',
  },
  'events-unavailable': {
    status: 501,
    title: 'No log of events',
    meaning: 'The store keeps no log of changes: a MongoDB server that stands alone has none.',
    advice: 'Run MongoDB as a replica set; one of a single server will do.',
  },
  'store-unavailable': {
    status: 503,
    title: 'Store not available',
    meaning: 'The store behind the server cannot be reached or cannot write at present.',
    advice:
      'Try again after the time in the header Retry-After. The member "outcome" is "none" where nothing was changed; where it is "unknown", an Idempotency-Key or an If-Match makes the repeat safe.',
    retryAfter: 5,
  },
  overloaded: {
    status: 503,
    title: 'Server overloaded',
    meaning: 'More work is waiting than the server may hold. Nothing was changed.',
    advice: 'Try again after the time in the header Retry-After.',
    retryAfter: 1,
    jitter: 4,
  },
  'credentials-unavailable': {
    status: 503,
    title: 'Credentials cannot be checked',
    meaning:
      'The identity provider whose keys are needed to check your token cannot be reached. Nothing was changed.',
    advice: 'Try again after the time in the header Retry-After.',
    retryAfter: 5,
  },
  'shutting-down': {
    status: 503,
    title: 'Server shutting down',
    meaning:
      'The server finishes what it has begun and takes no new requests. Nothing was changed.',
    advice:
      'Try again after the time in the header Retry-After; another server may be there by then.',
    retryAfter: 5,
  },
} as const satisfies Readonly<
  Record<Exclude<ErrorCode, 'id-taken'>, ProblemType> & Record<string, ProblemType>
>;

/** Every `code` of a response. Stable within v1. */
export type ProblemCode = keyof typeof problemCatalogue;

/** The members that some problems have beside those of all, as examples. */
export const problemExamples: { readonly [C in ProblemCode]?: Readonly<Record<string, unknown>> } =
  {
    'invalid-query': {
      errors: [
        { parameter: 'limit', code: 'invalid', message: 'Must be an integer from 1 to 1000.' },
      ],
      allowed: ['limit', 'cursor', 'sort'],
    },
    'invalid-cursor': {
      errors: [{ parameter: 'cursor', code: 'invalid', message: 'Use "next" of the page before.' }],
    },
    'invalid-header': {
      errors: [{ header: 'If-Match', code: 'invalid', message: 'Must be * or entity tags: "1".' }],
    },
    'invalid-record': {
      errors: [{ pointer: '/name', code: 'required', message: 'This field is required.' }],
    },
    'email-taken': {
      errors: [
        {
          pointer: '/email',
          code: 'taken',
          message: 'Another user already has this email address.',
        },
      ],
    },
    'field-taken': {
      errors: [
        {
          pointer: '/slug',
          code: 'taken',
          message: 'Another record already has this value of "slug".',
        },
      ],
    },
    'user-has-posts': { posts: 3 },
    refused: { reason: 'This name is reserved.' },
    'store-unavailable': { outcome: 'none' },
  };

/** The headers that some problems have beside those of all. */
export const problemHeaders: { readonly [C in ProblemCode]?: readonly string[] } = {
  unauthenticated: ['WWW-Authenticate'],
  forbidden: ['WWW-Authenticate'],
  'version-mismatch': ['ETag'],
  'unsupported-media-type': ['Accept-Post', 'Accept-Patch', 'Accept', 'Accept-Encoding'],
  'too-many-requests': ['Retry-After'],
  'store-unavailable': ['Retry-After'],
  overloaded: ['Retry-After'],
  'credentials-unavailable': ['Retry-After'],
  'shutting-down': ['Retry-After'],
};

/** The problems that any request can end in, beside `path-not-found` and `method-not-allowed`. */
export const commonProblems: readonly ProblemCode[] = [
  'bad-request',
  'invalid-path',
  'invalid-query',
  'invalid-header',
  'unauthenticated',
  'forbidden',
  'request-timeout',
  'uri-too-long',
  'expectation-failed',
  'misdirected-request',
  'too-many-requests',
  'headers-too-large',
  'internal',
  'store-unavailable',
  'overloaded',
  'credentials-unavailable',
  'shutting-down',
];
