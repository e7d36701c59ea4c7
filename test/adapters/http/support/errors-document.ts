import { problemCatalogue, retryAfter } from '../../../../src/adapters/http/problems/catalogue.ts';
import type { FieldCode } from '../../../../src/domain/fields/issues.ts';

const fieldCodes: Readonly<Record<FieldCode, string>> = {
  required: 'A required field is absent or null.',
  type: 'Not of the field’s JSON type.',
  'too-short': 'Too few characters.',
  'too-long': 'Too many characters, bytes or elements.',
  invalid: 'The right type and length, but the wrong form.',
  unknown: 'Names a user who does not exist.',
  taken: 'Another record has this value.',
  mismatch: 'An `id` that differs from the one in the path.',
  key: 'The name of a field must have 1 to 64 characters, no NUL and no half of a surrogate pair, and not be `__proto__`. If it is too long, the pointer is that of its object. In a post it must not be another spelling of `publishedAt` or `authorId`.',
  'too-deep': 'More than 16 levels, the record itself included.',
  'too-large': 'The record has more than 1 MiB as compact JSON, or more than 50,000 values.',
  'number-range': 'An integer beyond ±(2⁵³ − 1), or a number that overflows.',
};

/** Returns docs/errors.md, generated from the catalogue of problems. */
export function errorsDocument(): string {
  const rows = Object.entries(problemCatalogue).map(([code, kind]) => {
    const { status, title, meaning, advice } = kind;
    const name = `<a id="${code}"></a>\`${code}\``;
    return `| ${status} | ${name} | **${title}.** ${meaning} ${advice} |`;
  });
  return `# Errors

<!-- Made from src/adapters/http/problems/catalogue.ts: UPDATE_DOCS=1 npx mocha test/adapters/http/problems/problems.test.ts -->

Every error of the API is a JSON object of one shape (RFC 9457, \`application/problem+json\`):

\`\`\`json
{
  "type": "/problems/email-taken",
  "title": "Email already in use",
  "status": 409,
  "code": "email-taken",
  "error": "Another user already has this email address.",
  "detail": "Another user already has this email address.",
  "requestId": "0192f0c1-6f5e-7b1c-9d3a-0f1e2d3c4b5a",
  "errors": [
    { "pointer": "/email", "code": "taken", "message": "Another user already has this email address." }
  ]
}
\`\`\`

Let programs read \`code\`, which does not change within v1. \`error\` is a sentence for people, and can change. \`errors\` lists every invalid field (\`pointer\`), query parameter (\`parameter\`) or header (\`header\`): at most 100. \`type\` is the path of a page on the server that explains the error as this page does. \`requestId\` finds the request in the server's log. \`Retry-After\` is ${retryAfter.min} to ${retryAfter.max} seconds, at random, so that clients don't all return at once; for a [rate limit](http.md#limits), it is the time until the limit resets.

| Status | Code | What it means, and what to do |
|---|---|---|
${rows.join('\n')}

## When a web page gets no response

A browser hides a response from a page of another origin unless the server allows that origin (CORS). \`fetch\` then fails with a \`TypeError\`, such as "Failed to fetch", and [the client](client.md) with \`no-response\`. Start the server with the page's origin, for example \`--cors http://localhost:5173\`. An origin has a scheme, a host and a port, and no path.

## Codes of fields

The \`code\` in the entries of \`errors\`. For query parameters and headers it is \`unknown\` (no such name) or \`invalid\`.

| Code | Meaning |
|---|---|
${Object.entries(fieldCodes)
  .map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)
  .join('\n')}
`;
}
