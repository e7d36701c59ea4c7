import type { Entity, Id, Versioned } from '../../domain/record.ts';
import { compareText } from '../../domain/text.ts';
import type { Batch } from './walk.ts';

/** Some records of the source, and what the target has where they are. */
export interface Step<R extends Entity> {
  readonly source: Batch<R>;
  /** The records of the target with the same ids. */
  readonly there: ReadonlyMap<Id, Versioned<R>>;
  /** Records of the target that the source does not have. */
  readonly foreign: Batch<R>;
}

/** The records of the target that were changed since the source had them so. */
export function newer<R extends Entity>({ source, there }: Step<R>): Batch<R> {
  return source.flatMap(({ record, version }) => {
    const stored = there.get(record.id);
    if (stored === undefined) return [];
    const later = stored.version === version && stored.record.updatedAt > record.updatedAt;
    return stored.version > version || later ? [stored] : [];
  });
}

const foreignAtOnce = 500;

/**
 * Walks two sides in the order of ids, each once. What is loaded into the target for a step is not
 * met again by a later one.
 */
export async function* compare<R extends Entity>(
  source: AsyncIterable<Batch<R>>,
  target: AsyncIterable<Batch<R>>,
): AsyncGenerator<Step<R>> {
  const there = new Queue(target);
  for await (const batch of source) {
    const wanted = new Set(batch.map(({ record }) => record.id));
    const last = batch.at(-1)?.record.id ?? '';
    const same = new Map<Id, Versioned<R>>();
    let foreign: Versioned<R>[] = [];
    for (let stored = await there.upTo(last); stored; stored = await there.upTo(last)) {
      if (wanted.has(stored.record.id)) same.set(stored.record.id, stored);
      else foreign.push(stored);
      if (foreign.length < foreignAtOnce) continue;
      yield { source: [], there: new Map(), foreign };
      foreign = [];
    }
    yield { source: batch, there: same, foreign };
  }
  for await (const foreign of there.rest()) yield { source: [], there: new Map(), foreign };
}

/** Batches as a queue of records. */
class Queue<R extends Entity> {
  readonly #batches: AsyncIterator<Batch<R>>;
  #batch: Batch<R> = [];
  #next = 0;
  #ended = false;

  constructor(batches: AsyncIterable<Batch<R>>) {
    this.#batches = batches[Symbol.asyncIterator]();
  }

  /** Takes the next record, if its id is not beyond this one. */
  async upTo(id: Id): Promise<Versioned<R> | undefined> {
    if (this.#next === this.#batch.length) await this.#fill();
    const stored = this.#batch[this.#next];
    if (stored === undefined || compareText(stored.record.id, id) > 0) return undefined;
    this.#next += 1;
    return stored;
  }

  async *rest(): AsyncGenerator<Batch<R>> {
    for (; !this.#ended; await this.#fill()) {
      if (this.#next < this.#batch.length) yield this.#batch.slice(this.#next);
    }
  }

  async #fill(): Promise<void> {
    if (this.#ended) return;
    const { value, done } = await this.#batches.next();
    this.#ended = done === true;
    this.#batch = done ? [] : value;
    this.#next = 0;
  }
}
