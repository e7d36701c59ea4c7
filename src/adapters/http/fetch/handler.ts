import type { IncomingMessage, ServerResponse } from 'node:http';
import type Koa from 'koa';
import { IncomingRequest } from './request.ts';
import { OutgoingResponse } from './response.ts';
import { VirtualSocket } from './virtual-socket.ts';

/** Serves a `Request`; rejects as `fetch` does when the request is aborted. */
export type FetchHandler = (request: Request) => Promise<Response>;

/** Serves a Koa app without a server: no port, no socket, no parser. */
export function fetchHandler(
  app: Koa,
  addressOf?: (request: Request) => string | undefined,
): FetchHandler {
  const handle = app.callback();
  return async (request) => {
    const { signal } = request;
    signal.throwIfAborted();
    const isSecure = request.url.startsWith('https:');
    const socket = new VirtualSocket(addressOf?.(request), isSecure);
    const incoming = new IncomingRequest(request, socket);
    const outgoing = new OutgoingResponse(socket);
    const abort = () => socket.destroy(signal.reason);
    signal.addEventListener('abort', abort);
    outgoing.once('close', () => {
      signal.removeEventListener('abort', abort);
      incoming.destroy();
    });
    void handle(
      incoming as unknown as IncomingMessage,
      outgoing as unknown as ServerResponse<IncomingMessage>,
    );
    return outgoing.response;
  };
}
