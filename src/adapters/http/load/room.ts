import type { Exchange } from '../exchange.ts';
import type { Response } from '../response.ts';
import { KnownWork } from './known-work.ts';
import { Line, Semaphore } from './line.ts';
import { overloaded, Turns } from './turns.ts';

const mebibyte = 1024 * 1024;

/** The bounds of what is under way. `docs/http.md` has the same table. */
export const roomLimits = {
  /** Bytes of bodies, and of large responses until their clients have taken them. */
  bytes: 128 * mebibyte,
  /** Requests of one kind that are in progress: lists, reads of one record, changes. */
  requests: 1000,
  /** Requests of one kind that wait for room. */
  waiting: 1000,
  /** Lists and changes at a time that were long the last time, and large bodies. */
  long: 4,
};

/** Each kind is bounded alone: a store that is slow with one does not end the others. */
export type RequestKind = 'list' | 'read' | 'write';

/** What comes to fewer bytes is small: it has a quarter of the room that large ones cannot use up. */
export const smallBytes = 64 * 1024;

/** How often clients are looked at, in milliseconds, while others wait for room. */
const lookMs = 250;

/** In how many looks a client took and sent no byte before its connection is cut. */
const stillLooks = 4;

/** What metrics show of a room. */
export interface RoomState {
  readonly inside: number;
  readonly waiting: number;
  readonly bytes: number;
  /** Connections that were cut so far, as their clients stood still and others waited. */
  readonly cut: number;
  readonly refused: number;
}

/** Bounds what is under way: how many requests, their memory, and how long they hold the process. */
export class Room {
  readonly #limits: typeof roomLimits;
  readonly turns = new Turns();
  readonly known = new KnownWork();
  /** For lists and changes that were long the last time. */
  readonly long: Record<RequestKind, Semaphore>;
  /** For what is not known: one list at a time, and one change of each record. */
  readonly #trials = new Map<string, Semaphore>();
  readonly #small = new Line();
  readonly #large = new Line();
  readonly #inside: Record<RequestKind, number> = { list: 0, read: 0, write: 0 };
  /** Those that hold memory; those that wait for their clients since later are later. */
  readonly #holders = new Set<Visit>();
  #bytes = 0;
  #cut = 0;
  #refused = 0;
  #looking: NodeJS.Timeout | undefined;

  constructor(limits = roomLimits) {
    this.#limits = limits;
    const few = () => new Semaphore(limits.long);
    this.long = { list: few(), read: few(), write: few() };
  }

  get state(): RoomState {
    const semaphores = [...Object.values(this.long), ...this.#trials.values()];
    const lines = [
      ...semaphores.map(({ line }) => line),
      this.#small,
      this.#large,
      this.turns.line,
    ];
    return {
      inside: this.#inside.list + this.#inside.read + this.#inside.write,
      waiting: lines.reduce((sum, { length }) => sum + length, 0),
      bytes: this.#bytes,
      cut: this.#cut,
      refused: this.#refused,
    };
  }

  /**
   * @param key what takes as long and as much memory each time; empty where nothing is known to
   * @throws RostrumError `overloaded` where too many are inside, or it would wait for too long
   */
  enter(exchange: Exchange, kind: RequestKind, key: string): Visit {
    const visit = new Visit(this, exchange, kind, key);
    return this.counted(() => {
      this.#checkFull(kind);
      this.turns.check(visit.lineKey);
      exchange.atEnd(() => visit.end());
      return visit;
    });
  }

  /** Counts what is refused. */
  counted<T>(attempt: () => T): T {
    try {
      return attempt();
    } catch (error) {
      this.#refused += 1;
      throw error;
    }
  }

  /** Counts a visit among those in progress. @throws RostrumError `overloaded` when too many are */
  begin(visit: Visit): void {
    this.#checkFull(visit.kind);
    this.#count(visit, true);
  }

  /** Ends what {@link begin} began; again, it does nothing. */
  leave(visit: Visit): void {
    this.#count(visit, false);
  }

  #checkFull(kind: RequestKind): void {
    if (this.#inside[kind] >= this.#limits.requests) throw overloaded;
  }

  #count(visit: Visit, isInside: boolean): void {
    this.#inside[visit.kind] += Number(isInside) - Number(visit.isInside);
    visit.isInside = isInside;
  }

  /** Does work that is not known: one list at a time, and one change of each record. */
  async try<T>(name: string, work: (trial: Semaphore) => Promise<T>): Promise<T> {
    const trial = this.#trials.get(name) ?? new Semaphore(1);
    this.#trials.set(name, trial);
    try {
      return await work(trial);
    } finally {
      if (trial.isIdle) this.#trials.delete(name);
    }
  }

  /** Waits in a line, and is not in progress meanwhile. */
  async wait(visit: Visit, line: Line, begin: () => boolean): Promise<void> {
    if (line.length >= this.#limits.waiting) {
      this.#refused += 1;
      throw overloaded;
    }
    const { isInside, exchange } = visit;
    this.leave(visit);
    this.#looking ??= setInterval(this.#look, lookMs);
    try {
      await line.wait(begin, exchange.signal, visit.lineKey);
    } catch (error) {
      this.#refused += 1;
      throw error;
    }
    this.#count(visit, isInside);
  }

  /** The line for so much memory. */
  lineFor(bytes: number): Line {
    return bytes <= smallBytes ? this.#small : this.#large;
  }

