import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerLimits } from './options.ts';

/** A request and its response, from the moment its headers were there. */
interface Pair {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** How many requests may wait on a connection for the one before them, and on all together. */
const mostWaiting = { each: 256, all: 4096 };

/** What the connections of a server have in common. */
interface Shared {
  readonly serve: Serve;
  /** How many requests wait for one before them. */
  waiting: number;
  /** Connections that have had no request yet, the oldest first. */
  readonly unused: Set<Connection>;
  /** Connections that have no request any more, the one first that has been so for longest. */
  readonly idle: Set<Connection>;
}

/**
 * The connections of a server. Requests of one connection are served one after another: a client
 * that sends many at once waits for itself, and others do not wait for it.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #shared: Shared;
  readonly #most: number;

  /** @param most how many connections may be open */
  constructor(serve: Serve, most: number) {
    this.#shared = { serve, waiting: 0, unused: new Set(), idle: new Set() };
    this.#most = most;
  }

  /**
   * Follows a connection from its beginning. Where there are too many, it takes the place of the one that
   * has been without a request for longest, or is closed where each has one.
   */
  accept(socket: Socket): void {
    if (this.#open.size >= this.#most) {
      const { unused, idle } = this.#shared;
      const [silent] = unused.size > 0 ? unused : idle;
      (silent?.socket ?? socket).destroy();
      if (silent === undefined) return;
      this.#forget(silent);
    }
    const connection = new Connection(socket, this.#shared);
    this.#open.set(socket, connection);
    socket.once('close', () => this.#forget(connection));
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection.socket);
    connection.abandon();
  }

  of(socket: Socket): Connection | undefined {
    return this.#open.get(socket);
  }

  get count(): number {
    return this.#open.size;
  }

  all(): Iterable<Connection> {
    return this.#open.values();
  }

  /**
   * Lets Node end a connection on which nothing moves: sooner when a response waits for its client.
   * Few requests are under way long enough to be seen here, and need a timer.
   */
  limitStalls({ stallTimeoutMs, inactivityTimeoutMs }: ServerLimits): void {
    for (const { socket, response } of this.#open.values()) {
      if (response === undefined) continue;
      const ms = response.headersSent ? stallTimeoutMs : inactivityTimeoutMs;
      if (socket.timeout !== ms) socket.setTimeout(ms);
    }
  }
}

/** One connection, and what is under way on it. */
export class Connection {
  readonly socket: Socket;
  readonly #shared: Shared;
  #current: Pair | undefined;
  #waiting: Pair[] = [];
  /** A request was dropped: none behind it is served. */
  #isFull = false;

  constructor(socket: Socket, shared: Shared) {
    this.socket = socket;
    this.#shared = shared;
    shared.unused.add(this);
    // Node goes on reading for reasons of its own, which do not count while requests wait.
    socket.on('resume', () => {
      if (this.hasWaiting) socket.pause();
    });
  }

  /** Serves a request, when those before it on the connection have their responses. */
  take(request: IncomingMessage, response: ServerResponse): void {
    const pair = { request, response };
    if (this.#current === undefined) {
      this.#begin(pair);
    } else if (!this.socket.destroyed && !this.#isFull) {
      const { waiting } = this.#shared;
      if (this.#waiting.length < mostWaiting.each && waiting < mostWaiting.all) {
        this.#waiting.push(pair);
        this.#shared.waiting += 1;
      } else {
        this.#endWithLast(this.#waiting.at(-1) ?? this.#current);
      }
      this.socket.pause();
    }
  }

  /** Ends the connection with the last response that it still gets (RFC 9112, section 9.6). */
  #endWithLast({ response }: Pair): void {
    this.#isFull = true;
    if (response.headersSent) this.socket.destroy();
    else response.shouldKeepAlive = false;
  }

  /** The request that is still arriving, if one is. */
  get incomplete(): Pair | undefined {
    const last = this.#waiting.at(-1) ?? this.#current;
    return last?.request.complete ? undefined : last;
  }

  /** The response that is under way. */
  get response(): ServerResponse | undefined {
    return this.#current?.response;
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Fulfilled when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#current !== undefined) {
      const { response } = this.#current;
      // Not `once` of node:events, which rejects when the response fails first.
      await new Promise<void>((closed) => response.once('close', closed));
    }
  }

  /** Fulfilled when all complete requests have their responses. One that only waits is dropped. */
  async settled(): Promise<void> {
    const { incomplete } = this;
    if (incomplete !== undefined && incomplete === this.#current) return;
    if (incomplete !== undefined) {
      this.#waiting.pop();
      this.#shared.waiting -= 1;
    }
    await this.idle();
  }

  /** Forgets what waits: the connection is gone. */
  abandon(): void {
    this.#shared.waiting -= this.#waiting.length;
    this.#waiting = [];
    this.#leaveSilence();
  }

  #leaveSilence(): void {
    this.#shared.unused.delete(this);
    this.#shared.idle.delete(this);
  }

  #begin(pair: Pair): void {
    this.#current = pair;
    this.#leaveSilence();
    pair.response.on('close', this.#next);
    this.#shared.serve(pair.request, pair.response);
  }

  readonly #next = () => {
    const { socket } = this;
    this.#current = undefined;
    // A response may have ended the connection: nothing behind it is served.
    if (socket.destroyed || socket.writableEnded) this.abandon();
    const next = this.#waiting.shift();
    if (next === undefined) {
      if (!socket.destroyed) this.#shared.idle.add(this);
      return;
    }
    this.#shared.waiting -= 1;
    this.#begin(next);
    if (!this.hasWaiting) socket.resume();
  };
}
