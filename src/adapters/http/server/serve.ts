import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type Koa from 'koa';
import { safeLogger } from '../../../ports/logger.ts';
import { checkOptionTypes } from '../check-options.ts';
import { clientAddresses } from '../client-address.ts';
import { commonHeaders, stopSignals } from '../context.ts';
import { defaultLimits, type ServeOptions, type ServerLimits } from '../options.ts';
import { Problem, problemResponse } from '../problems/problem.ts';
import { normalizePublicUrl } from '../target.ts';
import { Connections, drainMs, whenClosed } from './connections.ts';

/** A listening server. */
export interface RunningServer {
  /** `http://host:port`, with the actual port. */
  readonly url: string;
  readonly address: AddressInfo;
  /** How many connections are open. */
  readonly connections: number;
  /** Lets another app serve the requests from now on. */
  replaceApp(app: Koa): void;
  /**
   * Lets requests in progress finish, for at most `shutdownTimeoutMs`, and closes every connection. Until then,
   * other requests, except for `/livez`, get a 503, on new connections too. Takes up to half a second longer if a
   * connection has sent no request.
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
 * Serves an app on a hardened `node:http` server, with timeouts and limits. Serves the requests of a connection one
 * after another, and sends a problem for a request that Node's parser rejects.
 *
 * @throws TypeError for an unknown or invalid option
 * @throws the error of `listen`, such as one with the code `EADDRINUSE`
 */
export async function serve(app: Koa, options: ServeOptions = {}): Promise<RunningServer> {
  checkOptionTypes(options, 'serve');
  checkOptionTypes(options.limits ?? {}, 'limits');
  const { host = '127.0.0.1', port = 3000, shutdownTimeoutMs = 10_000 } = options;
  const logger = safeLogger(options.logger);
  const given = Object.entries(options.limits ?? {}).filter(([, value]) => value !== undefined);
  const limits: ServerLimits = { ...defaultLimits, ...Object.fromEntries(given) };
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    connectionsCheckingInterval: limits.checkIntervalMs,
    requireHostHeader: false, // The app sends a problem instead of an empty 400.
  });
  server.setTimeout(limits.inactivityTimeoutMs);
  server.maxHeadersCount = 0; // Their size is limited. Node would drop the others silently.
  // A client that has half-closed the connection still waits for its response (`nc -N`). Node would not send it.
  Object.assign(server, { httpAllowHalfOpen: true });

  const rejectionFor = rejectionWriter({ ...options, logger });
  let handle = app.callback();
  const stop = new AbortController();
  let closed: Promise<void> | undefined;
  const connections = new Connections();
  server.on('connection', (socket) => {
    stopSignals.set(socket, stop.signal);
    connections.accept(socket, limits.maxConnections);
  });
  server.on('request', async (request, response) => {
    if (!(await connections.waitForEarlierResponses(response))) return;
    if (stop.signal.aborted) response.setHeader('Connection', 'close');
    void handle(request, response);
  });
  // Sends `100 Continue` only when the app starts to read the body, so that it can reject a request by its headers
  // (RFC 9110, section 10.1.1).
  server.on('checkContinue', (request, response) => {
    const { _read: read } = request;
    request._read = (size) => {
      request._read = read;
      if (!response.headersSent) response.writeContinue();
      request._read(size);
    };
    server.emit('request', request, response);
  });
  // Unknown expectations are ignored, which RFC 9110, section 10.1.1, allows. Node would send a 417 without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Sends a problem as the last response of the connection, after the responses that are due before it.
  server.on('clientError', async ({ code }: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    const connection = connections.get(socket);
    if (connection === undefined || code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    // Nothing that arrives from now on is served: a listener for data detaches Node's parser from the socket.
    socket
      .removeAllListeners('data')
      .removeAllListeners('end')
      .on('data', () => {});
    await new Promise(setImmediate); // Requests of the same packet come first.
    const { last, previous } = connection;
    const isIncomplete = last?.req.complete === false;
    await whenClosed(isIncomplete ? previous : last);
    socket.end(isIncomplete && last.headersSent ? '' : rejectionFor(code, socket));
    const timer = setTimeout(() => socket.destroy(), drainMs);
    socket.once('end', () => socket.destroy()).once('close', () => clearTimeout(timer));
  });

  async function shutDown(): Promise<void> {
    const destroy = (sockets: Iterable<Socket>) => {
      for (const socket of sockets) socket.destroy();
    };
    const deadline = setTimeout(() => destroy(connections.keys()), shutdownTimeoutMs);
    for (const { last } of connections.values()) {
      if (last?.headersSent === false) last.setHeader('Connection', 'close');
    }
    stop.abort();
    await Promise.all(connections.values().map(({ last }) => whenClosed(last)));
    const ended = new Promise((resolve) => server.close(resolve)); // Closes idle connections, too.
    const closeIdle = () => destroy(connections.idle());
    const sweep = setInterval(closeIdle, Math.min(sweepMs, shutdownTimeoutMs));
    await ended;
    clearInterval(sweep);
    clearTimeout(deadline);
  }

  server.listen({ host, port, backlog });
  await once(server, 'listening'); // Rejects with the first `error`.
  server.on('error', (err) => logger.error({ err }, 'The server failed.'));
  const address = server.address() as AddressInfo;
  return {
    url: urlOf(address),
    address,
    get connections() {
      return connections.size;
    },
    replaceApp(other) {
      handle = other.callback();
    },
    close() {
      closed ??= shutDown();
      return closed;
    },
  };
}

/** The problems of requests that Node's parser rejects. Any other code is a `bad-request`. */
const parserProblems: Readonly<Record<string, Problem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new Problem('request-timeout', 'The request did not arrive in time.'),
  HPE_HEADER_OVERFLOW: new Problem('headers-too-large', 'The headers are too large.'),
};
const badRequest = new Problem(
  'bad-request',
  'The server cannot parse this request, or does not know its method.',
);

/** Returns a function that logs and counts a rejected request, and returns the last response of its connection. */
function rejectionWriter({ logger, metrics, publicUrl }: ServeOptions) {
  const addressOf = clientAddresses();
  const base = normalizePublicUrl(publicUrl);
  return (cause = '', socket: Socket): string => {
    const problem = parserProblems[cause] ?? badRequest;
    const { status, code } = problem;
    const requestId = randomUUID();
    const address = addressOf({ socket, headers: {} });
    metrics?.problem(code);
    logger?.info({ cause, status, code, address, requestId }, 'rejected');
    const { headers, body } = problemResponse(problem, requestId, base && `${base}/problems`);
    const all = {
      ...headers,
      ...commonHeaders(requestId),
      'Content-Length': String(Buffer.byteLength(body)),
      Connection: 'close',
      Date: new Date().toUTCString(),
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
  };
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
