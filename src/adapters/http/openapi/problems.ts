import { maxIssues } from '../../../domain/fields/issues.ts';
import type { JsonSchema } from '../endpoint.ts';
import { countSchema, objectSchema, reference } from './fields.ts';

const string: JsonSchema = { type: 'string' };

/** One flat schema for all problems (RFC 9457): generators cannot use a union of many. */
export const problemSchemas: JsonSchema = {
  Problem: objectSchema(
    'An error (RFC 9457). Programs should read "code".',
    {
      type: { type: 'string', format: 'uri-reference', description: 'A page about the problem.' },
      title: string,
      status: { type: 'integer', format: 'int32', minimum: 400, maximum: 599 },
      code: { type: 'string', description: 'Stable within v1.' },
      error: { type: 'string', description: 'A sentence for people.' },
      detail: { type: 'string', description: 'The same as "error".' },
      requestId: { type: 'string', description: 'The id of the request, as in the log.' },
      errors: {
        type: 'array',
        description: 'All errors of the request.',
        maxItems: maxIssues,
        items: reference('ProblemEntry'),
      },
      allowed: { type: 'array', description: 'invalid-query: the parameters.', items: string },
      posts: { ...countSchema, description: 'user-has-posts: their number, if you can read them.' },
      reason: { type: 'string', description: 'refused: the rule that rejects the change.' },
      outcome: {
        type: 'string',
        description: 'store-unavailable: "none" if nothing was changed, else "unknown".',
      },
    },
    ['type', 'title', 'status', 'code', 'error', 'detail', 'requestId'],
  ),
  ProblemEntry: objectSchema(
    'An error in a field, a query parameter or a header.',
    {
      pointer: { type: 'string', description: 'The field, as a JSON Pointer (RFC 6901).' },
      parameter: string,
      header: string,
      code: string,
      message: string,
    },
    ['code', 'message'],
  ),
};

/** The content of every response that reports a problem. */
export const problemContent: JsonSchema = {
  'application/problem+json': { schema: reference('Problem') },
};
