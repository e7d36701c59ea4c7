import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { drain, drainMs } from './drain.ts';
import { type Body, bytesOf, chunksOf, LongText } from './long-text.ts';
import { bodyLimit, smallBody } from './request/limits.ts';

/** A response as a value: it is made by a handler, and sent in one place. */
export interface Response {
  readonly status: number;
  /** Names and values, one after the other. */
  readonly headers: readonly string[];
  /** Absent for a response without a body. */
  readonly body?: Body;
  /** The body's media type. */
  readonly type?: string;
  /** How many characters of JSON it was made of, where those are more than the body has. */
  readonly madeOf?: number;
  /** For how long, in milliseconds, records were parsed for it. */
  readonly parsingMs?: number;
}

/** A response with a body of JSON. */
export function json(status: number, body: Body, headers: readonly string[] = []): Response {
  return { status, headers, body, type: 'application/json' };
}

/** A cache may keep it, and has to ask each time whether it still holds (RFC 9111, section 5.2.2.4). */
export const revalidated: readonly string[] = ['Cache-Control', 'no-cache'];

/** The headers of every response. */
export function commonHeaders(requestId: string): readonly string[] {
  return ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'];
}

/** How a response leaves: sent at once, or left to the app that somebody else owns. */
export type Deliver = (ctx: Context, response: Response) => void;

/** Leaves a response to Koa, so that middleware around Rostrum may still change it. */
export const leaveToKoa: Deliver = (ctx, { status, headers, body, type }) => {
  if (body === undefined) ctx.body = null;
  ctx.status = status;
  for (let i = 0; i < headers.length; i += 2) {
    const [name = '', value = ''] = [headers[i], headers[i + 1]];
    if (name === 'Vary') ctx.vary(value);
    else ctx.set(name, value);
  }
  if (type !== undefined) ctx.set('Content-Type', type);
  if (body !== undefined) ctx.body = body instanceof LongText ? body.takeText() : body;
  if (isLargeRest(ctx.req)) ctx.set('Connection', 'close');
};

interface Due {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly value: Response;
}

let due: Due[] = [];

/** Sends a response past Koa, with the others of this turn. */
export const sendPastKoa: Deliver = (ctx, value) => {
  ctx.respond = false;
  ctx.res.statusCode = value.status; // For middleware around it that looks.
  sendInTurn(ctx.req, ctx.res, value);
};

/**
 * Sends a response at the end of this turn of the event loop. The responses of a turn are written
 * one right after the other: a client on the same machine is woken once and not for each of them,
 * which costs more than all else of a small response. Under load a turn is long: a 503 is sent at
 * once, or when the small body is there that came along, so that the connection can go on.
 */
export function sendInTurn(request: IncomingMessage, response: ServerResponse, value: Response) {
  const one = { request, response, value };
  if (value.status === 503) {
    if (!isBodyDue(request)) return sendOne(one);
    if (isSmallBody(request)) request.once('end', () => sendOne(one)).resume();
  }
  if (due.push(one) === 1) setImmediate(sendDue);
}

/** Sends what waits for the end of the turn: before somebody ends a connection. */
export function sendDue(): void {
  const now = due;
  due = [];
  for (const one of now) sendOne(one);
}

function sendOne({ request, response, value }: Due): void {
  try {
    if (!response.headersSent && !response.destroyed) send(request, response, value);
  } catch (error) {
    response.destroy(error as Error); // The others must not suffer from it.
  }
}

function send(request: IncomingMessage, response: ServerResponse, value: Response): void {
  const { status, headers, body = '', type } = value;
  const bytes = bytesOf(body);
  const all = [...headers];
  if (type !== undefined) all.push('Content-Type', type);
  if (status !== 204 && status !== 304) all.push('Content-Length', String(bytes));
  if (isLastOf(request, status) && !hasConnection(headers)) all.push('Connection', 'close');
  response.writeHead(status, all);
  const content = request.method === 'HEAD' ? '' : chunksOf(body);
  if (isBodyDue(request)) {
    sendEarly(request, response, content);
  } else if (typeof content === 'string') {
    // Text of ASCII alone is the same in both encodings, and written faster in this one.
    response.end(content, bytes === content.length ? 'latin1' : 'utf8');
  } else {
    response.cork();
    for (const piece of content) response.write(piece);
    response.end();
  }
}

function hasConnection(headers: readonly string[]): boolean {
  return headers.some((text, i) => i % 2 === 0 && text === 'Connection');
}

/** Responses that were sent while a body was still to come. */
const sentEarly = new WeakSet<ServerResponse>();

/** Whether all of a response was sent, though it may end later, with its request. */
export function isSent(response: ServerResponse): boolean {
  return response.writableFinished || sentEarly.has(response);
}

/** True while some of a body is still to come. */
function isBodyDue({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined;
}

/** True when a body is still to come that is not worth reading, only to use the connection again. */
function isLastOf(request: IncomingMessage, status: number): boolean {
  return isLargeRest(request) || (status === 503 && isBodyDue(request));
}

/**
 * Sends a response to a request whose body is still on its way, and reads on for a while. A connection
 * whose body ends in time serves the next request.
 */
function sendEarly(
  request: IncomingMessage,
  response: ServerResponse,
  content: string | readonly Uint8Array[],
): void {
  if (content === '') response.flushHeaders();
  const pieces = typeof content === 'string' ? [content] : content;
  for (const [i, piece] of pieces.entries()) {
    response.write(piece, (error) => {
      if (!error && i === pieces.length - 1) sentEarly.add(response);
    });
  }
  const timer = setTimeout(() => request.socket.destroy(), drainMs);
  request.once('end', () => response.end());
  request.once('close', () => clearTimeout(timer));
  if (response.statusCode !== 503) drain(request, request.socket); // An overloaded server reads no more.
}

/** True when a body, if there is one, comes along with its headers, as a rule. */
function isSmallBody({ headers }: IncomingMessage): boolean {
  const isChunked = headers['transfer-encoding'] !== undefined;
  return !isChunked && Number(headers['content-length'] ?? 0) <= smallBody;
}

/** True when more of a body is still to come than any may have. */
function isLargeRest({ complete, headers }: IncomingMessage): boolean {
  return !complete && Number(headers['content-length'] ?? 0) > bodyLimit;
}
