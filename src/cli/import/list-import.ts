import { systemClock, uuidV7 } from '../../adapters/system/index.ts';
import { emailKey } from '../../domain/email.ts';
import { emailTaken, unknownAuthorIssue } from '../../domain/errors.ts';
import type { FieldIssue } from '../../domain/issues.ts';
import { jsonEqual } from '../../domain/json.ts';
import type { Collection, Entity, Id } from '../../domain/record.ts';
import { RecordModel } from '../../domain/record-model.ts';
import { rules } from '../../domain/rules.ts';
import { filters } from '../../domain/search.ts';
import type { CustomFieldsSchemas } from '../../domain/services/rostrum.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Store } from '../../ports/store.ts';
import type { LongRun } from '../run-long.ts';
import { batches } from '../transfer/source.ts';
import type { DataFile } from './data-file.ts';
import type { FieldOptions, Names } from './field-names.ts';
import type { FieldType } from './field-types.ts';
import type { Given, Reading } from './given.ts';
import { idTaken, issuesOf, type Made, type Making, makeRecord } from './record-maker.ts';
import type { ReadTime } from './times.ts';

/** A record that is refused, and all that is wrong with it. */
export interface Refusal extends Pick<Made, 'place' | 'given' | 'author' | 'issues'> {
  readonly list: Collection;
  /** What the file has. */
  readonly content: unknown;
}

export interface ListOptions extends LongRun {
  readonly keepIds: boolean;
  readonly names: Readonly<Record<Collection, Names>>;
  readonly types: Readonly<Record<Collection, FieldOptions<FieldType>>>;
  readonly readTime: ReadTime;
  readonly timeZone?: string | undefined;
  /** The deployment's schemas. */
  readonly customFields?: CustomFieldsSchemas | undefined;
  readonly clock?: Clock;
  /** Told of every record that is refused. */
  report(refusal: Refusal): void;
  /** Counts the records that were added, also until an early end. */
  readonly added: Record<Collection, number>;
}

/** What a check of a list has found. */
export interface Checked {
  readonly records: number;
  readonly refused: number;
  /** How many are in the store already, as an earlier import added them. */
  readonly there: number;
}

/** One list of a file, on its way into a store: checked first, and added then. */
export class ListImport {
  readonly #list: Collection;
  readonly #store: Store;
  readonly #repository: Pick<Repository<Entity>, 'create' | 'get' | 'lastVersion'>;
  readonly #options: ListOptions;
  readonly #making: Making;
  /** The records that are not added, by their number in the file. */
  readonly #omitted = new Set<number>();
  #records = 0;
  #there = 0;
  /** What the ids of the file become, as far as they name something; null for a refused record. */
  readonly #ids = new Map<Id, Id | null>();
  /** The addresses of the file. */
  readonly #addresses = new Set<string>();
  /** Whether users are there whom the file does not have. */
  readonly #authors = new Map<Id, Promise<boolean>>();

