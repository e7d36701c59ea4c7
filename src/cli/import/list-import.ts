import type { FieldIssue } from '../../domain/issues.ts';
import type { Entity, Id } from '../../domain/record.ts';
import type { Repository } from '../../ports/repository.ts';
import type { LongRun } from '../run-long.ts';
import { batchLimits } from '../transfer/source.ts';
import type { DataFile, List } from './data-file.ts';
import type { Given } from './given.ts';
import { issuesOf, type Made, type Making, makeRecord } from './record-maker.ts';

/** A record that is refused, and all that is wrong with it. */
export type Refusal = Pick<Made<never>, 'place' | 'issues'>;

export interface Watching extends LongRun {
  /** Told of every record that is refused. */
  report(refusal: Refusal): void;
  /** Counts the records that were added, also until an early end. */
  readonly added: Record<List, number>;
}

/** A record that keeps every rule by itself. */
export type Valid<R> = Made<R> & { readonly record: R };

/** One list of a file, on its way into a store: checked first, and added then. */
export abstract class ListImport<R extends Entity> {
  readonly #list: List;
  readonly #repository: Pick<Repository<R, never, never>, 'create'>;
  readonly #watching: Watching;
  /** The refused ones, by their number in the file. */
  readonly #refused = new Set<number>();
  #records = 0;

  constructor(
    list: List,
    repository: Pick<Repository<R, never, never>, 'create'>,
    watching: Watching,
  ) {
    this.#list = list;
    this.#repository = repository;
    this.#watching = watching;
  }

  protected abstract readonly making: Making<R>;

  /** What the store has against a record. */
  protected abstract conflicts(made: Made<R>): Promise<FieldIssue[]>;

  /** What the records before it in the file have against a record. */
  protected abstract repeats(valid: Valid<R>): FieldIssue[];

  protected abstract accept(valid: Valid<R>): void;

  protected abstract refuse(given: Id): void;

  /** Reads all records and adds none. @returns their number, and how many are refused */
  async check(file: DataFile): Promise<{ readonly records: number; readonly refused: number }> {
    const { progress, signal } = this.#watching;
    progress.begin(`checking ${this.#list} (bytes)`, file.bytes);
    const onBytes = (bytes: number) => progress.advance(bytes);
    for await (const batch of batches(file.read(this.#list, { signal, onBytes }))) {
      signal.throwIfAborted();
      const made = batch.map((given) => makeRecord(given, this.making));
      const conflicts = await Promise.all(made.map((one) => this.conflicts(one)));
      for (const [i, one] of made.entries()) this.#judge(one, conflicts[i] ?? []);
    }
    progress.end();
    return { records: this.#records, refused: this.#refused.size };
  }

  /** Adds what was not refused. @returns how many were refused all the same */
  async add(file: DataFile): Promise<number> {
    const { progress, signal } = this.#watching;
    progress.begin(this.#list, this.#records - this.#refused.size);
    let [number, late] = [0, 0];
    for await (const batch of batches(file.read(this.#list, { signal, onBytes() {} }))) {
      signal.throwIfAborted();
      const wanted = batch.filter(() => !this.#refused.has(number++));
      const refused = await this.#create(wanted.map((given) => makeRecord(given, this.making)));
      late += refused;
      progress.advance(wanted.length);
    }
    progress.end();
    return late;
  }

  #judge(made: Made<R>, conflicts: readonly FieldIssue[]): void {
    const { place, given } = made;
    const issues = [...made.issues, ...conflicts];
    const known = new Set(issues.map(({ pointer }) => pointer));
    if (isValid(made)) issues.push(...this.repeats(made).filter((one) => !known.has(one.pointer)));
    if (isValid(made) && issues.length === 0) this.accept(made);
    else {
      this.#refused.add(this.#records);
      this.#watching.report({ place, issues });
      if (given !== undefined) this.refuse(given);
    }
    this.#records += 1;
  }

  /** Creates records at the same time. @returns how many were refused */
  async #create(batch: readonly Made<R>[]): Promise<number> {
    const { report, added } = this.#watching;
    const outcomes = await Promise.allSettled(batch.map((made) => this.#createOne(made)));
    let refused = 0;
    let failure: PromiseRejectedResult | undefined;
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.status === 'rejected') failure ??= outcome;
      else if (outcome.value.length > 0) {
        refused += 1;
        report({ place: batch[i]?.place ?? '', issues: outcome.value });
      }
    }
    const fulfilled = outcomes.filter(({ status }) => status === 'fulfilled').length;
    added[this.#list] += fulfilled - refused;
    if (failure !== undefined) throw failure.reason;
    return refused;
  }

  /** @returns what is wrong */
  async #createOne({ record, issues }: Made<R>): Promise<readonly FieldIssue[]> {
    if (record === undefined) return issues;
    try {
      await this.#repository.create(record);
      return [];
    } catch (error) {
      return issuesOf(error);
    }
  }
}

function isValid<R>(made: Made<R>): made is Valid<R> {
  return made.record !== undefined;
}

/** What is read, checked and added at the same time. */
async function* batches(given: AsyncIterable<Given>): AsyncGenerator<Given[]> {
  let [batch, bytes]: [Given[], number] = [[], 0];
  for await (const one of given) {
    batch.push(one);
    bytes += one.bytes;
    if (batch.length < batchLimits.limit && bytes < batchLimits.bytes) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
