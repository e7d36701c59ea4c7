import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import {
  addDeclarations,
  type Collection,
  type CollectionField,
  type Condition,
  type Creation,
  comparePositions,
  cutPage,
  type Decide,
  type DeclaredFields,
  type DeleteMode,
  type Deletion,
  declaredValue,
  type EventLog,
  type EventPage,
  emailTaken,
  fieldTaken,
  type Guard,
  type Id,
  type Instant,
  type ListQuery,
  notUnique,
  type Page,
  type Post,
  type PostRepository,
  type Receipt,
  type RecordEvent,
  type Repository,
  RostrumError,
  repeatedReceipt,
  type SortKey,
  type Store,
  StoredRecordsCheck,
  type StoreOptions,
  searchRow,
  storeUnavailable,
  type User,
  type UserRepository,
  unknownAuthor,
  type Version,
  type Versioned,
  VersionedRecord,
  withoutAuthor,
} from 'rostrum/ports';

/**
 * A record as JSON text. `VersionedRecord` parses it when its `record` is first used, so a caller never
 * gets an alias of what is stored. HTTP sends the text as it is.
 */
interface Row {
  readonly version: Version;
  readonly json: string;
}

/** A repeated request gets the record as it was created, whatever has happened to it since. */
interface StoredReceipt {
  readonly fingerprint: string;
  readonly until: Instant;
  readonly row: Row;
}

interface Table {
  readonly rows: Map<Id, Row>;
  /** The last versions of deleted records. */
  readonly deleted: Map<Id, Version>;
  readonly receipts: Map<string, StoredReceipt>;
}

interface Data {
  readonly users: Table;
  readonly posts: Table;
  readonly log: Log;
  fields: readonly CollectionField[];
}

/** The newest events, and how many there were before them. */
interface Log {
  readonly name: string;
  readonly events: RecordEvent[];
  dropped: number;
}

function emptyData(): Data {
  const table = () => ({ rows: new Map(), deleted: new Map(), receipts: new Map() });
  const log = { name: randomUUID(), events: [], dropped: 0 };
  return { users: table(), posts: table(), log, fields: [] };
}

/**
 * A change is made in memory without an `await`, so no reader sees half of it. Then the file is
 * written under another name, synced and renamed: after a crash, the old or the new file is there.
 * Changes that arrive during a write share the next one.
 */
class DataFile {
  readonly data: Data;
  /** The number of the first event that is not in the file yet. */
  unsaved: number;
  readonly #path: string;
  #writing: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;
  #failure: unknown;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
    this.data = readData(path) ?? emptyData();
    this.unsaved = this.#eventCount();
  }

  /** Every call begins with this check. */
  check(): void {
    if (this.#isClosed || this.#failure !== undefined)
      throw storeUnavailable('none', this.#failure);
  }

  /** Fulfilled when all changes until now are in the file. */
  saved(): Promise<void> {
    this.#waiting ??= this.#writing.then(() => {
      this.#waiting = undefined;
      this.#writing = this.#write();
      return this.#writing;
    });
    return this.#waiting;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (this.#waiting ?? this.#writing);
  }

  async #write(): Promise<void> {
    const { log } = this.data;
    log.dropped += log.events.splice(0, Math.max(0, log.events.length - 10_000)).length;
    const count = this.#eventCount();
    const isMap = (value: unknown) => value instanceof Map;
    const text = JSON.stringify(this.data, (_, value) =>
      isMap(value) ? { mapOf: [...value] } : value,
    );
    try {
      const file = await open(`${this.#path}.new`, 'w');
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${this.#path}.new`, this.#path);
      this.unsaved = count;
    } catch (error) {
      // Memory and file differ now, so serve nothing more.
      this.#failure = error;
      throw storeUnavailable('unknown', error);
    }
  }

  #eventCount(): number {
    return this.data.log.dropped + this.data.log.events.length;
  }
}

function readData(path: string): Data | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return JSON.parse(text, (_, value) => (value?.mapOf ? new Map(value.mapOf) : value));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns only what is in the file: an event must not be readable before its change is safe. */
function readLog({ data, unsaved }: DataFile, limit: number, after?: string): EventPage {
  const { name, dropped, events } = data.log;
  const start = after === undefined ? unsaved : Number(after.slice(name.length + 1));
  const isOwn = after === undefined || after === `${name}.${start}`;
  if (!(isOwn && Number.isInteger(start) && start >= dropped && start <= unsaved)) {
    throw new RostrumError('events-expired', {});
  }
  const end = Math.min(start + limit, unsaved);
  const page = events.slice(start - dropped, end - dropped);
  return { events: page.map((event) => ({ ...event })), next: `${name}.${end}` };
}

