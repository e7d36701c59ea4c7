import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type Koa from 'koa';
import type { LogFields } from '../../ports/logger.ts';
import { corsHeaders } from './access/cors.ts';
import { clientAddresses } from './client-address.ts';
import { Connections, drainMs } from './connections.ts';
import { acceptedAt, requestIdFrom, stopSignal } from './context.ts';
import { allMethods } from './endpoint.ts';
import { messageProblem } from './headers/message-rules.ts';
import { loggedPath, userAgent } from './operator/log.ts';
import { maskSecrets } from './operator/mask.ts';
import { checkOptionNames, defaultLimits, type ServeOptions } from './options.ts';
import { Problem, problemResponse } from './problems/problem.ts';
import { commonHeaders } from './send.ts';
import { maxTargetLength } from './sizes.ts';
import { normalizePublicUrl, parseTarget } from './target.ts';

/** A listening server. */
export interface RunningServer {
  /** `http://host:port`, with the actual port. */
  readonly url: string;
  readonly address: AddressInfo;
  /** How many connections are open. */
  readonly connections: number;
  /**
   * Lets requests in progress finish, for at most `shutdownTimeoutMs`, and closes every connection. Until then,
   * other requests, except for `/livez`, get a 503, on new connections too. Closes at once if no request is in
   * progress.
   */
  close(): Promise<void>;
}

/**
 * How many connections can wait to be accepted; the system may allow fewer. Node accepts one per iteration of the
 * event loop. With its default of 511, a client that connects at the same time as thousands of others is dropped, and
 * retries a second later.
 */
const backlog = 4096;

/** How often a shutdown closes connections without a request, in milliseconds. */
const sweepMs = 500;

/**
 * Serves an app on a hardened `node:http` server: with timeouts and limits, the requests of a connection one after
 * another, and the usual error shape for what Node rejects by itself.
 *
 * @throws TypeError for an unknown option
 * @throws the error of `listen`, such as one with the code `EADDRINUSE`
 */
