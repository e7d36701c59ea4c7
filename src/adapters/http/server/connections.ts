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

/** How many silent connections are looked for at a time: a look goes through all. */
const lookedFor = 100;

/**
 * The connections of a server. Requests of one connection are served one after another: a client
 * that sends many at once waits for itself, and others do not wait for it.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #serve: Serve;
  readonly #most: number;
  #waiting = 0;
  /** Connections that were silent for longest when it was looked, the longest last. */
  #silent: Connection[] = [];

  /** @param most how many connections may be open */
  constructor(serve: Serve, most: number) {
    this.#serve = serve;
    this.#most = most;
  }

  /** Follows a connection from its beginning, or closes it where there are too many. */
  accept(socket: Socket): void {
    if (this.#open.size >= this.#most && !this.#closeSilent()) {
      socket.destroy();
      return;
    }
    const connection = new Connection(socket, this.#serve, (change) => {
      if (change > 0 && this.#waiting + change > mostWaiting.all) return false;
      this.#waiting += change;
      return true;
    });
    this.#open.set(socket, connection);
    socket.once('close', () => {
      this.#open.delete(socket);
      connection.abandon();
    });
  }

  /**
   * Closes the connection that has been without a request for longest; those that never had one go first.
   *
   * @returns false where each has a request under way
   */
  #closeSilent(): boolean {
    if (this.#silent.length === 0) {
      const silent = Array.from(this.#open.values()).filter(({ isSilent }) => isSilent);
      silent.sort((a, b) => b.silentSince - a.silentSince);
      this.#silent = silent.slice(-lookedFor);
    }
    for (let one = this.#silent.pop(); one !== undefined; one = this.#silent.pop()) {
      if (!one.isSilent || !this.#open.delete(one.socket)) continue;
      one.socket.destroy();
      return true;
    }
    return false;
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

/** A connection that never had a request counts as silent for so much longer, in milliseconds. */
const neverMs = 1e9;

/** One connection, and what is under way on it. */
export class Connection {
  readonly socket: Socket;
  readonly #serve: Serve;
  readonly #count: (change: number) => boolean;
  #current: Pair | undefined;
  #waiting: Pair[] = [];
  #silentSince = performance.now() - neverMs;
  /** A request was dropped: none behind it is served. */
  #isFull = false;

  /** @param count counts what waits on all connections; false, and no change, where that is too much */
  constructor(socket: Socket, serve: Serve, count: (change: number) => boolean) {
    this.socket = socket;
    this.#serve = serve;
    this.#count = count;
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
      if (this.#waiting.length < mostWaiting.each && this.#count(1)) this.#waiting.push(pair);
      else this.#endWithLast(this.#waiting.at(-1) ?? this.#current);
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

  get isSilent(): boolean {
    return this.#current === undefined;
  }

  /** When its last request ended (`performance.now()`), and long before now where it had none. */
  get silentSince(): number {
    return this.#silentSince;
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
      this.#count(-1);
    }
    await this.idle();
  }

  /** Forgets what waits: the connection is gone. */
  abandon(): void {
    this.#count(-this.#waiting.length);
    this.#waiting = [];
  }

  #begin(pair: Pair): void {
    this.#current = pair;
    pair.response.on('close', this.#next);
    this.#serve(pair.request, pair.response);
  }

  readonly #next = () => {
    this.#current = undefined;
    this.#silentSince = performance.now();
    // A response may have ended the connection: nothing behind it is served.
    if (this.socket.destroyed || this.socket.writableEnded) this.abandon();
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#count(-1);
    this.#begin(next);
    if (!this.hasWaiting) this.socket.resume();
  };
}
