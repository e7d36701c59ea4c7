import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { linger } from './linger.ts';

/** A request and its answer, from the moment its headers were there. */
interface Turn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

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

  /** Follows a request to the end of its answer. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const turn = { request, response };
    this.#last.set(socket, turn);
    const turns = this.#open.get(socket);
    turns?.add(turn);
    response.once('close', () => turns?.delete(turn));
  }

  /** The request that is still arriving on a connection. */
  incomplete(socket: Socket): Turn | undefined {
    const last = this.#last.get(socket);
    return last?.request.complete ? undefined : last;
  }

  /** Fulfilled when every complete request of a connection has its answer. */
  async answered(socket: Socket): Promise<void> {
    const turns = [...(this.#open.get(socket) ?? [])].filter(({ request }) => request.complete);
    await Promise.all(
      turns.map(
        ({ response }) => new Promise<void>((resolve) => response.once('close', () => resolve())),
      ),
    );
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
