import type { Context } from 'koa';
import { isPlainObject } from '../../domain/json.ts';
import { type BodyForm, bodyTooLarge, checkBodyHeaders, emptyBody } from './body-form.ts';
import { RequestAborted, watchBody } from './body-watch.ts';
import { takeExpectation } from './expectation.ts';
import { findDuplicateKey } from './json-scan.ts';
import { bodyLimit } from './limits.ts';
import { bodyParser } from './peers.ts';
import { Problem } from './problems.ts';

/** A body as it was sent, and as the JSON object that it is. */
export interface JsonBody {
  readonly raw: string;
  readonly value: Readonly<Record<string, unknown>>;
}

const parse = bodyParser({
  enableTypes: ['json'],
  jsonLimit: String(bodyLimit),
  strict: false, // Which values are accepted is said below.
  detectJSON: () => true, // The gate has looked at the media type, and more strictly.
  onProtoPoisoning: 'ignore', // A key like any other here; the domain refuses it by its name.
});

/**
 * Reads the body through koa-bodyparser, and refuses what that lets through: other media types,
 * charsets and encodings, an empty body, bytes that are not UTF-8, duplicate keys, a body that is
 * torn off.
 *
 * @throws Problem `unsupported-media-type`, `body-too-large`, `invalid-body`
 */
export async function readBody(ctx: Context, form: BodyForm): Promise<JsonBody> {
  checkBodyHeaders(ctx.req, form);
  checkUnread(ctx);
  if (ctx.req.headers['content-encoding'] !== undefined) {
    ctx.req.headers['content-encoding'] = 'identity'; // It was, whatever its case.
  }
  if (takeExpectation(ctx.req)) ctx.res.writeContinue();
  const watch = watchBody(ctx.req);
  try {
    await Promise.race([watch.failed, parse(ctx, async () => {})]);
  } catch (error) {
    throw problemOfParser(error);
  }
  if (!watch.isUtf8()) throw new Problem('invalid-body', 'The body is not UTF-8.');
  return jsonBody(ctx.request as ParsedRequest);
}

/** What koa-bodyparser leaves behind. */
interface ParsedRequest {
  readonly body?: unknown;
  readonly rawBody?: string;
}

function jsonBody({ body, rawBody = '' }: ParsedRequest): JsonBody {
  if (rawBody === '') throw emptyBody();
  if (!isPlainObject(body)) {
    throw new Problem('invalid-body', 'The body must be a JSON object.');
  }
  const duplicate = findDuplicateKey(rawBody);
  if (duplicate !== undefined) {
    const key = JSON.stringify(duplicate.key.slice(0, 64));
    throw new Problem('invalid-body', `The body has the key ${key} twice in one object.`);
  }
  return { raw: rawBody, value: body };
}

/** A body that somebody read before us is gone; waiting for it would never end. */
function checkUnread(ctx: Context): void {
  const { body } = ctx.request as ParsedRequest;
  if (ctx.req.destroyed && !ctx.req.complete) {
    throw new RequestAborted('The request was aborted before its body was read.');
  }
  if (body === undefined && !ctx.req.readableDidRead && !ctx.req.readableEnded) return;
  throw new Error(
    'The body of the request was read before Rostrum could read it. ' +
      'Put Rostrum in front of the body parser of the app, or keep the parser off its prefix.',
  );
}

/** What raw-body, co-body and JSON.parse throw, by what they mark their errors with. */
function problemOfParser(error: unknown): unknown {
  if (error instanceof Problem || error instanceof RequestAborted) return error;
  const { status, type } = error as { status?: number; type?: string };
  if (status === 413) return bodyTooLarge();
  if (type === 'request.aborted' || type === 'request.size.invalid') {
    return new RequestAborted('The request was aborted.', { cause: error });
  }
  if (!(error instanceof SyntaxError)) return error;
  return new Problem('invalid-body', 'The body is not valid JSON.');
}
