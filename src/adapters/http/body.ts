import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import bodyParser from 'koa-bodyparser';
import { isPlainObject, type JsonObject } from '../../domain/json.ts';
import { type Context, RequestAborted, type Step } from './context.ts';
import type { BodyForm } from './endpoint.ts';
import { countHeader } from './headers/count.ts';
import { type Limiter, smallBody } from './limits.ts';
import { bodyLimit } from './problems/catalogue.ts';
import { Problem } from './problems/problem.ts';

/** How many pieces a body can come in. Each takes time, however short it is; a client needs a few dozen. */
const mostPieces = 20_000;

/** A body in more pieces counts as a large one. */
const fewPieces = 32;

/**
 * Reads the body into one buffer, `ctx.request.rawBody`: 415, 413, 400. koa-bodyparser would keep each
 * piece, and could not wait until the limiter has room for a large body.
 */
export function readBody(form: BodyForm, limiter: Limiter): Step {
  return async (ctx, next) => {
    checkHeaders(ctx, form);
    checkUnread(ctx);
    if (lengthOf(ctx.req) > smallBody) await limiter.reserveBody(ctx);
    ctx.request.rawBody = await readBytes(ctx, limiter);
    limiter.bodyArrived(ctx);
    return next();
  };
}

const parser = bodyParser({
  enableTypes: ['json'],
  detectJSON: () => true, // The media type was checked, and it need not be `application/json`.
  jsonLimit: String(bodyLimit),
  strict: false,
  ...{ onProtoPoisoning: 'ignore' }, // The domain reports it with the field's pointer.
});

/** Parses what was read with koa-bodyparser. The body must be a JSON object: 400. */
export const parseBody: Step = async (ctx, next) => {
  const bytes = ctx.request.rawBody as Buffer;
  ctx.request.rawBody = undefined;
  // koa-bodyparser would replace invalid bytes with U+FFFD.
  if (!isUtf8(bytes)) throw invalidBody('The body is not UTF-8.');
  const req = Object.assign(Readable.from(bytes), { headers: {} });
  try {
    await parser(Object.create(ctx, { req: { value: req } }), async () => {});
  } catch (error) {
    throw invalidBody(`The body is not valid JSON: ${(error as Error).message}.`);
  }
  const { body } = ctx.request;
  if (body === '') throw emptyBody();
  if (!isPlainObject(body)) throw invalidBody('The body must be a JSON object.');
  ctx.state.rostrum.body = body as JsonObject;
  return next();
};

function lengthOf({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}

function readBytes(ctx: Context, limiter: Limiter): Promise<Buffer> {
  const { req } = ctx;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const length = lengthOf(req);
  let bytes: Buffer = Buffer.allocUnsafe(length || smallBody);
  let [size, pieces] = [0, 0];
  let isReserved = length > smallBody;

  function onData(piece: Buffer): void {
    pieces += 1;
    if (size + piece.length > bodyLimit) {
      end(() => reject(bodyTooLarge()));
      return;
    }
    if (pieces > mostPieces) {
      req.destroy();
      return;
    }
    if (size + piece.length > bytes.length) bytes = enlarged(bytes, size + piece.length);
    size += piece.copy(bytes, size);
    if (isReserved || (size <= smallBody && pieces <= fewPieces)) return;
    isReserved = true;
    req.pause();
    limiter.reserveBody(ctx).then(
      () => req.resume(),
      (error) => end(() => reject(error)),
    );
  }
  function end(settle: () => void): void {
    req.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose).pause();
    settle();
  }
  const onEnd = () => end(() => resolve(bytes.subarray(0, size)));
  const onError = (error: Error & { code?: string }) => {
    const isAborted = error.code === 'ECONNRESET';
    end(() => reject(isAborted ? new RequestAborted({ cause: error }) : error));
  };
  const onClose = () => end(() => reject(new RequestAborted()));

  req.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  return promise;
}

function enlarged(bytes: Buffer, least: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(least, Math.min(bytes.length * 4, bodyLimit)));
  bytes.copy(larger);
  return larger;
}

/** Refuses a body because of its headers, before any of it is read. */
function checkHeaders({ req, request }: Context, form: BodyForm): void {
  const { headers } = req;
  const hasBody = headers['transfer-encoding'] !== undefined || lengthOf(req) > 0;
  const types = form.types.join(' or ');
  if (headers['content-type'] === undefined) {
    if (!hasBody) throw emptyBody();
    throw unsupported(form, `The header Content-Type is missing: it must be ${types}.`);
  }
  const type = request.type.trim().toLowerCase();
  if (countHeader(req, 'content-type') > 1 || !form.types.includes(type)) {
    throw unsupported(form, `The header Content-Type must be ${types}.`);
  }
  if (!/^(?:utf-8)?$/i.test(request.charset)) throw unsupported(form, 'The body must be in UTF-8.');
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && !/^[ \t]*identity[ \t]*$/i.test(encoding)) {
    throw unsupported(form, 'The body must not be compressed or encoded.', {
      'Accept-Encoding': 'identity', // RFC 9110, section 12.5.3.
    });
  }
  if (lengthOf(req) > bodyLimit) throw bodyTooLarge();
  if (!hasBody) throw emptyBody();
}

/** Other middleware that reads the body leaves nothing: Rostrum would wait for ever. */
function checkUnread({ req, request }: Context): void {
  if (req.socket.destroyed || (req.destroyed && !req.complete)) throw new RequestAborted();
  if (request.body === undefined && !req.readableDidRead && !req.readableEnded) return;
  throw readBefore();
}

export function readBefore(): Error {
  return new Error(
    'The body of the request was read before Rostrum could read it. ' +
      'Put Rostrum in front of the body parser of the app, or keep the parser off its prefix.',
  );
}

function unsupported(form: BodyForm, sentence: string, more = {}): Problem {
  const headers = { [form.header]: form.types.join(', '), ...more };
  return new Problem('unsupported-media-type', sentence, { headers });
}

function bodyTooLarge(): Problem {
  return new Problem('body-too-large', `The body must have at most ${bodyLimit} bytes.`);
}

function invalidBody(sentence: string): Problem {
  return new Problem('invalid-body', sentence);
}

function emptyBody(): Problem {
  return invalidBody('The body is empty; it must be a JSON object.');
}
