import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { linger } from './linger.ts';

/** A request and its answer, from the moment its headers were there. */
interface Turn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Fulfilled when the answer was sent, or its connection is gone. */
  readonly end: Promise<void>;
}

/** How many requests of a connection may wait for the one before them; then no more are read. */
const maxWaiting = 32;

/** What goes on on each connection: the server's own answers have to wait for those of the app. */
export class Connections {
  /** The last request of each connection, and all that have no complete answer yet. */
  readonly #last = new WeakMap<Socket, Turn>();
  readonly #open = new Map<Socket, Set<Turn>>();

  /** Follows a connection from its beginning. */
  accept(socket: Socket): void {
    this.#open.set(socket, new Set());
    socket.once('close', () => this.#open.delete(socket));
    const destroySoon = socket.destroySoon.bind(socket);
    socket.destroySoon = () => {
      const last = this.#last.get(socket);
      if (last === undefined || last.request.complete) destroySoon();
      else linger(socket);
    };
  }

  /**
   * Follows a request to the end of its answer.
   *
   * @returns the end of the answer before it on the same connection, where that is not sent yet:
   * one at a time is made, or a client that reads none of them would fill the memory
   */
  begin(request: IncomingMessage, response: ServerResponse): Promise<void> | undefined {
    const { socket } = request;
    const before = this.#last.get(socket);
    const end = new Promise<void>((resolve) => response.once('close', resolve));
    const turn = { request, response, end };
    this.#last.set(socket, turn);
    const turns = this.#open.get(socket);
    if (turns === undefined) return undefined;
    const isWaiting = before !== undefined && turns.has(before);
    turns.add(turn);
    if (turns.size > maxWaiting) socket.pause();
    response.once('close', () => {
      turns.delete(turn);
      if (turns.size === maxWaiting) socket.resume();
    });
    return isWaiting ? before.end : undefined;
  }

  /** The request that is still arriving on a connection. */
  incomplete(socket: Socket): Turn | undefined {
    const last = this.#last.get(socket);
    return last?.request.complete ? undefined : last;
  }

  /** Fulfilled when every complete request of a connection has its answer. */
  async answered(socket: Socket): Promise<void> {
    const turns = [...(this.#open.get(socket) ?? [])].filter(({ request }) => request.complete);
    await Promise.all(turns.map(({ end }) => end));
  }

  /** The answers that are under way. */
  *responses(): Iterable<ServerResponse> {
    for (const turns of this.#open.values()) {
      for (const { response } of turns) yield response;
    }
  }

  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  /** Ends the connections on which no request is being answered. */
  destroyIdle(): void {
    for (const [socket, turns] of this.#open) if (turns.size === 0) socket.destroy();
  }
}
