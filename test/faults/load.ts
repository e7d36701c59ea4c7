import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { until } from '../support/until.ts';

type Resource = 'users' | 'posts';
type Found = Readonly<Record<string, unknown>>;
type Page = Partial<Record<Resource, readonly Found[]>> & { readonly next: string | null };

/** The results of clients whose server failed, and the state of their records. */
export interface Report {
  readonly acknowledged: number;
  /** Records that were read immediately after their creation was acknowledged. */
  readonly read: number;
  /** The maximum number of tries until a request succeeded. */
  readonly mostTries: number;
  /** Creations acknowledged by a retry although an earlier try had succeeded. */
  readonly replayed: number;
  /** 503 responses and broken connections. */
  readonly unavailable: number;
  /** The first other response. There must be none. */
  readonly odd: readonly string[];
  readonly slowestMs: number;
  /** Acknowledged records that are missing, different or duplicated. */
  readonly lost: number;
  readonly torn: number;
  readonly twice: number;
}

/** Returns true if every acknowledged record exists once and unchanged, and no response was unexpected. */
export function isSafe({ lost, torn, twice, odd }: Report): boolean {
  return lost + torn + twice + odd.length === 0;
}

/**
 * Clients that create users and posts over HTTP and read them back. They retry requests after a 503 (and its
 * `Retry-After`) or without a response, creations with the same idempotency key.
 */
export class Load {
  /** The current address of the server. */
  address: string;
  readonly #acknowledged = new Map<unknown, Found>();
  readonly #authors: unknown[] = [];
  readonly #counts = { read: 0, mostTries: 0, replayed: 0, unavailable: 0, slowestMs: 0 };
  readonly #odd: string[] = [];
  #clients: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(address = '') {
    this.address = address;
  }

  get created(): number {
    return this.#acknowledged.size;
  }

  /** The ids of the records acknowledged so far. */
  *ids(): Generator<readonly [Resource, unknown]> {
    for (const { id, title } of this.#acknowledged.values()) {
      yield [title === undefined ? 'users' : 'posts', id];
    }
  }

  start(clients: number): void {
    const run = async () => {
      while (!this.#stopped) await this.#createAndRead();
    };
    this.#clients = Promise.all(Array.from({ length: clients }, run));
  }

  /** Resolves when so many more records were created. */
  async progress(count: number): Promise<void> {
    const enough = this.created + count;
    await until(() => this.created >= enough, 'records are created', 60_000);
  }

  /** Resolves when every creation has finished. The server must be available until then. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#clients;
  }

  /** Checks all records acknowledged before the call. Clients can continue meanwhile. */
  async report(): Promise<Report> {
    const acknowledged = [...this.#acknowledged];
    const found = new Map<unknown, Found[]>();
    for (const resource of ['users', 'posts'] as const) {
      for (const record of await this.#listAll(resource)) {
        const same = found.get(record.mark);
        if (same === undefined) found.set(record.mark, [record]);
        else same.push(record);
      }
    }
    const result = { lost: 0, torn: 0, twice: 0 };
    for (const [mark, record] of acknowledged) {
      const [first, ...others] = found.get(mark) ?? [];
      if (first === undefined) result.lost += 1;
      else if (others.length > 0) result.twice += 1;
      else if (!isDeepStrictEqual(first, record)) result.torn += 1;
    }
    const odd = this.#odd.slice(0, 10);
    const slowestMs = Math.round(this.#counts.slowestMs);
    const counts = { ...this.#counts, slowestMs };
    return { acknowledged: acknowledged.length, ...counts, odd, ...result };
  }

  async #createAndRead(): Promise<void> {
    const mark = randomUUID();
    const own = { mark, tags: ['é😀', { n: randomInt(1000) }] };
    const author = this.#authors[randomInt(this.#authors.length + 1)];
    const resource = author === undefined || randomInt(4) === 0 ? 'users' : 'posts';
    const text = 'x'.repeat(randomInt(10) === 0 ? randomInt(100_000) : randomInt(500));
    const input =
      resource === 'users'
        ? { name: mark, email: `${mark}@example.org`, ...own }
        : { title: mark, body: text, authorId: author, ...own };
    const created = await this.#insist(201, `/${resource}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': mark },
      body: JSON.stringify(input),
    });
    if (created === undefined) return;
    const { record, headers } = created;
    if (headers.has('idempotency-replayed')) this.#counts.replayed += 1;
    this.#acknowledged.set(mark, record);
    if (resource === 'users') this.#authors.push(record.id);
    const read = await this.#insist(200, `/${resource}/${record.id}`);
    if (read === undefined) return;
    this.#counts.read += 1;
    if (!isDeepStrictEqual(read.record, record)) this.#odd.push(`read ${read.text}`);
  }

  /** Retries a request until it succeeds. Returns undefined after an unexpected response. */
  async #insist(status: number, path: string, init?: RequestInit) {
    for (let tries = 1; ; tries++) {
      const from = performance.now();
      const response = await this.#send(path, init);
      this.#counts.slowestMs = Math.max(this.#counts.slowestMs, performance.now() - from);
      const wait = response?.headers.get('retry-after') ?? '0.1';
      if (response !== undefined && response.status !== 503) {
        const { headers, text } = response;
        if (response.status === status) {
          this.#counts.mostTries = Math.max(this.#counts.mostTries, tries);
          return { record: JSON.parse(text) as Found, headers, text };
        }
        this.#odd.push(`${response.status} ${text.slice(0, 200)}`);
        return undefined;
      }
      this.#counts.unavailable += 1;
      await sleep(Number(wait) * 1000);
    }
  }

  /** Returns undefined if the connection broke. */
  async #send(path: string, init: RequestInit = {}) {
    try {
      const signal = AbortSignal.timeout(20_000);
      const response = await fetch(`${this.address}/api/v1${path}`, { ...init, signal });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') this.#odd.push('no response');
      return undefined;
    }
  }

  async #listAll(resource: Resource): Promise<Found[]> {
    const all: Found[] = [];
    const query = new URLSearchParams({ limit: '1000' });
    for (let next: string | null = ''; next !== null; ) {
      if (next !== '') query.set('cursor', next);
      const response = await fetch(`${this.address}/api/v1/${resource}?${query}`);
      if (!response.ok) throw new Error(`The list is ${response.status}: ${await response.text()}`);
      const page = (await response.json()) as Page;
      all.push(...(page[resource] ?? []));
      next = page.next;
    }
    return all;
  }
}