/** What users and posts have in common. */
abstract class FileRepository<R extends User | Post> implements Repository<R> {
  protected readonly file: DataFile;
  readonly #name: Collection;

  constructor(file: DataFile, name: Collection) {
    this.file = file;
    this.#name = name;
  }

  protected get table(): Table {
    return this.file.data[this.#name];
  }

  async get(id: Id): Promise<Versioned<R> | undefined> {
    this.file.check();
    return this.find(id);
  }

  async list(query: ListQuery): Promise<Page<R>> {
    this.file.check();
    const { conditions, order, after, total } = query;
    const sign = order.direction === 'asc' ? 1 : -1;
    const found = Array.from(this.table.rows.values(), (row) => {
      const { record } = shown<R>(row);
      const search = searchRow(this.#name, record);
      const { field: name, declaredType: type } = order;
      const key = type ? declaredValue(record, name) : search[name];
      const position = { key: key ?? null, id: record.id };
      return { ...row, record, search, position };
    }).filter(({ record, search }) => conditions.every((one) => isMet(one, record, search)));
    const following = found
      .filter((row) => after === undefined || sign * comparePositions(row.position, after) > 0)
      .sort((a, b) => sign * comparePositions(a.position, b.position));
    const { items, next } = cutPage(following, query, ({ position }) => position);
    const count = total ? found.length : undefined;
    return { items: items.map((row) => shown<R>(row)), next, total: count };
  }

  async create(record: R, receipt?: Receipt): Promise<Creation<R>> {
    this.file.check();
    const earlier = receipt && repeatedReceipt(this.table.receipts.get(receipt.key), receipt)?.row;
    if (earlier !== undefined) {
      // The earlier call may still be waiting for the file.
      await this.file.saved();
      return Object.assign(shown<R>(earlier), { replayed: true });
    }
    const { id } = record;
    if (this.table.rows.has(id)) throw new RostrumError('id-taken', { id });
    const row = this.put('created', record, (this.table.deleted.get(id) ?? 0) + 1);
    if (receipt !== undefined) {
      const { key, fingerprint, until } = receipt;
      this.table.receipts.set(key, { fingerprint, until, row });
    }
    await this.file.saved();
    return Object.assign(shown<R>(row), { replayed: false });
  }

  async lastVersion(id: Id): Promise<Version | undefined> {
    this.file.check();
    return this.table.rows.get(id)?.version ?? this.table.deleted.get(id);
  }

  async update(id: Id, decide: Decide<R>): Promise<Versioned<R> | undefined> {
    this.file.check();
    const current = this.find(id);
    if (current === undefined) return undefined;
    const record = decide(current);
    if (record === current.record) return shown(current);
    const row = this.put('updated', record, current.version + 1);
    await this.file.saved();
    return shown(row);
  }

  find(id: Id): Versioned<R> | undefined {
    const row = this.table.rows.get(id);
    return row && shown(row);
  }

  put(type: 'created' | 'updated', record: R, version: Version): Row {
    this.checkConflicts(record);
    const row = { version, json: JSON.stringify(record) };
    this.table.rows.set(record.id, row);
    this.table.deleted.delete(record.id);
    this.#addEvent(type, record.id, version);
    return row;
  }

  remove(id: Id, version: Version): void {
    this.table.rows.delete(id);
    this.table.deleted.set(id, version);
    this.#addEvent('deleted', id, version);
  }

  /** Throws if the record conflicts with other records: in its address, a unique field, its author. */
  protected checkConflicts(record: R): void {
    for (const field of this.file.data.fields) {
      if (field.collection !== this.#name || !field.isUnique) continue;
      const value = declaredValue(record, field.name);
      if (value === null) continue;
      const isHolder = (other: R) =>
        other.id !== record.id && declaredValue(other, field.name) === value;
      const others = Array.from(this.table.rows.values(), (row) => shown<R>(row).record);
      if (others.some(isHolder)) throw fieldTaken(field.name);
    }
  }

  #addEvent(type: RecordEvent['type'], id: Id, version: Version): void {
    this.file.data.log.events.push({ type, collection: this.#name, id, version });
  }
}

/** A new object for each reader. */
function shown<R>({ json, version }: Row): VersionedRecord<R> {
  return new VersionedRecord<R>(json, version);
}

type Values = Readonly<Record<string, unknown>>;

function isMet(condition: Condition, record: Values, search: Values): boolean {
  const { field, declaredType, op } = condition;
  const values = declaredType === undefined ? search : record;
  const value = Object.hasOwn(values, field) ? values[field] : null;
  if (value === null) return op === 'isNull';
  if (op === 'isNull') return false;
  if (op === 'eq') return value === condition.value;
  if (op === 'in') return condition.value.includes(value as string);
  if (op === 'has') return (value as readonly string[]).includes(condition.value);
  const at = (key: unknown) => ({ key: key as SortKey, id: '' });
  const order = comparePositions(at(value), at(condition.value));
  return op === 'from' ? order >= 0 : order < 0;
}

class FileUsers extends FileRepository<User> implements UserRepository {
  readonly #posts: FilePosts;

  constructor(file: DataFile, posts: FilePosts) {
    super(file, 'users');
    this.#posts = posts;
  }

  async delete(
    id: Id,
    mode: DeleteMode,
    at: Instant,
    guard?: Guard<User>,
  ): Promise<Deletion | undefined> {
    this.file.check();
    const user = this.find(id);
    if (user === undefined) return undefined;
    guard?.(user);
    const theirs = this.#posts.by(id);
    if (mode === 'refuse' && theirs.length > 0) {
      throw new RostrumError('user-has-posts', { posts: theirs.length });
    }
    for (const { record, version } of theirs) {
      if (mode === 'delete') this.#posts.remove(record.id, version);
      else this.#posts.put('updated', withoutAuthor(record, at), version + 1);
    }
    this.remove(id, user.version);
    await this.file.saved();
    return { posts: theirs.length };
  }

  protected override checkConflicts(user: User): void {
    const { emailKey } = searchRow('users', user);
    for (const row of emailKey === null ? [] : this.table.rows.values()) {
      const { record } = shown<User>(row);
      if (record.id !== user.id && searchRow('users', record).emailKey === emailKey) {
        throw emailTaken();
      }
    }
    super.checkConflicts(user);
  }
}

class FilePosts extends FileRepository<Post> implements PostRepository {
  constructor(file: DataFile) {
    super(file, 'posts');
  }

  async delete(id: Id, guard?: Guard<Post>): Promise<boolean> {
    this.file.check();
    const post = this.find(id);
    if (post === undefined) return false;
    guard?.(post);
    this.remove(id, post.version);
    await this.file.saved();
    return true;
  }

  by(authorId: Id): VersionedRecord<Post>[] {
    const all = Array.from(this.table.rows.values(), (row) => shown<Post>(row));
    return all.filter(({ record }) => record.authorId === authorId);
  }

  protected override checkConflicts(post: Post): void {
    super.checkConflicts(post);
    const { authorId } = post;
    if (authorId !== null && !this.file.data.users.rows.has(authorId)) throw unknownAuthor();
  }
}

/**
 * Adds declarations. No other process has the file open, so none of them is pending meanwhile.
 *
 * @throws DeclarationError if stored records break a declaration
 */
function declare(data: Data, declaredFields: DeclaredFields = {}): DeclaredFields {
  const { all, missing } = addDeclarations(data.fields, declaredFields);
  const check = new StoredRecordsCheck(missing);
  const holders = new Map<string, Id>();
  for (const name of ['users', 'posts'] as const) {
    for (const row of data[name].rows.values()) {
      const { record } = shown<User | Post>(row);
      check.add(name, record);
      for (const field of missing) {
        const isOwn = field.collection === name && field.isUnique;
        const value = isOwn ? declaredValue(record, field.name) : null;
        const key = JSON.stringify([name, field.name, value]);
        const holder = holders.get(key);
        if (holder !== undefined) throw notUnique(field, [holder, record.id]);
        if (value !== null) holders.set(key, record.id);
      }
    }
  }
  check.end();
  data.fields = [...data.fields, ...missing];
  return all;
}

export function openFileStore(path: string, options: StoreOptions = {}): Store {
  const file = new DataFile(path);
  const { data } = file;
  const declaredFields = declare(data, options.declaredFields);
  // If this fails, the next call does.
  file.saved().catch(() => {});
  const posts = new FilePosts(file);
  const events: EventLog = {
    async read(limit, after) {
      file.check();
      return readLog(file, limit, after);
    },
  };
  const close = () => file.close();
  return {
    users: new FileUsers(file, posts),
    posts,
    events,
    declaredFields,
    async undeclare(collection, name) {
      file.check();
      const isOther = (field: CollectionField) =>
        field.collection !== collection || field.name !== name;
      data.fields = data.fields.filter(isOther);
      await file.saved();
    },
    ready: async () => file.check(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
