import { Line } from './line.ts';

/** For how many milliseconds the process is held, before turns of the event loop are left to others. */
const pieceMs = 8;

/** As many bytes are made and sent in that time, at worst. */
const bytesOfPiece = 1024 * 1024;

/**
 * How many turns that are. Node accepts one connection a turn, so that a new client would wait for as
 * many pieces of long work as there are clients before it. An idle process has them in no time.
 */
const turnsOfPiece = 32;

const mostTurns = 64 * turnsOfPiece;

/** Long work: a few pieces of it at a time, with turns of the event loop for others between. */
export class Lane {
  readonly line = new Line();
  readonly #most: number;
  #underWay = 0;
  /** Of the time that pieces held the process, what no turns were left for. */
  #heldMs = 0;
  #chargedUntil = 0;
  /** For how long pieces held the process so far. */
  heldMs = 0;
  /** How many turns are still left to others. */
  #turns = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Begins a piece where it need not wait. */
  readonly begin = (): boolean => {
    if (this.#underWay >= this.#most || this.#turns > 0) return false;
    this.#underWay += 1;
    return true;
  };

  /** Whether it has no work, but turns may still be left to others. */
  get isIdle(): boolean {
    return this.#underWay === 0 && this.line.length === 0;
  }

  /** Whether turns are still left to others. */
  get isPaused(): boolean {
    return this.#turns > 0;
  }

  /** Ends a piece. */
  end(): void {
    this.#underWay -= 1;
    this.line.advance();
  }

  /** Leaves turns to others for what held the process until now. No time counts twice. */
  charge(heldMs: number): void {
    const now = performance.now();
    const ms = Math.min(heldMs, now - this.#chargedUntil);
    this.heldMs += ms;
    this.#spend(ms);
    this.#chargedUntil = now;
  }

  /** Leaves turns to others for what is sent later, and holds the process then. */
  chargeBytes(bytes: number): void {
    this.#spend((bytes / bytesOfPiece) * pieceMs);
  }

  #spend(ms: number): void {
    this.#heldMs += ms;
    const pieces = Math.floor(this.#heldMs / pieceMs);
    this.#heldMs %= pieceMs;
    if (pieces > 0 && this.#turns === 0) setImmediate(this.#endTurn);
    this.#turns = Math.min(this.#turns + pieces * turnsOfPiece, mostTurns);
  }

  readonly #endTurn = () => {
    this.#turns -= 1;
    if (this.#turns > 0) setImmediate(this.#endTurn);
    else this.line.advance();
  };
}
