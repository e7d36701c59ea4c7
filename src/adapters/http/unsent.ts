import type { ServerResponse } from 'node:http';
import { overloaded } from '../../domain/errors.ts';

/** How many characters answers may hold in memory before no more are made. */
const defaultMost = 128 * 1024 * 1024;

/**
 * The answers that are being made or that their clients have not taken yet. A client may ask for
 * many large pages, on one connection or on many, and read none of them; without a bound on all of
 * them together, that would take the memory of everybody.
 */
export class Unsent {
  readonly #most: number;
  #characters = 0;

  constructor(most = defaultMost) {
    this.#most = most;
  }

  /** @throws RostrumError `overloaded` */
  check(): void {
    if (this.#characters >= this.#most) throw overloaded();
  }

  /** Counts an answer from now on, until it was sent or its client is gone. */
  open(response: ServerResponse): UnsentAnswer {
    const { socket } = response.req;
    let held = 0;
    let isOver = response.closed || socket.destroyed;
    // The socket's end too: on Node 22 an answer that waits behind another one is never closed.
    const end = () => {
      response.off('close', end);
      socket.off('close', end);
      this.#characters -= held;
      isOver = true;
    };
    if (!isOver) {
      response.once('close', end);
      socket.once('close', end);
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
