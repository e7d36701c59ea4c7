import type { Exchange } from '../exchange.ts';
import type { Response } from '../response.ts';
import { KnownWork } from './known-work.ts';
import { overloaded, Semaphore } from './line.ts';
import { Memory, Part, smallBytes } from './memory.ts';
import { Turns } from './turns.ts';

const mebibyte = 1024 * 1024;

/** The bounds of what is under way. `docs/http.md` has the same table. */
export const roomLimits = {
  /** Bytes of bodies, and of large responses until their clients have taken them. */
  bytes: 128 * mebibyte,
  /** Requests of one kind that are in progress: lists, reads of one record, changes. */
  requests: 1000,
  /** Lists and changes at a time that were long the last time, and large bodies. */
  long: 4,
};

/** Characters of a body. Of those that are longer a few at a time are in use, and of the longest one. */
const [smallBody, largeBody] = [16 * 1024, 256 * 1024];

/** Each kind is bounded alone: a store that is slow with one does not end the others. */
export type RequestKind = 'list' | 'read' | 'write';

/** What metrics show of a room. */
export interface RoomState {
  readonly inside: number;
  readonly waiting: number;
  readonly bytes: number;
  /** Connections that were cut so far, as their clients stood still and others waited. */
  readonly cut: number;
}

/** Bounds what is under way: how many requests, their memory, and how long they hold the process. */
export class Room {
  readonly #requests: number;
  readonly long: number;
  readonly turns = new Turns();
  readonly memory: Memory;
  readonly known = new KnownWork();
  readonly #inside: Record<RequestKind, number> = { list: 0, read: 0, write: 0 };
  /** Semaphores of work that may hold up other work, by its name. */
  readonly #semaphores = new Map<string, Semaphore>();

  constructor({ bytes, requests, long } = roomLimits) {
    this.#requests = requests;
    this.long = long;
    this.memory = new Memory(bytes);
  }

  get state(): RoomState {
    const { list, read, write } = this.#inside;
    const { bytes, cut } = this.memory;
    let waiting = this.memory.waiting + this.turns.line.length;
    for (const { line } of this.#semaphores.values()) waiting += line.length;
    return { inside: list + read + write, waiting, bytes, cut };
  }

  /**
   * @param key what takes as long and as much memory each time; empty where nothing is known to
   * @throws RostrumError `overloaded` where too many are inside, or it would wait for too long
   */
  enter(exchange: Exchange, kind: RequestKind, key: string): Visit {
    const visit = new Visit(this, exchange, kind, key);
    this.#checkFull(kind);
    this.turns.check(visit.lineKey);
    exchange.atEnd(() => visit.end());
    return visit;
  }

  /** Counts a visit among those in progress. @throws RostrumError `overloaded` when too many are */
  begin(visit: Visit): void {
    if (visit.isInside) return;
    this.#checkFull(visit.kind);
    this.beginAgain(visit);
  }

  /** The same for one that waited for others meanwhile. */
  beginAgain(visit: Visit): void {
    visit.isInside = true;
    this.#inside[visit.kind] += 1;
  }

  leave(visit: Visit): void {
    if (!visit.isInside) return;
    visit.isInside = false;
    this.#inside[visit.kind] -= 1;
  }

  #checkFull(kind: RequestKind): void {
    if (this.#inside[kind] >= this.#requests) throw overloaded;
  }

  /** Does work that may hold up other work: so much of one name at a time. */
  async bounded<T>(
    name: string,
    most: number,
    work: (semaphore: Semaphore) => Promise<T>,
  ): Promise<T> {
    const semaphore = this.#semaphores.get(name) ?? new Semaphore(most);
    this.#semaphores.set(name, semaphore);
    try {
      return await work(semaphore);
    } finally {
      if (semaphore.isIdle) this.#semaphores.delete(name);
    }
  }
}

/** How many bytes a body has, or 0 where it is surely small: a character has three at most. */
function bytesOf({ body = '' }: Response): number {
  if (typeof body !== 'string') return body.length;
  return body.length * 3 <= smallBytes ? 0 : Buffer.byteLength(body);
}

/** A request inside, until its client has the response. */
export class Visit {
  readonly kind: RequestKind;
  readonly #room: Room;
  readonly #exchange: Exchange;
  readonly #part: Part;
  readonly #key: string;
  /** Whether it counts among those in progress. */
  isInside = false;
  #isBounded = false;

  constructor(room: Room, exchange: Exchange, kind: RequestKind, key: string) {
    this.#room = room;
    this.#exchange = exchange;
    this.#part = new Part(exchange);
    this.kind = kind;
    this.#key = key;
  }

  /** As what it takes turns: lists by their shape, records by whether they are large. */
  get lineKey(): string {
    if (this.kind === 'list') return this.#key;
    return this.expected > smallBytes ? `large ${this.kind}` : this.kind;
  }

