import type { IncomingMessage } from 'node:http';
import { countHeader } from '../headers/count.ts';
import { parseMediaType } from '../headers/media-type.ts';
import type { BodyForm } from '../parameter.ts';
import { Problem } from '../problems/problem.ts';
import { bodyLimit } from './limits.ts';

/** True when the request has a body, even an empty one that is sent in chunks. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Refuses a body by what its headers say of it, before any of it is read.
 *
 * @throws Problem `unsupported-media-type`, `body-too-large`, `invalid-body`
 */
export function checkBodyHeaders(request: IncomingMessage, form: BodyForm): void {
  const { headers } = request;
  const type = headers['content-type'];
  if (type !== undefined || hasBody(request)) checkMediaType(request, form);
  const encoding = headers['content-encoding'];
  if (encoding !== undefined) {
    if (!/^[ \t]*identity[ \t]*$/i.test(encoding)) {
      throw unsupported(form, 'The body must not be compressed or encoded.', 'identity');
    }
    headers['content-encoding'] = 'identity'; // The parser knows it only in this spelling.
  }
  if (Number(headers['content-length'] ?? 0) > bodyLimit) throw bodyTooLarge();
  if (!hasBody(request)) throw emptyBody();
}

function checkMediaType(request: IncomingMessage, form: BodyForm): void {
  const { headers } = request;
  const header = headers['content-type'];
  if (header === undefined) {
    const types = form.types.join(' or ');
    throw unsupported(form, `The header Content-Type is missing: it must be ${types}.`);
  }
  const type = countHeader(request, 'content-type') === 1 ? parseMediaType(header) : undefined;
  if (type === undefined || !form.types.includes(type.type)) {
    throw unsupported(form, `The header Content-Type must be ${form.types.join(' or ')}.`);
  }
  const { parameters } = type;
  const fits = parameters.every(([name, value]) => name === 'charset' && /^utf-8$/i.test(value));
  if (!fits || parameters.length > 1) {
    throw unsupported(form, 'The body must be in UTF-8; no other parameter is known.');
  }
  headers['content-type'] = type.type; // The parser does not know every spelling.
}

function unsupported(form: BodyForm, sentence: string, encoding?: string): Problem {
  const headers = [form.acceptHeader, form.types.join(', ')];
  // RFC 9110, section 12.5.3: in a 415, which encodings there are.
  if (encoding !== undefined) headers.push('Accept-Encoding', encoding);
  return new Problem('unsupported-media-type', sentence, { headers });
}

export function bodyTooLarge(): Problem {
  return new Problem('body-too-large', `The body must have at most ${bodyLimit} bytes.`, {
    headers: ['Connection', 'close'],
  });
}

export function emptyBody(): Problem {
  return new Problem('invalid-body', 'The body is empty; it must be a JSON object.');
}
