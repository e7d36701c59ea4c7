import { systemClock, uuidV7 } from '../../adapters/system/index.ts';
import { emailKey } from '../../domain/email.ts';
import { emailTaken, unknownAuthorIssue } from '../../domain/errors.ts';
import type { FieldIssue } from '../../domain/issues.ts';
import { newestFirst } from '../../domain/list.ts';
import type { Post } from '../../domain/post.ts';
import type { Id } from '../../domain/record.ts';
import { RecordModel } from '../../domain/record-model.ts';
import { postRules, userRules } from '../../domain/rules.ts';
import type { CustomFieldsSchemas } from '../../domain/services/rostrum.ts';
import type { User } from '../../domain/user.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Store } from '../../ports/store.ts';
import { counted } from '../count.ts';
import { Failure } from '../failure.ts';
import type { DataFile, List } from './data-file.ts';
import { checkUsed, type Names } from './field-names.ts';
import { ListImport, type Refusal, type Valid, type Watching } from './list-import.ts';
import { Reasons } from './reasons.ts';
import { idTaken, type Made, type Making } from './record-maker.ts';

export interface ImportOptions extends Watching {
  readonly keepIds: boolean;
  /** Whether the other records are added when some are refused. */
  readonly skipInvalid: boolean;
  readonly names: Readonly<Record<List, Names>>;
  /** The deployment's schemas. */
  readonly customFields?: CustomFieldsSchemas | undefined;
  readonly clock?: Clock;
}

/**
 * Adds the records of a file to a store, by the rules of the API.
 *
 * The file is read twice: all of it is checked before anything is added. What is held here is a
 * batch of records, the users' ids and addresses, and the posts' ids when they are kept.
 *
 * @returns how many records are refused, and why
 * @throws Failure when some are refused and not to be skipped, when the file has no record, or when
 * no record has a field that has another name
 */
export async function importRecords(
  file: DataFile,
  store: Store,
  given: ImportOptions,
): Promise<{ readonly refused: number; readonly reasons: string }> {
  const reasons = new Reasons();
  const report = (refusal: Refusal) => {
    reasons.add(refusal);
    given.report(refusal);
  };
  const options = { ...given, report };
  const users = new UserImport(store, options);
  const imports = { users, posts: new PostImport(store, options, users) };
  let [records, refused, late] = [0, 0, 0];
  for (const list of file.lists) {
    const found = await imports[list].check(file);
    records += found.records;
    refused += found.refused;
  }
  if (records === 0) {
    const instead = file.others.length === 0 ? '' : `, but ${file.others.join(', ')}`;
    throw new Failure(`${file.path} has no ${file.lists.join(' and no ')}${instead}.`);
  }
  checkUsed(options.names);
  if (refused > 0 && !options.skipInvalid) {
    const are = refused === 1 ? 'is' : 'are';
    const others = refused < records ? ', or use --skip-invalid to add the others' : '';
    throw new Failure(
      `Nothing is added, because ${refused} of ${counted(records, 'record')} ${are} refused ` +
        `(${reasons.text}): mend ${refused === 1 ? 'it' : 'them'}${others}.`,
    );
  }
  for (const list of file.lists) late += await imports[list].add(file);
  if (late === 0) return { refused, reasons: reasons.text };
  throw new Failure(
    `${counted(late, 'record')} ${late === 1 ? 'was' : 'were'} refused while the others were added: ` +
      'the store or the file was written to meanwhile.',
  );
}

class UserImport extends ListImport<User> {
  protected readonly making: Making<User>;
  readonly #users: Store['users'];
  readonly #keepIds: boolean;
  /** What the ids of the file become; null for a user who is refused. */
  readonly #ids = new Map<Id, Id | null>();
  readonly #addresses = new Set<string>();

  constructor({ users }: Store, options: ImportOptions) {
    super('users', users, options);
    const { names, customFields, keepIds, clock = systemClock } = options;
    this.#users = users;
    this.#keepIds = keepIds;
    this.making = {
      model: new RecordModel<User>(userRules, customFields?.users),
      names: names.users,
      keepIds,
      clock,
      newId: (given) => (given !== undefined && this.#ids.get(given)) || uuidV7.next(),
    };
  }

  idOf(given: Id): Id | null | undefined {
    return this.#ids.get(given);
  }

  protected async conflicts({ record }: Made<User>): Promise<FieldIssue[]> {
    const issues: FieldIssue[] = [];
    if (record === undefined) return issues;
    const { id, email } = record;
    if (this.#keepIds && (await this.#users.isIdTaken(id))) issues.push(idTaken);
    if (email === null) return issues;
    const request = { filter: { email }, order: newestFirst, limit: 1, bytes: 1 } as const;
    const { items } = await this.#users.list(request);
    return items.length > 0 ? [...issues, ...emailTaken().details.issues] : issues;
  }

  protected repeats({ given, record: { email } }: Valid<User>): FieldIssue[] {
    const isRepeated = email !== null && this.#addresses.has(emailKey(email));
    return [
      ...(given !== undefined && this.#ids.get(given) ? [idTaken] : []),
      ...(isRepeated ? emailTaken().details.issues : []),
    ];
  }

  protected accept({ given, record: { id, email } }: Valid<User>): void {
    if (given !== undefined) this.#ids.set(given, id);
    if (email !== null) this.#addresses.add(emailKey(email));
  }

  protected refuse(given: Id): void {
    if (!this.#ids.has(given)) this.#ids.set(given, null);
  }
}

class PostImport extends ListImport<Post> {
  protected readonly making: Making<Post>;
  readonly #store: Store;
  readonly #keepIds: boolean;
  /** The ids of the file, where they are kept. */
  readonly #ids = new Set<Id>();
  /** Whether users are there whom the file does not have. */
  readonly #authors = new Map<Id, Promise<boolean>>();

  constructor(store: Store, options: ImportOptions, users: UserImport) {
    super('posts', store.posts, options);
    const { names, customFields, keepIds, clock = systemClock } = options;
    this.#store = store;
    this.#keepIds = keepIds;
    this.making = {
      model: new RecordModel<Post>(postRules, customFields?.posts),
      names: names.posts,
      keepIds,
      clock,
      newId: uuidV7.next,
      // An id that is kept may be that of a user of the store, who is refused a second time.
      authorOf: (given) => (keepIds ? (users.idOf(given) ?? undefined) : users.idOf(given)),
    };
  }

  protected async conflicts({ record, otherAuthor }: Made<Post>): Promise<FieldIssue[]> {
    const { users, posts } = this.#store;
    const issues: FieldIssue[] = [];
    const isKept = this.#keepIds && record !== undefined;
    if (isKept && (await posts.isIdTaken(record.id))) issues.push(idTaken);
    if (otherAuthor === undefined) return issues;
    const isThere =
      this.#authors.get(otherAuthor) ?? users.get(otherAuthor).then((user) => user !== undefined);
    this.#authors.set(otherAuthor, isThere);
    return (await isThere) ? issues : [...issues, unknownAuthorIssue];
  }

  protected repeats({ record: { id } }: Valid<Post>): FieldIssue[] {
    return this.#ids.has(id) ? [idTaken] : [];
  }

  protected accept({ record: { id } }: Valid<Post>): void {
    if (this.#keepIds) this.#ids.add(id);
  }

  protected refuse(): void {}
}
