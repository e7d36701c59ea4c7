import { systemClock, uuidV7 } from '../../adapters/system/index.ts';
import { emailTaken, unknownAuthorIssue } from '../../domain/errors.ts';
import type { FieldIssue } from '../../domain/issues.ts';
import { newestFirst } from '../../domain/list.ts';
import type { Collection, Entity, Id } from '../../domain/record.ts';
import { RecordModel } from '../../domain/record-model.ts';
import { rules } from '../../domain/rules.ts';
import type { CustomFieldsSchemas } from '../../domain/services/rostrum.ts';
import { textKey } from '../../domain/text.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';
import type { LongRun } from '../run-long.ts';
import { batches } from '../transfer/source.ts';
import type { DataFile } from './data-file.ts';
import type { Names } from './field-names.ts';
import type { Given, Reading } from './given.ts';
import { idTaken, issuesOf, type Made, type Making, makeRecord } from './record-maker.ts';

/** A record that is refused, and all that is wrong with it. */
export type Refusal = Pick<Made, 'place' | 'issues'>;

export interface ListOptions extends LongRun {
  readonly keepIds: boolean;
  readonly names: Readonly<Record<Collection, Names>>;
  /** The deployment's schemas. */
  readonly customFields?: CustomFieldsSchemas | undefined;
  readonly clock?: Clock;
  /** Told of every record that is refused. */
  report(refusal: Refusal): void;
  /** Counts the records that were added, also until an early end. */
  readonly added: Record<Collection, number>;
}

/** One list of a file, on its way into a store: checked first, and added then. */
export class ListImport {
  readonly #list: Collection;
  readonly #store: Store;
  readonly #repository: Pick<Repository<Entity, never, never>, 'create' | 'isIdTaken'>;
  readonly #options: ListOptions;
  readonly #making: Making;
  /** The refused records, by their number in the file. */
  readonly #refused = new Set<number>();
  #records = 0;
  /** What the ids of the file become, as far as they name something; null for a refused record. */
  readonly #ids = new Map<Id, Id | null>();
  /** The addresses of the file. */
  readonly #addresses = new Set<string>();
  /** Whether users are there whom the file does not have. */
  readonly #authors = new Map<Id, Promise<boolean>>();

  /** @param users of the same file, who may be the authors of these posts */
  constructor(list: Collection, store: Store, options: ListOptions, users?: ListImport) {
    const { customFields, names, keepIds, clock = systemClock } = options;
    this.#list = list;
    this.#store = store;
    this.#repository = store[list];
    this.#options = options;
    this.#making = {
      ...{ names: names[list], keepIds, clock },
      model: new RecordModel<Entity>(rules[list], customFields?.[list]),
      newId: (given) => (given !== undefined && this.#ids.get(given)) || uuidV7.next(),
      authorOf: users && ((given) => users.#newIdOf(given)),
    };
  }

  #newIdOf(given: Id): Id | null | undefined {
    const id = this.#ids.get(given);
    // An id that is kept may be that of a user of the store, who is refused a second time.
    return id === null && this.#options.keepIds ? undefined : id;
  }

