import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import { isPlainObject, type JsonObject } from '../../../domain/json.ts';
import { RequestAborted } from '../exchange.ts';
import { Budget, type Share } from '../load/budget.ts';
import { type Begun, WorkQueue } from '../load/work-queue.ts';
import { Problem } from '../problems/problem.ts';
import { type BodyForm, bodyTooLarge, checkBodyHeaders, emptyBody } from './body-headers.ts';
import { findDuplicateKey } from './duplicate-keys.ts';
import { bodyLimit, shortestPiece, smallBody } from './limits.ts';

const mebibyte = 1024 * 1024;

/** For how long, in milliseconds, a large body waits to be parsed. */
const parsingMs = 10_000;

/**
 * Reads bodies, and bounds what all of them hold in memory, from the first byte until the response
 * is made: past that bound a request is refused before any of its body is read.
 */
export class BodyReader {
  /** A small body comes in one piece: who holds it back is cut off at once when others need room. */
  readonly #small = new Budget(16 * mebibyte, { holderMs: 0, waiterMs: 10_000 });
  readonly #large = new Budget(64 * mebibyte);
  /** A parsed body may take more than twenty times its bytes (`[{},{},…]`): one large one at a time. */
  readonly #parsed = new Budget(mebibyte);
  readonly #parsing = new WorkQueue(mebibyte);

  /**
   * Reads the body as the JSON object that it has to be, and holds its share while it is used.
   *
   * @throws Problem `unsupported-media-type`, `body-too-large`, `invalid-body`
   * @throws RostrumError `overloaded`
   */
  async read<T>(ctx: Context, form: BodyForm, use: (body: JsonObject) => T): Promise<Awaited<T>> {
    checkBodyHeaders(ctx.req, form);
    checkUnread(ctx);
    const length = ctx.req.headers['content-length'];
    const bytes = length === undefined ? await bytesOfChunks(ctx.req) : Number(length);
    const budget = bytes > smallBody ? this.#large : this.#small;
    const share = budget.take(Math.max(bytes, shortestPiece), () => ctx.req.destroy());
    let received = 0;
    // Not `on`, by which a stream begins to flow.
    ctx.req.prependListener('data', ({ length }: Uint8Array) => {
      received += Math.max(length, shortestPiece);
      if (received > share.bytes) budget.grow(share, received);
    });
    let parsed: Share | undefined;
    let begun: Begun | undefined;
    try {
      const text = await readText(ctx);
      budget.resize(share, text.length);
      if (bytes > smallBody) {
        parsed = await this.#parsed.wait(text.length);
        begun = await this.#parsing.take(text.length, parsingMs);
        if (ctx.req.socket.destroyed) throw gone();
      }
      return await use(parseObject(text));
    } finally {
      budget.give(share);
      if (parsed !== undefined) this.#parsed.give(parsed);
      if (begun !== undefined) this.#parsing.settle(begun, begun.cost);
    }
  }
}

/** For how long, in milliseconds, the chunks of a small body may come behind its headers. */
const chunksMs = 10;

/**
 * A body in chunks tells its length by its end. Most come along with their headers or right behind
 * them; any other may come to be as large as a body may be.
 */
async function bytesOfChunks(request: IncomingMessage): Promise<number> {
  await nextTurn();
  if (!request.complete) await sleep(chunksMs);
  if (request.socket.destroyed) throw gone();
  return request.complete ? request.readableLength : bodyLimit;
}

function gone(): RequestAborted {
  return new RequestAborted('The client is gone.');
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
  const key = JSON.stringify(duplicate.key.slice(0, 64));
  throw new Problem('invalid-body', `The body has the key ${key} twice in one object.`);
}

/** A body that somebody read before us is gone; waiting for it would never end. */
function checkUnread(ctx: Context): void {
  const { body } = ctx.request as ParsedRequest;
  if (ctx.req.socket.destroyed || (ctx.req.destroyed && !ctx.req.complete)) throw gone();
  if (body === undefined && !ctx.req.readableDidRead && !ctx.req.readableEnded) return;
  throw new Error(
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