  /** Bytes that it holds. */
  get bytes(): number {
    return this.#part.bytes;
  }

  /** Bytes that a response with its key had the last time. */
  get expected(): number {
    return this.#room.known.bytesOf(this.#key);
  }

  /**
   * Reserves memory before it is used, and at once what is expected of the response: a request that
   * holds up others must not wait for memory later.
   *
   * @returns undefined where there is room at once
   */
  reserve(bytes: number): Promise<void> | undefined {
    this.#part.takeBack();
    const all = Math.max(bytes, this.expected);
    const waiting = this.#room.memory.reserve(this.#part, all, this.lineKey);
    return waiting && this.#wait(waiting).then(() => this.#exchange.checkWaited());
  }

  /**
   * Says what it came to, and gives the rest back.
   *
   * @param must it can be neither dropped nor made again: others are cut for it at once
   * @returns false where there is no room: it holds nothing then
   */
  settle(bytes: number, must = false): boolean {
    const { memory } = this.#room;
    this.#part.takeBack();
    if (memory.hold(this.#part, bytes, must)) return true;
    memory.hold(this.#part, 0);
    return false;
  }

  /**
   * Makes a response in the memory that its key took the last time; of a new record there is none.
   * Where it proves to take more than there is, it is dropped and made again. A change is made once,
   * and others are cut for it.
   *
   * @throws RostrumError `overloaded`
   */
  async make(make: () => Promise<Response>): Promise<Response> {
    const { known } = this.#room;
    const mayRepeat = this.kind !== 'write';
    for (;;) {
      const { expected } = this;
      if (expected > smallBytes) await this.reserve(expected);
      const turn = this.#turn();
      if (turn !== undefined) await turn;
      this.#room.begin(this);
      const response = await this.#run(make);
      const bytes = bytesOf(response);
      if (this.#key !== '' && (bytes > smallBytes || expected > 0)) {
        known.learnBytes(this.#key, bytes);
      }
      if (this.settle(bytes > smallBytes ? bytes : 0, !mayRepeat)) return response;
    }
  }

  /**
   * Does work, and bounds what may hold up others. Changes of one record are made one after another: at
   * once they would only meet in the store.
   */
  #run<T>(work: () => Promise<T>): Promise<T> {
    const { known } = this.#room;
    if (this.#key === '' || this.kind === 'read') return work();
    const isList = this.kind === 'list';
    const measured = () => known.measure(this.#key, isList, work);
    if (this.#isBounded) return measured();
    const bounded = () => (known.isLong(this.#key) ? this.runLong(measured) : measured());
    if (isList && known.has(this.#key)) return bounded();
    const name = isList ? 'new list' : this.#key;
    return this.#bounded(name, 1, bounded);
  }

  /** Uses a body of so many characters: as objects it may take a hundred times its bytes, with all copies. */
  use<T>(length: number, work: () => Promise<T>): Promise<T> {
    if (length <= smallBody) return work();
    if (length <= largeBody) return this.runLong(work);
    return this.#bounded('large body', 1, work);
  }

  /** Does work that is long whatever it was the last time. */
  runLong<T>(work: () => Promise<T>): Promise<T> {
    return this.#bounded(`long ${this.kind}`, this.#room.long, work);
  }

  #bounded<T>(name: string, most: number, work: () => Promise<T>): Promise<T> {
    return this.#room.bounded(name, most, async ({ begin, end, line }) => {
      const isBegun = begin();
      if (!isBegun) await this.#wait(line.wait(begin, this.#exchange.signal, this.lineKey));
      this.#isBounded = true;
      try {
        if (!isBegun) this.#exchange.checkWaited();
        await this.#turn();
        return await work();
      } finally {
        this.#isBounded = false;
        end();
      }
    });
  }

  /** Waits until the event loop has time; undefined when it has. */
  #turn(): Promise<void> | undefined {
    const { turns } = this.#room;
    const isFirst = turns.line.length === 0;
    const turn = turns.take(this.lineKey, this.#exchange);
    return turn?.then(() => {
      if (isFirst) this.#exchange.checkClient();
      else this.#exchange.checkWaited();
    });
  }

  /** Is not in progress while it waits. */
  async #wait(waiting: Promise<void>): Promise<void> {
    const wasInside = this.isInside;
    this.#room.leave(this);
    await waiting;
    if (wasInside) this.#room.beginAgain(this);
  }

  /** From here on the client has to act. */
  leaveToClient(): void {
    this.#room.memory.leaveToClient(this.#part);
  }

  /** The work is done: from here on it only holds memory. */
  leave(): void {
    this.#room.leave(this);
    this.leaveToClient();
  }

  end(): void {
    this.#room.leave(this);
    this.#room.memory.hold(this.#part, 0);
  }
}