  /** Reads all records and adds none. @returns their number, and how many are refused */
  async check(file: DataFile): Promise<{ readonly records: number; readonly refused: number }> {
    const { progress, signal } = this.#options;
    progress.begin(`checking ${this.#list} (bytes)`, file.bytes);
    const onBytes = (bytes: number) => progress.advance(bytes);
    for await (const batch of this.#batches(file, { signal, onBytes })) {
      signal.throwIfAborted();
      const made = batch.map((given) => makeRecord(given, this.#making));
      const conflicts = await Promise.all(made.map((one) => this.#conflicts(one)));
      for (const [i, one] of made.entries()) this.#judge(one, conflicts[i] ?? []);
    }
    progress.end();
    return { records: this.#records, refused: this.#refused.size };
  }

  /** Adds what was not refused. @returns how many were refused all the same */
  async add(file: DataFile): Promise<number> {
    const { progress, signal } = this.#options;
    progress.begin(this.#list, this.#records - this.#refused.size);
    let [number, late] = [0, 0];
    for await (const batch of this.#batches(file, { signal, onBytes() {} })) {
      signal.throwIfAborted();
      const wanted = batch.filter(() => !this.#refused.has(number++));
      late += await this.#create(wanted.map((given) => makeRecord(given, this.#making)));
      progress.advance(wanted.length);
    }
    progress.end();
    return late;
  }

  #batches(file: DataFile, reading: Reading): AsyncIterable<readonly Given[]> {
    return batches(file.read(this.#list, reading), ({ bytes }) => bytes);
  }

  /** What the store has against a record. */
  async #conflicts({ record, otherAuthor }: Made): Promise<FieldIssue[]> {
    const { users } = this.#store;
    const issues: FieldIssue[] = [];
    if (this.#options.keepIds && record && (await this.#repository.isIdTaken(record.id))) {
      issues.push(idTaken);
    }
    const email = this.#emailOf(record);
    if (email !== undefined) {
      const request = { filter: { email }, order: newestFirst, limit: 1, bytes: 1 } as const;
      if ((await users.list(request)).items.length > 0) issues.push(...emailTaken().details.issues);
    }
    if (otherAuthor !== undefined) {
      const isThere =
        this.#authors.get(otherAuthor) ?? users.get(otherAuthor).then((user) => user !== undefined);
      this.#authors.set(otherAuthor, isThere);
      if (!(await isThere)) issues.push(unknownAuthorIssue);
    }
    return issues;
  }

  /** Adds what the records before it in the file have against a record. */
  #judge({ place, given, record, issues: own }: Made, conflicts: readonly FieldIssue[]): void {
    const issues = [...own, ...conflicts];
    const has = (field: string) => issues.some(({ pointer }) => pointer === field);
    const email = this.#emailOf(record);
    const key = email === undefined ? undefined : textKey(email);
    if (record !== undefined && given !== undefined && this.#ids.get(given) && !has('/id')) {
      issues.push(idTaken);
    }
    if (key !== undefined && this.#addresses.has(key) && !has('/email')) {
      issues.push(...emailTaken().details.issues);
    }
    // Other ids of posts mean nothing.
    const id = this.#list === 'users' || this.#options.keepIds ? given : undefined;
    if (record !== undefined && issues.length === 0) {
      if (id !== undefined) this.#ids.set(id, record.id);
      if (key !== undefined) this.#addresses.add(key);
    } else {
      this.#refused.add(this.#records);
      this.#options.report({ place, issues });
      if (id !== undefined && !this.#ids.has(id)) this.#ids.set(id, null);
    }
    this.#records += 1;
  }

  #emailOf(record: Entity | undefined): string | undefined {
    const email = this.#list === 'users' ? record?.email : undefined;
    return typeof email === 'string' ? email : undefined;
  }

  /** Creates records at the same time. @returns how many were refused */
  async #create(batch: readonly Made[]): Promise<number> {
    const { report, added } = this.#options;
    let refused = 0;
    const outcomes = await Promise.allSettled(
      batch.map(async ({ place, record, issues }) => {
        const wrong = record === undefined ? issues : await this.#createOne(record);
        if (wrong.length === 0) added[this.#list] += 1;
        else {
          refused += 1;
          report({ place, issues: wrong });
        }
      }),
    );
    const failure = outcomes.find(({ status }) => status === 'rejected');
    if (failure?.status === 'rejected') throw failure.reason;
    return refused;
  }

  /** @returns what is wrong */
  async #createOne(record: Entity): Promise<readonly FieldIssue[]> {
    try {
      await this.#repository.create(record);
      return [];
    } catch (error) {
      return issuesOf(error);
    }
  }
}
