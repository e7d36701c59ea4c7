import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A request whose headers have arrived, and its response. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** How many pipelined requests can wait, on one connection and on all connections. */
const maxWaiting = { perConnection: 256, total: 4096 };

/** How long a client can keep sending data that is discarded, in milliseconds. */
export const drainMs = 2000;

type Serve = (exchange: Exchange) => void;

/** The connections of a server. */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  /** Connections that have not sent a request yet, and idle ones; the oldest first. */
  readonly unused = new Set<Connection>();
  readonly idle = new Set<Connection>();
  readonly #maxSize: number;
  readonly serve: Serve;
  /** How many pipelined requests are waiting. */
  waitingCount = 0;

  constructor(maxSize: number, serve: Serve) {
    this.#maxSize = maxSize;
    this.serve = serve;
  }

  get size(): number {
    return this.#open.size;
  }

  of(socket: Socket): Connection | undefined {
    return this.#open.get(socket);
  }

  /**
   * Beyond the limit, a connection replaces the oldest that has sent no request, else the one idle for longest; if
   * there is neither, it is closed.
   */
  accept(socket: Socket): void {
    if (this.#open.size >= this.#maxSize) {
      const [silent] = this.unused.size > 0 ? this.unused : this.idle;
      (silent?.socket ?? socket).destroy();
      if (silent === undefined) return;
      this.#forget(silent);
    }
    const connection = new Connection(socket, this);
    this.#open.set(socket, connection);
    socket.once('close', () => this.#forget(connection));
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection.socket);
    connection.abandon();
  }

  closeAfterResponses(): void {
    for (const connection of this.#open.values()) connection.closeAfterResponse();
  }

  async whenIdle(): Promise<void> {
    // Keeps no list of connections, so that a closed one can be collected meanwhile.
    await Promise.all(Array.from(this.#open.values(), (connection) => connection.whenIdle()));
  }

  destroySilent(): void {
    for (const { socket } of [...this.unused, ...this.idle]) socket.destroy();
  }

  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }
}

/**
 * Serves the requests of a connection one after another: a client that pipelines many delays only itself,
 * and others do not wait for it.
 */
class Connection {
  readonly socket: Socket;
  /** True once its last response is a problem that the server sent without the app. */
  isRejected = false;
  readonly #all: Connections;
  #current: Exchange | undefined;
  #last: Exchange | undefined;
  #waiting: Exchange[] = [];
  /** True once a request was dropped: later ones are not served either. */
  #isFull = false;

  constructor(socket: Socket, all: Connections) {
    this.socket = socket;
    this.#all = all;
    all.unused.add(this);
    // Node also resumes reading by itself.
    socket.on('resume', () => {
      if (this.#waiting.length > 0) socket.pause();
    });
  }

  take(exchange: Exchange): void {
    if (this.#current === undefined) {
      this.#begin(exchange);
      return;
    }
    if (this.socket.destroyed || this.#isFull) return;
    if (
      this.#waiting.length < maxWaiting.perConnection &&
      this.#all.waitingCount < maxWaiting.total
    ) {
      this.#waiting.push(exchange);
      this.#all.waitingCount += 1;
    } else {
      // The last response that is still sent closes the connection (RFC 9112, section 9.6).
      this.#isFull = true;
      const { response } = this.#waiting.at(-1) ?? this.#current;
      if (response.headersSent) this.socket.destroy();
      else response.shouldKeepAlive = false;
    }
    this.socket.pause();
  }

  #begin(exchange: Exchange): void {
    this.#current = exchange;
    this.#last = exchange;
    this.#all.unused.delete(this);
    this.#all.idle.delete(this);
    exchange.response.on('close', this.#onClose);
    this.#all.serve(exchange);
  }

  readonly #onClose = (): void => {
    const { socket } = this;
    const { request, response } = this.#current as Exchange;
    this.#current = undefined;
    if (!request.complete && !socket.destroyed) {
      // Node reads and discards the rest of the body, because closing at once could cost the client its response.
      // After a 503 the rest stays unread: reading it costs as much as accepting it.
      if (response.statusCode === 503) setImmediate(() => socket.pause()); // After Node's own `resume`.
      const timer = setTimeout(() => socket.destroy(), drainMs);
      request.once('close', () => clearTimeout(timer));
    }
    // If the response has ended the connection, nothing after it is served.
    if (socket.destroyed || socket.writableEnded) this.abandon();
    const next = this.#waiting.shift();
    if (next === undefined) {
      if (!socket.destroyed) this.#all.idle.add(this);
      return;
    }
    this.#all.waitingCount -= 1;
    this.#begin(next);
    if (this.#waiting.length === 0) socket.resume();
  };

  /** Fulfilled when no request is in progress. */
  async whenIdle(): Promise<void> {
    while (this.#current !== undefined) {
      const { response } = this.#current;
      await new Promise<void>((closed) => response.once('close', closed));
    }
  }

  /**
   * Fulfilled when all complete requests have their responses. Returns false if the incomplete one, whose rest was
   * rejected, has its response already.
   */
  async whenSettled(): Promise<boolean> {
    const incomplete = [this.#waiting.at(-1), this.#current ?? this.#last].find(
      (exchange) => exchange !== undefined && !exchange.request.complete,
    );
    if (incomplete !== undefined && incomplete === this.#waiting.at(-1)) {
      this.#waiting.pop();
      this.#all.waitingCount -= 1;
    }
    if (incomplete === undefined || incomplete !== this.#current) await this.whenIdle();
    return !incomplete?.response.headersSent;
  }

  closeAfterResponse(): void {
    const { response } = this.#current ?? {};
    // Waiting requests get a shutting-down response, and the first of these closes the connection.
    if (response === undefined || response.headersSent || this.#waiting.length > 0) return;
    response.setHeader('Connection', 'close');
  }

  /** Drops the waiting requests, because the connection is closed. */
  abandon(): void {
    this.#all.waitingCount -= this.#waiting.length;
    this.#waiting = [];
    this.#all.unused.delete(this);
    this.#all.idle.delete(this);
  }
}
