import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type Koa from 'koa';
import { noteExpectation } from '../expectation.ts';
import { loggedPath } from '../paths.ts';
import { Problem } from '../problems.ts';
import { requestIdFrom } from '../request-id.ts';
import { allMethods, problemsPath } from '../whole-server.ts';
import { clientErrorHandler } from './client-errors.ts';
import { Connections } from './connections.ts';
import { logDrops } from './drops.ts';
import { messageProblem } from './message-rules.ts';
import { defaultLimits, defaultShutdownTimeoutMs, type ServeOptions } from './options.ts';
import { refuse, refuseSocket } from './raw-answer.ts';
import { Shutdown } from './shutdown.ts';

/** A server that listens. */
export interface RunningServer {
  /** `http://host:port`, with the port that it really has. */
  readonly url: string;
  readonly address: AddressInfo;
  /**
   * Lets the requests under way finish, for `shutdownTimeoutMs` at most, and closes every
   * connection. Until then other requests are answered 503, on new connections too; with none
   * under way it closes at once. Closing again waits for the same end.
   */
  close(): Promise<void>;
}

/**
 * Serves an app on a hardened `node:http` server: time-outs, limits, and the contract's one shape
 * for what Node refuses by itself.
 *
 * @throws the error of `listen`, such as one with the code `EADDRINUSE`
 */
export async function serve(app: Koa, options: ServeOptions = {}): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 3000, logger, limits } = options;
  const { shutdownTimeoutMs = defaultShutdownTimeoutMs } = options;
  const connections = new Connections();
  const server = createHardenedServer({ ...defaultLimits, ...limits });
  const shutdown = new Shutdown(server, connections, shutdownTimeoutMs);
  const handle = app.callback();

  function answer(request: IncomingMessage, response: ServerResponse): void {
    connections.begin(request, response);
    const problem = messageProblem(request) ?? shutdown.problem(request, response);
    if (problem === undefined) void handle(request, response);
    else refuseRequest(request, response, problem);
  }

  function refuseRequest(request: IncomingMessage, response: ServerResponse, problem: Problem) {
    const requestId = requestIdFrom(request.headers['x-request-id']);
    logger?.info(
      {
        requestId,
        method: request.method,
        path: loggedPath(request.url ?? ''),
        status: problem.kind.status,
      },
      'refused',
    );
    refuse(response, problem, { requestId, problems: problemsPath });
  }

  server.on('connection', (socket) => connections.accept(socket));
  if (logger) logDrops(server, logger);
  server.on('request', answer);
  server.on('checkContinue', (request, response) => {
    noteExpectation(request);
    answer(request, response);
  });
  server.on('checkExpectation', (request, response) => {
    connections.begin(request, response);
    const sentence = 'The only expectation that can be met is 100-continue.';
    refuseRequest(request, response, new Problem('expectation-failed', sentence));
  });
  server.on('connect', (request, socket) => {
    const problem = new Problem('method-not-allowed', 'This server is no proxy.', {
      headers: { Allow: allMethods },
    });
    socket.on('error', () => socket.destroy());
    const requestId = requestIdFrom(request.headers['x-request-id']);
    refuseSocket(socket as Socket, problem, { requestId, problems: problemsPath });
  });
  const onClientError = clientErrorHandler({ connections, problems: problemsPath, logger });
  server.on('clientError', (error, socket) => void onClientError(error, socket as Socket));

  server.listen({ host, port });
  await once(server, 'listening'); // Rejects with the first `error`.
  server.on('error', (err) => logger?.error({ err }, 'The server failed.'));
  const address = server.address() as AddressInfo;
  return { url: urlOf(address), address, close: () => shutdown.begin() };
}

function createHardenedServer(limits: typeof defaultLimits): Server {
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    connectionsCheckingInterval: limits.checkIntervalMs,
    requireHostHeader: false, // Node's own refusal has no body: message-rules.ts has ours.
  });
  server.timeout = limits.inactivityTimeoutMs;
  server.maxHeadersCount = 0; // Their size is bounded; dropping some silently would be worse.
  // A client that has ended its side still waits for its answer (`nc -N`); Node would not give it.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxConnections = limits.maxConnections;
  return server;
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
