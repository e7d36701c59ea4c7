import type { Exchange } from '../exchange.ts';
import { Line } from './line.ts';

/** What comes to fewer bytes is small: it has a quarter of the memory that large ones cannot use up. */
export const smallBytes = 64 * 1024;

/** How often clients are looked at, in milliseconds, while others wait for memory. */
const lookMs = 250;

/** In how many looks a client took and sent no byte before its connection is cut. */
const stillLooks = 4;

/** The memory of bodies, and of large responses until their clients have taken them. */
export class Memory {
  readonly #limit: number;
  readonly #small = new Line();
  readonly #large = new Line();
  /** Those that hold a part; those that wait for their clients since later are later. */
  readonly #holders = new Set<Part>();
  #looking: NodeJS.Timeout | undefined;
  bytes = 0;
  /** Connections that were cut so far, as their clients stood still and others waited. */
  cut = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get waiting(): number {
    return this.#small.length + this.#large.length;
  }

  /**
   * Lets a request hold so many bytes in all, before it uses them.
   *
   * @param key as which it takes turns with others that wait
   * @returns undefined where there is room at once
   */
  reserve(part: Part, bytes: number, key: string): Promise<void> | undefined {
    const line = bytes <= smallBytes ? this.#small : this.#large;
    const begin = () => this.hold(part, bytes);
    if ((line.length === 0 || bytes <= part.bytes) && begin()) return undefined;
    this.#looking ??= setInterval(this.#look, lookMs);
    return line.wait(begin, part.exchange.signal, key);
  }

  /**
   * The same without waiting.
   *
   * @param must it can be neither dropped nor made again: others are cut for it at once
   * @returns false, and no change, where there is no room
   */
  hold(part: Part, bytes: number, must = false): boolean {
    const more = bytes - part.bytes;
    if (more === 0) return true;
    const limit = bytes <= smallBytes ? this.#limit : (this.#limit / 4) * 3;
    const fits = more <= 0 || this.bytes === part.bytes || this.bytes + more <= limit;
    if (!fits && !must) return false;
    this.bytes += more;
    part.bytes = bytes;
    if (bytes > 0) this.#holders.add(part);
    else this.#holders.delete(part);
    if (!fits) this.#cutWhile(() => this.bytes > limit, 0);
    if (more < 0) {
      this.#small.advance();
      this.#large.advance();
    }
    return true;
  }

  /** From here on the client of the request has to act. */
  leaveToClient(part: Part): void {
    part.leaveToClient();
    if (this.#holders.delete(part)) this.#holders.add(part);
  }

  /** Cuts clients that stand still, as long as others wait for memory. */
  readonly #look = () => {
    for (const part of this.#holders) part.look();
    this.#cutWhile(() => this.waiting > 0, stillLooks);
    if (this.waiting > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  };

  #cutWhile(isNeeded: () => boolean, looks: number): void {
    for (const part of this.#holders) {
      if (!isNeeded()) return;
      if (!part.stoodStill(looks)) continue;
      this.cut += 1;
      part.exchange.req.socket.destroy();
      this.hold(part, 0);
    }
  }
}

/** What one request holds of the memory. */
export class Part {
  readonly exchange: Exchange;
  bytes = 0;
  #isWithClient = false;
  #looks = 0;
  #moved = 0;

  constructor(exchange: Exchange) {
    this.exchange = exchange;
  }

  leaveToClient(): void {
    this.#isWithClient = true;
    this.#looks = 0;
  }

  /** The client has to do nothing now. */
  takeBack(): void {
    this.#isWithClient = false;
  }

  look(): void {
    const { bytesRead, bytesWritten } = this.exchange.req.socket;
    const moved = bytesRead + bytesWritten;
    this.#looks = moved === this.#moved ? this.#looks + 1 : 0;
    this.#moved = moved;
  }

  stoodStill(looks: number): boolean {
    return this.#isWithClient && this.#looks >= looks;
  }
}
