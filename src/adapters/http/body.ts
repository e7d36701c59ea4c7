import type { IncomingMessage } from 'node:http';
import bodyParser from 'koa-bodyparser';
import { isPlainObject } from '../../domain/records/json.ts';
import { type Context, type Middleware, RequestAborted } from './context.ts';
import { type AcceptedBody, acceptedBodies } from './endpoint.ts';
import { type Limiter, smallBody } from './limits/limiter.ts';
import { Problem } from './problems/problem.ts';
import { maxBodyBytes } from './sizes.ts';

/** The maximum number of chunks in a body. Each costs time and memory; real clients send a few dozen. */
const maxChunks = 20_000;

/** A body with more chunks counts as large. */
const fewChunks = 32;

/**
 * Reads the body into `ctx.request.body` as a Buffer: with `encoding: null`, co-body keeps the bytes. The types of
 * koa-bodyparser lack this option, and its JSON parser would replace invalid UTF-8 with U+FFFD, and parse before the
 * limiter lets the request run.
 */
const parser = bodyParser({
  encoding: null,
  enableTypes: ['text'],
  extendTypes: { text: [...new Set(Object.values(acceptedBodies).flatMap(({ types }) => types))] },
  textLimit: String(maxBodyBytes),
} as bodyParser.Options);

/** Reads the body with koa-bodyparser, once the limiter has a slot for a large one: 415, 413, 400, 503. */
export function readBody(accepted: AcceptedBody, limiter: Limiter): Middleware {
  return async (ctx, next) => {
    checkHeaders(ctx, accepted);
    checkUnread(ctx);
    if (lengthOf(ctx.req) > smallBody) await limiter.reserveUpload(ctx);
    const watch = watchChunks(ctx, limiter);
    ctx.disableBodyParser = false; // The host may have set it, to keep its own parser away.
    try {
      await Promise.race([parser(ctx, async () => {}), watch.failed]);
    } catch (error) {
      ctx.req.removeAllListeners('data'); // Of koa-bodyparser, which would collect the rest.
      throw translate(error);
    } finally {
      watch.end();
    }
    limiter.endUpload(ctx);
    return next();
  };
}

/**
 * Reserves a slot for a body that turns out to be large: one without a length, or one in many chunks. Cuts off a
 * body in too many chunks, and notices when the client leaves.
 */
function watchChunks(ctx: Context, limiter: Limiter) {
  const { req } = ctx;
  const { promise: failed, reject } = Promise.withResolvers<never>();
  let isReserved = lengthOf(req) > smallBody;
  let [size, chunks] = [0, 0];
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    chunks += 1;
    if (chunks > maxChunks) {
      req.destroy();
      return;
    }
    if (isReserved || (size <= smallBody && chunks <= fewChunks)) return;
    isReserved = true;
    req.pause();
    limiter.reserveUpload(ctx).then(() => req.resume(), reject);
  };
  const onClose = () => {
    if (!req.readableEnded && !req.errored) reject(new RequestAborted());
  };
  // Not `on('data')`, which would start the stream before koa-bodyparser listens.
  req.prependListener('data', onData).on('close', onClose);
  return { failed, end: () => req.off('data', onData).off('close', onClose) };
}

/**
 * Parses `ctx.request.body`, which must be a JSON object: 400.
 *
 * @param keepsBytes whether its bytes stay in `rawBody`, where they take memory until the response is sent
 */
export function parseBody(keepsBytes: boolean): Middleware {
  return (ctx, next) => {
    let body: unknown;
    try {
      body = JSON.parse(utf8.decode(ctx.request.body as Buffer)); // Strips a byte order mark.
    } catch (error) {
      const isUtf8 = error instanceof SyntaxError;
      throw invalidBody(
        isUtf8 ? `The body is not valid JSON: ${error.message}.` : 'The body is not UTF-8.',
      );
    }
    if (!isPlainObject(body)) throw invalidBody('The body must be a JSON object.');
    ctx.request.body = body;
    if (!keepsBytes) ctx.request.rawBody = undefined;
    return next();
  };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Returns what to throw for an error of koa-bodyparser. */
function translate(error: unknown): unknown {
  const { status, type, code } = error as { status?: number; type?: unknown; code?: string };
  if (status === 413) return bodyTooLarge();
  if (type === 'request.size.invalid') {
    return new Problem('bad-request', 'The body is not as long as its Content-Length says.');
  }
  const isAborted = code === 'ECONNRESET' || type === 'request.aborted';
  return isAborted ? new RequestAborted({ cause: error }) : error;
}

function lengthOf({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}

/** Checks the headers of a body before reading it: 400, 415, 413. */
function checkHeaders({ headers, req, request }: Context, accepted: AcceptedBody): void {
  if (headers['transfer-encoding'] === undefined && lengthOf(req) === 0) {
    throw invalidBody('The body is empty; it must be a JSON object.');
  }
  if (req.method === 'PUT' && headers['content-range'] !== undefined) {
    // RFC 9110, section 14.5: the part would replace the whole record.
    throw new Problem('bad-request', 'A PUT must have the whole record, without Content-Range.');
  }
  if (!accepted.types.includes(request.type.trim().toLowerCase())) {
    throw unsupported(accepted, `The header Content-Type must be ${accepted.types.join(' or ')}.`);
  }
  if (!/^(?:utf-8)?$/i.test(request.charset))
    throw unsupported(accepted, 'The body must be in UTF-8.');
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  headers['content-encoding'] = encoding; // koa-bodyparser compares it case-sensitively.
  if (encoding !== 'identity') {
    throw unsupported(accepted, 'The body must not be compressed or encoded.', {
      'Accept-Encoding': 'identity', // RFC 9110, section 12.5.3.
    });
  }
  if (lengthOf(req) > maxBodyBytes) throw bodyTooLarge();
}

/** Throws if other middleware has read the body, because waiting for it would never end, or if the client has gone. */
function checkUnread({ req, request }: Context): void {
  if (req.socket.destroyed || (req.destroyed && !req.complete)) throw new RequestAborted();
  if (request.body === undefined && !req.readableDidRead && !req.readableEnded) return;
  throw bodyAlreadyRead();
}

export function bodyAlreadyRead(): Error {
  return new Error(
    'The body of the request was read before Rostrum could read it. ' +
      "Put Rostrum before the app's body parser, or exclude Rostrum's prefix from the parser.",
  );
}

function unsupported(accepted: AcceptedBody, sentence: string, more = {}): Problem {
  const headers = { [accepted.header]: accepted.types.join(', '), ...more };
  return new Problem('unsupported-media-type', sentence, { headers });
}

function bodyTooLarge(): Problem {
  return new Problem('body-too-large', `The body must have at most ${maxBodyBytes} bytes.`);
}

function invalidBody(sentence: string): Problem {
  return new Problem('invalid-body', sentence);
}
