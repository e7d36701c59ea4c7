import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { bodyLimit, shortestPiece } from '../request/limits.ts';

/** For how long, in milliseconds, a client may go on sending what nothing reads. */
export const drainMs = 2000;

/** How many bytes of that are read: several times those of the largest body. */
const drainBytes = 4 * 1024 * 1024;

/**
 * Throws away what a client goes on sending: to close at once would make TCP reset the connection,
 * and the client could lose the response (RFC 9112, section 9.6).
 */
export function drain(source: Readable, socket: Socket): void {
  let rest = drainBytes;
  source.on('data', (chunk: Uint8Array) => {
    rest -= Math.max(chunk.length, shortestPiece);
    if (rest < 0) socket.destroy();
  });
  source.resume();
}

/** True while some of a request's body is still to come. */
export function isBodyDue({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
}

/** Throws away what is left of a request's body. */
export function endOfBody(request: IncomingMessage): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<void>();
  request.once('end', resolve).once('close', resolve).resume();
  return promise;
}

/**
 * Lets Koa send a response while the body of its request is still arriving: whole at once. It ends
 * with the body, which is thrown away. A connection whose body ends in time serves the next request.
 *
 * @param sent called when the client has the whole response
 */
export function sendBeforeBody(ctx: Context, sent: () => void): void {
  const { req, body } = ctx;
  const { socket } = req;
  const isOverloaded = ctx.status === 503;
  // Such a body is not worth reading, only to use the connection again.
  if (isOverloaded || Number(req.headers['content-length'] ?? 0) > bodyLimit) {
    ctx.set('Connection', 'close');
  }
  const timer = setTimeout(() => socket.destroy(), drainMs);
  req.once('close', () => clearTimeout(timer));
  if (isOverloaded) req.pause();
  else drain(req, socket);
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return;
  const { length } = ctx;
  ctx.body = Readable.from(untilBodyEnds(req, Buffer.from(body), sent));
  ctx.length = length;
}

async function* untilBodyEnds(req: IncomingMessage, bytes: Buffer, sent: () => void) {
  yield bytes;
  sent();
  if (!req.complete)
    await new Promise((resolve) => req.once('end', resolve).once('close', resolve));
}
