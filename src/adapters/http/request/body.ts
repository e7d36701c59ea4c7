import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { findDuplicateKey } from '../../../domain/duplicate-keys.ts';
import { isPlainObject, type JsonObject } from '../../../domain/json.ts';
import { RequestAborted } from '../exchange.ts';
import type { Visit } from '../load/room.ts';
import type { BodyForm } from '../parameter.ts';
import { Problem } from '../problems/problem.ts';
import { bodyTooLarge, checkBodyHeaders, emptyBody } from './body-headers.ts';
import { bodyLimit, shortestPiece } from './limits.ts';

/** What is reserved for a body that comes in chunks. */
const shortBody = 16 * 1024;

/** For how much a body may count by its pieces, each of which costs memory however short it is. */
const mostOfPieces = 32 * bodyLimit;

/**
 * Reads the body as the JSON object that it has to be. Room for it is there before it is read, and a few
 * large ones at a time are parsed and used.
 *
 * @throws Problem `unsupported-media-type`, `body-too-large`, `invalid-body`
 * @throws RostrumError `overloaded`
 */
export async function readBody<T>(
  ctx: Context,
  visit: Visit,
  form: BodyForm,
  use: (body: JsonObject) => Promise<T>,
): Promise<T> {
  checkBodyHeaders(ctx.req, form);
  checkUnread(ctx);
  const length = ctx.req.headers['content-length'];
  await visit.reserve(length === undefined ? shortBody : Math.max(Number(length), shortestPiece));
  visit.leaveToClient();
  const refused = Promise.withResolvers<never>();
  let received = 0;
  // Not `on`, by which a stream begins to flow.
  ctx.req.prependListener('data', (piece: Uint8Array) => {
    received += Math.max(piece.length, shortestPiece);
    if (received > mostOfPieces) {
      ctx.req.destroy();
      return;
    }
    if (received > visit.bytes) {
      // A body in chunks tells its length by its end: one that is longer may be as long as any.
      const waiting = visit.reserve(Math.max(received, length === undefined ? bodyLimit : 0));
      if (waiting !== undefined) {
        ctx.req.pause();
        waiting.then(() => ctx.req.resume(), refused.reject);
        return;
      }
    }
    visit.leaveToClient();
  });
  const text = await Promise.race([readText(ctx), refused.promise]);
  visit.settle(Math.max(text.length, visit.expected));
  return visit.use(text.length, async () => use(parseObject(text)));
}

/** What of koa-bodyparser's options is used; its own types do not know the first one. */
interface ParserOptions {
  readonly encoding: null;
  readonly enableTypes: string[];
  readonly extendTypes: { readonly text: string[] };
  readonly textLimit: number;
}

const createParser = bodyParser as unknown as (options: ParserOptions) => Middleware;

/** Hands over the bytes: as JSON it would let through what is refused here. */
const parse = createParser({
  encoding: null,
  enableTypes: ['text'],
  extendTypes: { text: ['application/json', 'application/merge-patch+json'] },
  textLimit: bodyLimit,
});

/** What koa-bodyparser leaves behind. */
interface ParsedRequest {
  readonly body?: unknown;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

async function readText(ctx: Context): Promise<string> {
  try {
    await parse(ctx, async () => {});
  } catch (error) {
    throw problemOfParser(error);
  }
  const { body } = ctx.request as ParsedRequest;
  try {
    return utf8.decode(body as Uint8Array); // A byte order mark is left out.
  } catch {
    throw new Problem('invalid-body', 'The body is not UTF-8.');
  }
}

function parseObject(text: string): JsonObject {
  if (text === '') throw emptyBody();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Problem('invalid-body', `The body is not valid JSON: ${(error as Error).message}.`);
  }
  if (!isPlainObject(value)) throw new Problem('invalid-body', 'The body must be a JSON object.');
  const duplicate = findDuplicateKey(text);
  if (duplicate === undefined) return value as JsonObject;
  const key = JSON.stringify(duplicate.slice(0, 64));
  throw new Problem('invalid-body', `The body has the key ${key} twice in one object.`);
}

/** A body that other middleware has read is gone: a wait for it would never end. */
function checkUnread(ctx: Context): void {
  const { body } = ctx.request as ParsedRequest;
  if (ctx.req.socket.destroyed || (ctx.req.destroyed && !ctx.req.complete))
    throw new RequestAborted('The client is gone.');
  if (body === undefined && !ctx.req.readableDidRead && !ctx.req.readableEnded) return;
  throw readBefore();
}

export function readBefore(): Error {
  return new Error(
    'The body of the request was read before Rostrum could read it. ' +
      'Put Rostrum in front of the body parser of the app, or keep the parser off its prefix.',
  );
}

/** What raw-body throws, by what it marks its errors with. */
function problemOfParser(error: unknown): unknown {
  const { status, type, code } = error as { status?: number; type?: string; code?: string };
  if (status === 413) return bodyTooLarge();
  if (code === 'ECONNRESET' || type === 'request.aborted' || type === 'request.size.invalid') {
    return new RequestAborted('The request was aborted.', { cause: error });
  }
  return error;
}
