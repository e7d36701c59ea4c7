import type { IncomingMessage } from 'node:http';
import { bodyLimit } from './limits.ts';
import { parseMediaType } from './media-type.ts';
import { Problem } from './problems.ts';

/** What a body may be. */
export interface BodyForm {
  readonly types: readonly string[];
  /** The header that lists the types where they are not met. */
  readonly acceptHeader: 'Accept-Post' | 'Accept-Patch' | 'Accept';
}

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
  const types = request.headersDistinct['content-type'];
  if (types !== undefined || hasBody(request)) checkMediaType(types ?? [], form);
  checkEncoding(request, form);
  if (Number(request.headers['content-length'] ?? 0) > bodyLimit) throw bodyTooLarge();
  if (!hasBody(request)) throw emptyBody();
}

function checkMediaType(headers: readonly string[], form: BodyForm): void {
  const [header] = headers;
  if (header === undefined) throw unsupported(form, 'The body has no Content-Type.');
  const type = headers.length === 1 ? parseMediaType(header) : undefined;
  if (type === undefined || !form.types.includes(type.type)) {
    throw unsupported(form, `The body must be ${form.types.join(' or ')}.`);
  }
  const { parameters } = type;
  const fits = parameters.every(([name, value]) => name === 'charset' && /^utf-8$/i.test(value));
  if (!fits || parameters.length > 1) {
    throw unsupported(form, 'The body must be in UTF-8; no other parameter is known.');
  }
}

function checkEncoding({ headers }: IncomingMessage, form: BodyForm): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined) return;
  if (!/^identity$/i.test(encoding.trim())) {
    throw unsupported(form, 'The body must not be compressed or encoded.', 'identity');
  }
}

function unsupported(form: BodyForm, sentence: string, encoding?: string): Problem {
  return new Problem('unsupported-media-type', sentence, {
    headers: {
      [form.acceptHeader]: form.types.join(', '),
      // RFC 9110, section 12.5.3: in a 415, which encodings there are.
      ...(encoding !== undefined && { 'Accept-Encoding': encoding }),
    },
  });
}

export function bodyTooLarge(): Problem {
  // Nobody knows how much is still on its way, and would have to be read before the next request.
  return new Problem('body-too-large', `The body must have at most ${bodyLimit} bytes.`, {
    headers: { Connection: 'close' },
  });
}

/**
 * True when more is still to come of a body that nobody wants than is worth reading, only to use
 * the connection again.
 */
export function isLargeRest({ complete, headers }: IncomingMessage): boolean {
  return !complete && Number(headers['content-length'] ?? 0) > bodyLimit;
}

export function emptyBody(): Problem {
  return new Problem('invalid-body', 'The body is empty; it must be a JSON object.');
}
