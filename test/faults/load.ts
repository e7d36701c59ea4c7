import { randomInt, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

/** A creation that is to be made exactly once, however often it has to be sent. */
interface Creation {
  readonly kind: 'users' | 'posts';
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
}

type Found = Readonly<Record<string, unknown>>;

interface ListPage {
  readonly users?: readonly Found[];
  readonly posts?: readonly Found[];
  readonly next: string | null;
}

/** What became of the load so far. */
export interface Ledger {
  /** Records that were answered 201. */
  readonly acknowledged: number;
  /** Creations whose answer never came, sent again with the same key. */
  readonly repeated: number;
  /** Of those, the ones that the server had made already. */
  readonly replayed: number;
  /** Acknowledged records that were found, unchanged; each is looked for after each kill. */
  readonly found: number;
  readonly lost: number;
  /** There, but not as they were acknowledged. */
  readonly torn: number;
  /** Creations that made more or less than one record. */
  readonly doubled: number;
  /** Answers that are neither 201 nor a connection that broke. */
  readonly refused: number;
}

/** Writes to a server over HTTP, remembers what it acknowledged, and looks for it later. */
export class Load {
  readonly #records = new Map<string, { kind: Creation['kind']; record: Found }>();
  readonly #userIds: string[] = [];
  #unanswered: Creation[] = [];
  readonly #counts = {
    repeated: 0,
    replayed: 0,
    found: 0,
    lost: 0,
    torn: 0,
    doubled: 0,
    refused: 0,
  };

  get ledger(): Ledger {
    return { acknowledged: this.#records.size, ...this.#counts };
  }

  /** Writes for as long as the server answers, `writers` at a time. */
  async run(address: string, writers: number): Promise<void> {
    const write = async () => {
      while (await this.#send(address, this.#next()));
    };
    await Promise.all(Array.from({ length: writers }, write));
  }

  /** Sends again what was not answered. */
  async repeat(address: string): Promise<void> {
    const creations = this.#unanswered;
    this.#unanswered = [];
    for (const creation of creations) {
      this.#counts.repeated += 1;
      if (!(await this.#send(address, creation))) throw new Error('The server died by itself.');
    }
  }

  /** Looks for everything that was acknowledged. */
  async check(address: string): Promise<void> {
    Object.assign(this.#counts, { found: 0, lost: 0, torn: 0 });
    for (const kind of ['users', 'posts'] as const) {
      const ids = [...this.#records].filter(([, one]) => one.kind === kind).map(([id]) => id);
      for (let i = 0; i < ids.length; i += 100) {
        await this.#checkSome(address, kind, ids.slice(i, i + 100));
      }
    }
  }

  /** Counts the records that carry a creation's mark: of each creation one, and no other. */
  async checkOnce(address: string): Promise<void> {
    const seen = new Map<unknown, number>();
    for (const kind of ['users', 'posts'] as const) {
      let path: string | undefined = `/api/v1/${kind}?limit=1000`;
      while (path !== undefined) {
        const page = (await (await fetch(address + path)).json()) as ListPage;
        for (const { mark } of page[kind] ?? []) seen.set(mark, (seen.get(mark) ?? 0) + 1);
        path = page.next === null ? undefined : `/api/v1/${kind}?limit=1000&cursor=${page.next}`;
      }
    }
    const marks = [...this.#records.values()].map(({ record }) => record.mark);
    this.#counts.doubled = marks.filter((mark) => seen.get(mark) !== 1).length;
    if (seen.size !== marks.length) this.#counts.doubled += Math.abs(seen.size - marks.length);
  }

  #next(): Creation {
    const key = randomUUID();
    const own = { mark: key, tags: ['é😀', { n: randomInt(1000) }] };
    if (this.#userIds.length === 0 || randomInt(4) === 0) {
      return {
        kind: 'users',
        key,
        body: { name: `N ${key}`, email: `${key}@example.org`, ...own },
      };
    }
    const authorId = this.#userIds[randomInt(this.#userIds.length)];
    const body = 'x'.repeat(randomInt(10) === 0 ? randomInt(100_000) : randomInt(500));
    return { kind: 'posts', key, body: { title: `T ${key}`, body, authorId, ...own } };
  }

  /** @returns false when no answer came */
  async #send(address: string, creation: Creation): Promise<boolean> {
    const { kind, key, body } = creation;
    let response: Response;
    let record: Found;
    try {
      response = await fetch(`${address}/api/v1/${kind}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
        body: JSON.stringify(body),
      });
      record = (await response.json()) as Found;
    } catch {
      this.#unanswered.push(creation);
      return false;
    }
    if (response.status !== 201) {
      this.#counts.refused += 1;
      return true;
    }
    if (response.headers.has('Idempotency-Replayed')) this.#counts.replayed += 1;
    this.#records.set(String(record.id), { kind, record });
    if (kind === 'users') this.#userIds.push(String(record.id));
    return true;
  }

  async #checkSome(address: string, kind: Creation['kind'], ids: readonly string[]): Promise<void> {
    const query = ids.map((id) => `id=${id}`).join('&');
    const response = await fetch(`${address}/api/v1/${kind}?limit=100&${query}`);
    const page = (await response.json()) as ListPage;
    const found = new Map(page[kind]?.map((record) => [record.id, record]));
    for (const id of ids) {
      const record = found.get(id);
      if (record === undefined) this.#counts.lost += 1;
      else if (isDeepStrictEqual(record, this.#records.get(id)?.record)) this.#counts.found += 1;
      else this.#counts.torn += 1;
    }
  }
}
