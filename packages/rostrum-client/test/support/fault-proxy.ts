import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A network fault of one request. */
export type Fault =
  /** The connection closes before the server receives the request. */
  | 'lost request'
  /** The server handles the request, but its response is lost. */
  | 'lost response'
  /** The connection closes in the middle of the response body. */
  | 'cut response'
  /** No response ever arrives. */
  | 'silence'
  /** A proxy sends this response instead. */
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

interface Seen {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** A `performance.now()` timestamp. */
  readonly at: number;
}

/** A proxy in front of a server that simulates network faults. */
export class FaultProxy implements AsyncDisposable {
  /** The faults of the next requests, in order. Later requests pass. */
  readonly faults: Fault[] = [];
  /** Every request that the proxy received. */
  readonly seen: Seen[] = [];
  readonly #target: URL;
  readonly #server = createServer((request, response) => void this.#handle(request, response));

  private constructor(target: string) {
    this.#target = new URL(target);
  }

  /** @param target the URL of the API behind the proxy */
  static async start(target: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(target);
    proxy.#server.listen({ host: '127.0.0.1', port: 0 });
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The URL of the API through the proxy. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}${this.#target.pathname}`;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', headers } = request;
    this.seen.push({ method, headers, at: performance.now() });
    const fault = this.faults.shift();
    const body = await buffer(request);
    if (fault === 'silence') return;
    if (fault === 'lost request') return void response.destroy();
    if (typeof fault === 'object') {
      response.writeHead(fault.status, fault.headers).end(fault.body);
      return;
    }
    const { hostname, port } = this.#target;
    const onward = send({ hostname, port, method, path: request.url, headers, agent: false });
    onward.end(body);
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    const bytes = await buffer(answer);
    if (fault === 'lost response') return void response.destroy();
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    if (fault === 'cut response') {
      response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
    } else {
      response.end(bytes);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
