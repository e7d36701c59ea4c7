import { Readable } from 'node:stream';
import type { Context } from 'koa';

/** Bytes of a body that is sent as a whole; of a longer one, those of a piece. */
const shortBody = 64 * 1024;

/** A response as a value: a handler makes it, and {@link respond} puts it on the context. */
export interface Response {
  readonly status: number;
  /** Names and values, one after the other. */
  readonly headers: readonly string[];
  /** Absent for a response without a body. */
  readonly body?: string | Buffer;
  /** The body's media type. */
  readonly type?: string;
}

/**
 * A response with a body of JSON. It ends in a line feed, so that what a terminal shows next has a line of
 * its own; a Buffer brings its own line feed.
 */
export function json(
  status: number,
  text: string | Buffer,
  headers: readonly string[] = [],
): Response {
  const body = typeof text === 'string' && !text.endsWith('\n') ? `${text}\n` : text;
  return { status, headers, body, type: 'application/json' };
}

/** A cache may keep it, and has to ask each time whether it still holds (RFC 9111, section 5.2.2.4). */
export const revalidated: readonly string[] = ['Cache-Control', 'no-cache'];

/** The headers of every response. */
export function commonHeaders(requestId: string): readonly string[] {
  return ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'];
}

/** Puts a response on a context. Koa sends it, after middleware around Rostrum has seen it. */
export function respond(ctx: Context, { status, headers, body, type }: Response): void {
  if (body === undefined) ctx.body = null; // First, as it makes the status 204.
  ctx.status = status;
  setHeaders(ctx, headers);
  if (type !== undefined) ctx.set('Content-Type', type);
  if (body === undefined) return;
  if (body.length <= shortBody) {
    ctx.body = body;
  } else {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    ctx.body = Readable.from(piecesOf(bytes), { highWaterMark: 1 });
    ctx.length = bytes.length;
  }
}

/** The next piece is written when a client has taken the one before: so it can be seen to move. */
function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += shortBody) yield bytes.subarray(at, at + shortBody);
}

export function setHeaders({ response }: Context, headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    const value = headers[i + 1] ?? '';
    if (name === 'Vary') response.vary(value);
    else response.set(name, value);
  }
}

/** `front`, the texts with commas between them, and `end`; a long one is never one text in memory. */
export function joined(front: string, texts: readonly string[], end: string): string | Buffer {
  let length = front.length + texts.length + end.length;
  for (const text of texts) length += text.length;
  if (length <= shortBody) {
    const all = [...texts]; // Joined with both ends: a page is copied once.
    all[0] = front + (all[0] ?? '');
    all[all.length - 1] += end;
    return all.join(',');
  }
  let bytes = Buffer.byteLength(front) + Buffer.byteLength(end) + Math.max(texts.length - 1, 0);
  for (const text of texts) bytes += Buffer.byteLength(text);
  const whole = Buffer.allocUnsafe(bytes);
  let at = whole.write(front);
  for (const [i, text] of texts.entries()) {
    if (i > 0) at += whole.write(',', at);
    at += whole.write(text, at);
  }
  whole.write(end, at);
  return whole;
}
