import { setImmediate as nextTurn } from 'node:timers/promises';
import { RostrumError } from '../../../domain/errors.ts';

/** Bytes. To parse a larger document takes more than a millisecond; a reply of fewer is small. */
const large = 64 * 1024;

/** For how long, in milliseconds, a read waits at a gate. */
const waitMs = 5000;

/** How many turns of the event loop are left to others for each of so many bytes that were parsed. */
const [turns, bytesOfTurns] = [32, 1024 * 1024];

/** Kinds of reads whose sizes are kept. */
const mostKinds = 1000;

/** What a read came to. */
interface Size {
  bytes: number;
  documents: number;
}

/** A read under way. */
export interface Read {
  /** How many bytes a document of this kind had the last time; 0 where that is not known. */
  readonly documentBytes: number;
  /** Says that the driver works on it: the place is taken until that ends, whoever gave up. */
  sent(work: Promise<unknown>): void;
  /** Says what came. */
  received(documents: readonly Uint8Array[]): void;
}

/**
 * Bounds what reads of large documents hold, a megabyte of which may be four of BSON and twenty times
 * that as objects: few are under way at a time, and one document is parsed at a time.
 */
export class LargeReads {
  readonly #gate: Gate;
  readonly #parsing = new Gate(1);
  /** By kinds of reads, what the last one came to; the oldest first. */
  readonly #kinds = new Map<string, Size>();

  /** @param places how many large reads are under way at a time */
  constructor(places: number) {
    this.#gate = new Gate(places);
  }

  /**
   * Runs a read. One of a kind that came to little the last time waits for none.
   *
   * @param kind undefined for reads whose size says nothing of the next
   * @throws RostrumError `overloaded`
   */
  async run<T>(kind: string | undefined, read: (read: Read) => Promise<T>): Promise<T> {
    const last = kind === undefined ? undefined : this.#kinds.get(kind);
    const isSmall = last !== undefined && last.bytes < large;
    const leave = isSmall ? undefined : await this.#gate.enter();
    const sent: Promise<unknown>[] = [];
    const size: Size = { bytes: 0, documents: 0 };
    try {
      return await read({
        documentBytes: last === undefined ? 0 : last.bytes / Math.max(last.documents, 1),
        sent: (work) => sent.push(work),
        received: (documents) => {
          size.documents += documents.length;
          for (const { length } of documents) size.bytes += length;
        },
      });
    } finally {
      if (kind !== undefined) this.#keep(kind, size);
      if (leave !== undefined) void Promise.allSettled(sent).then(leave);
    }
  }

  /** Parses a document: a large one alone, with turns of the event loop for all else behind it. */
  async parse<T>(bson: Uint8Array, parse: (bson: Uint8Array) => T): Promise<T> {
    if (bson.length <= large) return parse(bson);
    const leave = await this.#parsing.enter();
    try {
      return parse(bson);
    } finally {
      void leaveTurns(bson.length).then(leave);
    }
  }

  #keep(kind: string, { bytes, documents }: Size): void {
    // It falls by half, so that one small page does not open the way for many large ones.
    const kept = Math.max(bytes, (this.#kinds.get(kind)?.bytes ?? 0) / 2);
    this.#kinds.delete(kind);
    this.#kinds.set(kind, { bytes: kept, documents });
    if (this.#kinds.size <= mostKinds) return;
    const [oldest = ''] = this.#kinds.keys();
    this.#kinds.delete(oldest);
  }
}

async function leaveTurns(bytes: number): Promise<void> {
  const count = Math.ceil((bytes / bytesOfTurns) * turns);
  for (let n = 0; n < count; n++) await nextTurn();
}

/** Lets so many pass at a time; the others wait in line. */
class Gate {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** @returns what gives the place back */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait();
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }

  async #wait(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const late = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(resolve), 1);
      reject(new RostrumError('overloaded', {}));
    }, waitMs);
    await promise.finally(() => clearTimeout(late));
  }
}
