import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type Koa from 'koa';
import { loggedPath, userAgent } from '../operator/log.ts';
import { Problem } from '../problems/problem.ts';
import { allMethods } from '../request/read-only.ts';
import { parseTarget } from '../request/target.ts';
import { ClientErrors } from './client-errors.ts';
import { Connections } from './connections.ts';
import { messageProblem } from './message-rules.ts';
import {
  defaultLimits,
  defaultShutdownTimeoutMs,
  type ServeOptions,
  type ServerLimits,
} from './options.ts';
import { Refusals } from './refusals.ts';
import { Shutdown } from './shutdown.ts';

/** A server that listens. */
export interface RunningServer {
  /** `http://host:port`, with the port that it really has. */
  readonly url: string;
  readonly address: AddressInfo;
  /** How many connections are open. */
  readonly connections: number;
  /**
   * Lets the requests under way finish, for `shutdownTimeoutMs` at most, and closes every
   * connection. Until then other requests end in 503, on new connections too; with none under way
   * it closes at once. Closing again waits for the same end.
   */
  close(): Promise<void>;
}

/**
 * Serves an app on a hardened `node:http` server: time-outs, limits, requests of one connection one
 * after another, and the contract's one shape for what Node refuses by itself.
 *
 * @throws the error of `listen`, such as one with the code `EADDRINUSE`
 */
export async function serve(app: Koa, options: ServeOptions = {}): Promise<RunningServer> {
  const { host = '127.0.0.1', port = 3000, logger } = options;
  const { shutdownTimeoutMs = defaultShutdownTimeoutMs } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const refusals = new Refusals(options);
  const server = createHardenedServer(limits);
  const handle = app.callback();
  const connections = new Connections((request, response) => {
    const problem = messageProblem(request) ?? shutdown.problem(request, response);
    if (problem === undefined) {
      void handle(request, response);
      return;
    }
    const { method, url = '' } = request;
    const known = { method, path: loggedPath(parseTarget(url)), userAgent: userAgent(request) };
    const { status, headers, body } = refusals.refuse(problem, request, known);
    response.writeHead(status, [...headers]).end(body);
  }, limits.maxConnections);
  const shutdown = new Shutdown(server, connections, shutdownTimeoutMs);
  const clientErrors = new ClientErrors(connections, refusals);

  const take = (request: IncomingMessage, response: ServerResponse) => {
    connections.of(request.socket)?.take(request, response);
  };
  server.on('connection', (socket) => connections.accept(socket));
  server.on('request', take);
  server.on('checkExpectation', take);
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    const headers = ['Allow', allMethods];
    const problem = new Problem('method-not-allowed', 'This server is no proxy.', { headers });
    void clientErrors.refuse(socket as Socket, problem);
  });
  server.on('clientError', (error, socket) => {
    void clientErrors.onError(error, socket as Socket);
  });

  server.listen({ host, port });
  await once(server, 'listening'); // Rejects with the first `error`.
  const stalls = setInterval(() => connections.limitStalls(limits), limits.checkIntervalMs).unref();
  server.on('close', () => clearInterval(stalls));
  server.on('error', (err) => logger?.error({ err }, 'The server failed.'));
  const address = server.address() as AddressInfo;
  return {
    url: urlOf(address),
    address,
    get connections() {
      return connections.count;
    },
    close: () => shutdown.begin(),
  };
}

function createHardenedServer(limits: ServerLimits): Server {
  const server = createServer({
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    connectionsCheckingInterval: limits.checkIntervalMs,
    requireHostHeader: false, // Node's own refusal has no body: message-rules.ts has ours.
  });
  server.maxHeadersCount = 0; // Their size is bounded; dropping some silently would be worse.
  // A client that has ended its side still waits for its response (`nc -N`); Node would not send it.
  Object.assign(server, { httpAllowHalfOpen: true });
  return server;
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