  /** Lets a visit hold so many bytes in all, where there is room or it must be. */
  hold(visit: Visit, bytes: number, must = false): boolean {
    const more = bytes - visit.bytes;
    if (more === 0) return true;
    const { bytes: all } = this.#limits;
    const limit = bytes <= smallBytes ? all : (all / 4) * 3;
    const fits = more <= 0 || this.#bytes === visit.bytes || this.#bytes + more <= limit;
    if (!fits && !must) return false;
    this.#bytes += more;
    visit.bytes = bytes;
    if (bytes > 0) this.#holders.add(visit);
    else this.#holders.delete(visit);
    if (!fits) this.#cutWhile(() => this.#bytes > limit, 0);
    if (more < 0) {
      this.#small.advance();
      this.#large.advance();
    }
    return true;
  }

  /** Says that a visit waits for its client from now on. */
  waitForClient(visit: Visit): void {
    if (this.#holders.delete(visit)) this.#holders.add(visit);
  }

  /** Cuts clients that stand still, as long as others wait for room. */
  readonly #look = () => {
    for (const visit of this.#holders) visit.look();
    const waits = () => this.#small.length + this.#large.length > 0;
    this.#cutWhile(waits, stillLooks);
    if (waits()) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  };

  #cutWhile(isNeeded: () => boolean, looks: number): void {
    for (const visit of this.#holders) {
      if (!isNeeded()) return;
      if (!visit.stoodStill(looks)) continue;
      this.#cut += 1;
      visit.exchange.req.socket.destroy();
      visit.end();
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
  readonly #room: Room;
  readonly exchange: Exchange;
  readonly kind: RequestKind;
  readonly #key: string;
  /** Whether it counts among those in progress. */
  isInside = false;
  bytes = 0;
  #isLong = false;
  #isWithClient = false;
  #looks = 0;
  #moved = 0;

  constructor(room: Room, exchange: Exchange, kind: RequestKind, key: string) {
    this.#room = room;
    this.exchange = exchange;
    this.kind = kind;
    this.#key = key;
  }

  /** What takes turns with others where it waits: lists by their shape, records by whether they are large. */
  get lineKey(): string {
    if (this.kind === 'list') return this.#key;
    return this.#room.known.bytesOf(this.#key) > smallBytes ? `large ${this.kind}` : this.kind;
  }

  /**
   * Reserves memory before it is used.
   *
   * @returns undefined where there is room at once
   */
  reserve(bytes: number): Promise<void> | undefined {
    const line = this.#room.lineFor(bytes);
    const begin = () => this.#room.hold(this, bytes);
    if ((line.length === 0 || bytes <= this.bytes) && begin()) return undefined;
    return this.#room.wait(this, line, begin).then(() => this.exchange.checkWaited());
  }

  /**
   * Says what it came to, and gives the rest back.
   *
   * @param must it can be neither dropped nor made again: others are cut for it at once
   * @returns false where there is no room: it holds nothing then
   */
  settle(bytes: number, must = false): boolean {
    this.#isWithClient = false;
    if (this.#room.hold(this, bytes, must)) return true;
    this.#room.hold(this, 0);
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
      const expected = known.bytesOf(this.#key);
      if (expected > smallBytes) await this.reserve(expected);
      const turn = this.#turn();
      if (turn !== undefined) await turn;
      if (!this.isInside) this.#room.counted(() => this.#room.begin(this));
      const response = await this.#run(make);
      const bytes = bytesOf(response);
      if (this.#key !== '' && (bytes > smallBytes || expected > 0)) {
        known.learnBytes(this.#key, bytes);
      }
      if (this.settle(bytes > smallBytes ? bytes : 0, !mayRepeat)) return response;
    }
  }

  /** Does work, with those that it may hold up as bounds: what was long the last time, or is not known. */
  #run<T>(work: () => Promise<T>): Promise<T> {
    const { known, long } = this.#room;
    if (this.#key === '' || this.kind === 'read') return work();
    const isList = this.kind === 'list';
    const measured = () => known.measure(this.#key, isList, work);
    if (this.#isLong) return measured();
    if (known.isLong(this.#key)) return this.#runIn(long[this.kind], measured);
    if (known.has(this.#key)) return measured();
    const name = isList ? 'list' : this.#key;
    return this.#room.try(name, (trial) => this.#runIn(trial, measured));
  }

  /** Does work that is long whatever it was the last time. */
  runLong<T>(work: () => Promise<T>): Promise<T> {
    return this.#runIn(this.#room.long[this.kind], work);
  }

  async #runIn<T>(semaphore: Semaphore, work: () => Promise<T>): Promise<T> {
    const isBegun = semaphore.begin();
    if (!isBegun) await this.#room.wait(this, semaphore.line, semaphore.begin);
    this.#isLong = true;
    try {
      if (!isBegun) this.exchange.checkWaited();
      await this.#turn();
      return await work();
    } finally {
      this.#isLong = false;
      semaphore.end();
    }
  }

  /** Waits until the event loop has time; undefined when it has. */
  #turn(): Promise<void> | undefined {
    const { turns } = this.#room;
    const isFirst = turns.line.length === 0;
    const turn = turns.take(this.lineKey, this.exchange);
    return turn?.then(() => {
      if (isFirst) this.exchange.checkClient();
      else this.exchange.checkWaited();
    });
  }

  /** From here on the client has to act. */
  leaveToClient(): void {
    this.#isWithClient = true;
    this.#looks = 0;
    this.#room.waitForClient(this);
  }

  /** The work is done: from here on it only holds memory. */
  leave(): void {
    this.#room.leave(this);
    this.leaveToClient();
  }

  end(): void {
    this.#room.leave(this);
    this.#room.hold(this, 0);
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