export async function serve(app: Koa, options: ServeOptions = {}): Promise<RunningServer> {
  checkOptionNames(options, 'serve');
  checkOptionNames(options.limits ?? {}, 'limits');
  const { host = '127.0.0.1', port = 3000, logger, shutdownTimeoutMs = 10_000 } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    connectionsCheckingInterval: limits.checkIntervalMs,
    requireHostHeader: false, // Node's own 400 has no body; headers/message-rules.ts sends ours.
  });
  server.setTimeout(limits.inactivityTimeoutMs);
  server.maxHeadersCount = 0; // Their size is limited. Node would drop the others silently.
  // A client that has half-closed the connection still waits for its response (`nc -N`). Node would not send it.
  Object.assign(server, { httpAllowHalfOpen: true });

  const reject = rejections(options);
  const handle = app.callback();
  const stop = new AbortController();
  let closed: Promise<void> | undefined;
  const connections = new Connections(limits.maxConnections, ({ request, response }) => {
    const problem = messageProblem(request) ?? shutdownProblem(request, response);
    if (problem === undefined) {
      void handle(request, response);
      return;
    }
    const { method, url = '' } = request;
    const line = { method, path: loggedPath(parseTarget(url)), userAgent: userAgent(request) };
    const { headers, body } = reject(problem, request, line);
    response.writeHead(problem.status, headers).end(body);
  });

  /** During a shutdown, new requests get a 503, except for `/livez`. */
  function shutdownProblem({ url = '' }: IncomingMessage, response: ServerResponse) {
    if (closed === undefined) return undefined;
    response.setHeader('Connection', 'close');
    if (parseTarget(url).path === '/livez') return undefined;
    return new Problem('shutting-down', 'The server is shutting down; nothing was changed.');
  }

  const take = (request: IncomingMessage, response: ServerResponse) =>
    connections.of(request.socket)?.take({ request, response });
  server.on('connection', (socket) => {
    Object.assign(socket, { [stopSignal]: stop.signal, [acceptedAt]: performance.now() });
    connections.accept(socket);
  });
  server.on('request', take);
  server.on('checkExpectation', take);
  server.on('connect', (_, socket) => {
    socket.on('error', () => socket.destroy());
    const headers = { Allow: allMethods.join(', ') };
    const problem = new Problem('method-not-allowed', 'This server is not a proxy.', { headers });
    void rejectLast(socket as Socket, problem);
  });
  server.on('clientError', (error: ClientError, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else void rejectLast(socket as Socket, problemOf(error), error.code);
  });

  /** Sends a problem as the last response of a connection, after the responses that are due before it. */
  async function rejectLast(socket: Socket, problem: Problem, cause?: string): Promise<void> {
    const connection = connections.of(socket);
    if (connection?.isRejected) return;
    if (connection === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    connection.isRejected = true;
    // Detach the HTTP parser: later requests must not be served.
    socket.removeAllListeners('data').removeAllListeners('end').resume();
    await new Promise(setImmediate); // Requests of the same packet come first.
    if (await connection.whenSettled()) {
      const { headers, body } = reject(problem, { socket, headers: {} }, { cause });
      socket.end(messageOf(problem.status, headers, body));
    } else {
      socket.end();
    }
    const timer = setTimeout(() => socket.destroy(), drainMs);
    socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer));
  }

  async function shutDown(): Promise<void> {
    const deadline = setTimeout(() => connections.destroyAll(), shutdownTimeoutMs);
    connections.closeAfterResponses();
    stop.abort();
    await connections.whenIdle();
    const ended = new Promise((resolve) => server.close(resolve)); // Closes idle connections, too.
    const sweep = setInterval(
      () => connections.destroySilent(),
      Math.min(sweepMs, shutdownTimeoutMs),
    );
    await ended;
    clearInterval(sweep);
    clearTimeout(deadline);
  }

  server.listen({ host, port, backlog });
  await once(server, 'listening'); // Rejects with the first `error`.
  server.on('error', (err) => logger?.error({ err }, 'The server failed.'));
  const address = server.address() as AddressInfo;
  return {
    url: urlOf(address),
    address,
    get connections() {
      return connections.size;
    },
    close() {
      closed ??= shutDown();
      return closed;
    },
  };
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Returns a function that logs and counts a rejected request, and writes the last response of its connection. */
function rejections({ logger, metrics, publicUrl, trustedProxies, cors }: ServeOptions) {
  const addressOf = clientAddresses(trustedProxies);
  const base = normalizePublicUrl(publicUrl);
  return (
    problem: Problem,
    request: Pick<IncomingMessage, 'headers' | 'socket'>,
    fields: LogFields,
  ) => {
    const { status, code } = problem;
    const requestId = requestIdFrom(request.headers['x-request-id']);
    const address = addressOf(request);
    metrics?.problem(code);
    logger?.info(
      { ...fields, status, code, address, requestId: maskSecrets(requestId) },
      'refused',
    );
    const { headers, body } = problemResponse(problem, requestId, base && `${base}/problems`);
    return {
      body,
      headers: {
        ...headers,
        ...commonHeaders(requestId),
        ...corsHeaders(cors, request.headers.origin),
        'Content-Length': String(Buffer.byteLength(body)),
        Connection: 'close',
      },
    };
  };
}

function messageOf(status: number, headers: Readonly<Record<string, string>>, body: string) {
  const all = Object.entries({ ...headers, Date: new Date().toUTCString() });
  const lines = all.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`;
}

/** An error of Node's HTTP parser or one of its timeouts. */
interface ClientError extends Error {
  readonly code?: string;
  readonly rawPacket?: Uint8Array;
}

function problemOf({ code, rawPacket = new Uint8Array() }: ClientError): Problem {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request-timeout', 'The request did not arrive in time.');
    case 'HPE_HEADER_OVERFLOW': {
      // Node does not distinguish a long request line from long headers.
      const [, target = ''] = /^[A-Z]+ (\S*)/.exec(Buffer.from(rawPacket).toString('latin1')) ?? [];
      return target.length > maxTargetLength
        ? new Problem('uri-too-long', 'The path and the query are too long.')
        : new Problem('headers-too-large', 'The headers are too large.');
    }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('body-too-large', 'The extensions of the chunks are too large.');
    default:
      return new Problem('bad-request', 'This is not a well-formed HTTP request.');
  }
}