  /** @param users of the same file, who may be the authors of these posts */
  constructor(list: Collection, store: Store, options: ListOptions, users?: ListImport) {
    const { customFields, names, types, readTime, timeZone } = options;
    const { keepIds, clock = systemClock } = options;
    this.#list = list;
    this.#store = store;
    this.#repository = store[list];
    this.#options = options;
    this.#making = {
      ...{ names: names[list], types: types[list], readTime, timeZone, keepIds, clock },
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

  /** Reads all records and adds none. */
  async check(file: DataFile): Promise<Checked> {
    const { progress, signal } = this.#options;
    progress.begin(`checking ${this.#list} (bytes)`, file.bytes);
    const onBytes = (bytes: number) => progress.advance(bytes);
    for await (const batch of this.#batches(file, { signal, onBytes })) {
      signal.throwIfAborted();
      const made = batch.map((given) => makeRecord(given, this.#making));
      const found = await Promise.all(made.map((one) => this.#lookUp(one)));
      for (const [i, one] of made.entries()) this.#judge(one, batch[i], found[i] ?? []);
    }
    progress.end();
    const { size } = this.#omitted;
    return { records: this.#records, refused: size - this.#there, there: this.#there };
  }

  /** Adds what was not refused. @returns how many were refused all the same */
  async add(file: DataFile): Promise<number> {
    const { progress, signal } = this.#options;
    progress.begin(this.#list, this.#records - this.#omitted.size);
    let [number, late] = [0, 0];
    for await (const batch of this.#batches(file, { signal, onBytes() {} })) {
      signal.throwIfAborted();
      const wanted = batch.filter(() => !this.#omitted.has(number++));
      late += await this.#create(wanted);
      progress.advance(wanted.length);
    }
    progress.end();
    return late;
  }

  #batches(file: DataFile, reading: Reading): AsyncIterable<readonly Given[]> {
    return batches(file.read(this.#list, reading), ({ bytes }) => bytes);
  }

  /** What the store has against a record; or that it has the very record. */
  async #lookUp({ record, otherAuthor, hasTimes }: Made): Promise<FieldIssue[] | 'there'> {
    const { users } = this.#store;
    const issues: FieldIssue[] = [];
    if (
      this.#options.keepIds &&
      record &&
      (await this.#repository.lastVersion(record.id)) !== undefined
    ) {
      const stored = (await this.#repository.get(record.id))?.record;
      if (stored && isSame(stored, record, hasTimes)) return 'there';
      issues.push(idTaken);
    }
    const email = this.#emailOf(record);
    if (email !== undefined) {
      const conditions = filters.users.email.conditions(email) ?? [];
      const order = { field: 'createdAt', direction: 'desc' } as const;
      const request = { conditions, order, limit: 1, bytes: 1 };
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
  #judge(made: Made, from: Given | undefined, found: readonly FieldIssue[] | 'there'): void {
    const { given, record } = made;
    const isThere = found === 'there';
    const issues = isThere ? [] : [...made.issues, ...found];
    const has = (field: string) => issues.some(({ pointer }) => pointer === field);
    const email = this.#emailOf(record);
    const key = email === undefined ? undefined : emailKey(email);
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
      if (isThere) this.#omitted.add(this.#records);
      if (isThere) this.#there += 1;
    } else {
      this.#omitted.add(this.#records);
      this.#report(made, from, issues);
      if (id !== undefined && !this.#ids.has(id)) this.#ids.set(id, null);
    }
    this.#records += 1;
  }

  #report(made: Made, given: Given | undefined, issues: readonly FieldIssue[]): void {
    const content = given?.value ?? given?.raw;
    this.#options.report({ ...made, list: this.#list, issues, content });
  }

  #emailOf(record: Entity | undefined): string | undefined {
    const email = this.#list === 'users' ? record?.email : undefined;
    return typeof email === 'string' ? email : undefined;
  }

  /** Creates records at the same time. @returns how many were refused */
  async #create(batch: readonly Given[]): Promise<number> {
    const { added } = this.#options;
    let refused = 0;
    const outcomes = await Promise.allSettled(
      batch.map(async (given) => {
        const made = makeRecord(given, this.#making);
        const { record, issues } = made;
        const wrong = record === undefined ? issues : await this.#createOne(record);
        if (wrong.length === 0) added[this.#list] += 1;
        else {
          refused += 1;
          this.#report(made, given, wrong);
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

/** True for a record that an earlier import of the file has added, and that is as it was then. */
function isSame(stored: Entity, record: Entity, hasTimes = false): boolean {
  const { createdAt, updatedAt } = stored;
  // A post of which the file does not say when it was published was so when it was made.
  const published = record.publishedAt === record.createdAt && { publishedAt: createdAt };
  return jsonEqual(stored, hasTimes ? record : { ...record, createdAt, updatedAt, ...published });
}
