import { RostrumError } from '../../../domain/errors.ts';
import type { Exchange } from '../exchange.ts';
import type { Response } from '../response.ts';
import { Admission, type RequestKind } from './admission.ts';
import { KnownWork } from './known-work.ts';
import { Lane } from './lane.ts';
import { Line } from './line.ts';

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

export type RoomLimits = typeof roomLimits;

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
  readonly #limits: RoomLimits;
  readonly #admission: Admission;
  readonly known = new KnownWork();
  readonly #lanes: Record<RequestKind, Lane>;
  /** For work that is not known, which does not wait behind what is known to be long. */
  readonly #trials: Record<RequestKind, Lane>;
  readonly #small = new Line();
  readonly #large = new Line();
  /** Those that hold memory; those that wait for their clients since later are later. */
  readonly #holders = new Set<Visit>();
  #bytes = 0;
  #cut = 0;
  #refused = 0;
  #looking: NodeJS.Timeout | undefined;

  constructor(limits = roomLimits) {
    this.#limits = limits;
    this.#admission = new Admission(limits.requests);
    const lane = () => new Lane(limits.long);
    this.#lanes = { list: lane(), read: lane(), write: lane() };
    this.#trials = { list: new Lane(1), read: new Lane(1), write: new Lane(1) };
  }

  get state(): RoomState {
    const lanes = [...Object.values(this.#lanes), ...Object.values(this.#trials)];
    const waiting = lanes.reduce((sum, { line }) => sum + line.length, 0);
    return {
      inside: this.#admission.inProgress,
      waiting: waiting + this.#small.length + this.#large.length,
      bytes: this.#bytes,
      cut: this.#cut,
      refused: this.#refused,
    };
  }

  /** @throws RostrumError `overloaded` where too many are inside, or would wait for the event loop */
  enter(exchange: Exchange, kind: RequestKind): Visit {
    return this.counted(() => new Visit(this, exchange, kind, this.#admission.wait(kind)));
  }

  /** For visits: counts what is refused. */
  counted<T>(attempt: () => T): T {
    try {
      return attempt();
    } catch (error) {
      this.#refused += 1;
      throw error;
    }
  }

  get admission(): Admission {
    return this.#admission;
  }

  /** For how long long work held the process so far. */
  readonly heldMs = (): number => {
    const { list, read, write } = this.#lanes;
    return list.heldMs + read.heldMs + write.heldMs;
  };

  trialsOf(kind: RequestKind): Lane {
    return this.#trials[kind];
  }

  laneOf(kind: RequestKind): Lane {
    return this.#lanes[kind];
  }

  /** Waits in a line, and is not in progress meanwhile. */
  async wait(visit: Visit, line: Line, begin: () => boolean, key?: string): Promise<void> {
    const { exchange } = visit;
    if (line.length >= this.#limits.waiting) this.counted(() => refuse());
    const wasInside = visit.inProgress !== undefined;
    this.#admission.leave(visit);
    this.#looking ??= setInterval(this.#look, lookMs);
    try {
      await line.wait(begin, exchange.signal, key);
    } catch (error) {
      this.#refused += 1;
      throw error;
    }
    if (wasInside) this.#admission.enterAgain(visit, visit.kind);
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
    if (more < 0) this.#advance();
    return true;
  }

  /** Says that a visit waits for its client from now on. */
  waitForClient(visit: Visit): void {
    if (this.#holders.delete(visit)) this.#holders.add(visit);
  }

  #advance(): void {
    this.#small.advance();
    this.#large.advance();
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

function refuse(): never {
  throw new RostrumError('overloaded', {});
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
  /** Fulfilled when the event loop has time for it; undefined where it has. */
  readonly turn: Promise<void> | undefined;
  /** As what it counts among those in progress, while it does. */
  inProgress: RequestKind | undefined;
  bytes = 0;
  #isLong = false;
  #isWithClient = false;
  #looks = 0;
  #moved = 0;

  constructor(room: Room, exchange: Exchange, kind: RequestKind, turn: Promise<void> | undefined) {
    this.#room = room;
    this.exchange = exchange;
    this.kind = kind;
    this.turn = turn;
    exchange.res.on('close', () => this.end());
  }

  /**
   * Reserves memory before it is used. Where it has to wait, `key` takes turns with others.
   *
   * @returns undefined where there is room at once
   */
  reserve(bytes: number, key?: string): Promise<void> | undefined {
    const line = this.#room.lineFor(bytes);
    const begin = () => this.#room.hold(this, bytes);
    if ((line.length === 0 || bytes <= this.bytes) && begin()) return undefined;
    return this.#room.wait(this, line, begin, key).then(() => this.exchange.checkWaited());
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
   * Makes a response in the memory that `key` took the last time; of a new record there is none. Where it proves to take more than
   * there is, it is dropped and made again; a change is made once, and others are cut for it.
   *
   * @param isMany whether it has many records: one is not worth to wait for others, however large
   */
  async make(key: string, make: () => Promise<Response>, isMany = false): Promise<Response> {
    const { known } = this.#room;
    const mayRepeat = this.kind !== 'write';
    for (;;) {
      const expected = known.bytesOf(key);
      if (expected > smallBytes) await this.reserve(expected, this.kind);
      const response = await this.run(key, make, isMany);
      const bytes = bytesOf(response);
      if (bytes > smallBytes) this.#room.laneOf(this.kind).chargeBytes(bytes);
      if (key !== '' && (bytes > smallBytes || expected > 0)) known.learnBytes(key, bytes);
      if (this.settle(bytes > smallBytes ? bytes : 0, !mayRepeat)) return response;
    }
  }

  /**
   * Does work: one of a few at a time, where what `key` names was long the last time. What is not known
   * is tried, unless something has just held the process.
   */
  async run<T>(key: string, work: () => Promise<T>, isMany: boolean): Promise<T> {
    const { known } = this.#room;
    if (key === '') return work();
    if (this.kind === 'read') return known.isLarge(key) ? this.runLong(work) : work();
    const lane = this.#room.laneOf(this.kind);
    const isList = this.kind === 'list';
    const isLong = known.isLong(key, isList, isMany);
    const isKnown = known.isKnown(key);
    if (isKnown && !isLong) return known.measureQuick(key, work, this.#room.heldMs);
    const trials = this.#room.trialsOf(this.kind);
    const charge = (heldMs: number) => {
      lane.charge(heldMs);
      trials.charge(heldMs);
    };
    const measured = () => known.measure(key, isList, work, charge);
    if (this.#isLong || (!isLong && !lane.isPaused)) return measured();
    return this.runLong(measured, isKnown ? lane : trials, key);
  }

  /** Does work that is long whatever it was the last time. */
  async runLong<T>(
    work: () => Promise<T>,
    lane = this.#room.laneOf(this.kind),
    key?: string,
  ): Promise<T> {
    const { isIdle } = lane;
    const isBegun = lane.begin();
    if (!isBegun) await this.#room.wait(this, lane.line, lane.begin, key);
    this.#isLong = true;
    try {
      if (isIdle) this.exchange.checkClient();
      else if (!isBegun) this.exchange.checkWaited();
      return await work();
    } finally {
      this.#isLong = false;
      lane.end();
    }
  }

  /** Says that the process was held for so long, for which turns are left to others. */
  charge(heldMs: number): void {
    this.#room.laneOf(this.kind).charge(heldMs);
  }

  /**
   * Counts among those in progress from now on.
   *
   * @throws RostrumError `overloaded`
   */
  begin(): void {
    this.#room.counted(() => this.#room.admission.enter(this, this.kind));
  }

  /** From here on the client has to act. */
  leaveToClient(): void {
    this.#isWithClient = true;
    this.#looks = 0;
    this.#room.waitForClient(this);
  }

  /** The work is done: from here on it only holds memory. */
  leave(): void {
    this.#room.admission.leave(this);
    this.leaveToClient();
  }

  end(): void {
    this.#room.admission.leave(this);
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
