import { problemCatalogue } from '../../../../src/adapters/http/problem-catalogue.ts';

/** docs/errors.md, made of the catalogue that the server answers from. */
export function errorsDocument(): string {
  const kinds = Object.entries(problemCatalogue);
  const rows = kinds.map(
    ([code, { status, title }]) => `| ${status} | [\`${code}\`](#${code}) | ${title} |`,
  );
  const sections = kinds.map(([code, kind]) => {
    const retry =
      'retryAfter' in kind ? `\n\nThe header \`Retry-After\` says ${kind.retryAfter} s.` : '';
    return `## ${code}\n\n**${kind.status}, ${kind.title}.** ${kind.meaning}\n\n${kind.advice}${retry}\n`;
  });
  return `# Errors

<!-- Made of src/adapters/http/problem-catalogue.ts: UPDATE_DOCS=1 npx mocha test/adapters/http/problems.test.ts -->

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

Programs go by \`code\`, which does not change within v1; \`error\` is a sentence for people and may. \`errors\` lists every field (\`pointer\`), query parameter (\`parameter\`) or header (\`header\`) that is wrong, 100 at most. \`type\` is the path of a page on the server that says what is said here. \`requestId\` finds the request in the server's log.

| Status | Code | Title |
|---|---|---|
${rows.join('\n')}

${sections.join('\n')}`;
}
