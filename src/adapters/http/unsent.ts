import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { RostrumError } from '../../domain/errors.ts';

/** How many characters answers may hold in memory before no more are made. */
const defaultMost = 128 * 1024 * 1024;

/**
 * The answers that are being made or that their clients have not taken yet. A client may ask for
 * many large pages, on one connection or on many, and read none of them; without a bound on all of
 * them together, that would take the memory of everybody.
 */
export class Unsent {
  readonly #most: number;
  readonly #sockets = new WeakMap<Socket, Set<() => void>>();
  #characters = 0;

  constructor(most = defaultMost) {
    this.#most = most;
  }

  /** @throws RostrumError `overloaded` */
  check(): void {
    if (this.#characters >= this.#most) throw new RostrumError('overloaded', {});
  }

  /** Counts an answer from now on, until it was sent or its client is gone. */
  open(response: ServerResponse): UnsentAnswer {
    const { socket } = response.req;
    const ends = this.#endsOf(socket);
    let held = 0;
    let isOver = response.closed || socket.destroyed;
    const end = () => {
      ends.delete(end);
      response.off('close', end);
      this.#characters -= held;
      isOver = true;
    };
    if (!isOver) {
      ends.add(end);
      response.once('close', end);
    }
    const add = (characters: number) => {
      if (isOver) return;
      held += characters;
      this.#characters += characters;
    };
    return {
      grow: (characters) => {
        this.check();
        add(characters);
      },
      settle: (characters) => add(characters - held),
    };
  }

  /**
   * What ends with a socket: on Node 22 an answer that waits behind another one is never closed.
   * One listener for all, because there may be hundreds.
   */
  #endsOf(socket: Socket): Set<() => void> {
    const known = this.#sockets.get(socket);
    if (known !== undefined) return known;
    const ends = new Set<() => void>();
    this.#sockets.set(socket, ends);
    socket.once('close', () => {
      for (const end of ends) end();
    });
    return ends;
  }
}

/** One of the answers. */
export interface UnsentAnswer {
  /**
   * Says that it came to hold so many characters more.
   *
   * @throws RostrumError `overloaded`
   */
  grow(characters: number): void;
  /** Says how many it holds now that it is whole. */
  settle(characters: number): void;
}
