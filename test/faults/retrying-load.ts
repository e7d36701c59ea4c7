import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

type Record_ = Readonly<Record<string, unknown>>;
type Kind = 'users' | 'posts';

interface Listed {
  readonly users?: readonly Record_[];
  readonly posts?: readonly Record_[];
  readonly next: string | null;
}

/**
 * What clients saw who read what they made, and who send a request again that was answered 503
 * (after the time in `Retry-After`) or not at all, creations with their key.
 */
export interface Report {
  readonly created: number;
  readonly read: number;
  /** How many requests were answered at the first try, at the second, and so on. */
  readonly tries: readonly number[];
  /** Answered 201 by a repeat. */
  readonly replayed: number;
  /** Answers 503, and connections that broke. */
  readonly unavailable: number;
  /** Any other answer. There may be none. */
  readonly odd: readonly string[];
  /** The longest that one answer took. */
  readonly slowestMs: number;
  /** Of what was answered 201: not there, not as it was answered, there more than once. */
  readonly lost: number;
  readonly torn: number;
  readonly twice: number;
}

/** Creates users and posts over HTTP, and looks for them afterwards. */
export class RetryingLoad {
  readonly #address: string;
  readonly #acknowledged = new Map<string, { kind: Kind; record: Record_ }>();
  readonly #counts = { read: 0, replayed: 0, unavailable: 0, slowestMs: 0 };
  readonly #tries: number[] = [];
  readonly #misread: string[] = [];
  readonly #odd: string[] = [];
  readonly #userIds: string[] = [];
  #running: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(address: string) {
    this.#address = address;
  }

  get created(): number {
    return this.#acknowledged.size;
  }

  start(writers: number): void {
    this.#running = Promise.all(
      Array.from({ length: writers }, async () => {
        while (!this.#stopped) await this.#read(await this.#create());
      }),
    );
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  async report(): Promise<Report> {
    const found = new Map<unknown, Record_[]>();
    for (const kind of ['users', 'posts'] as const) {
      for (const record of await this.#listAll(kind)) {
        found.set(record.mark, [...(found.get(record.mark) ?? []), record]);
      }
    }
    const result = { lost: 0, torn: 0, twice: 0 };
    for (const [mark, { record }] of this.#acknowledged) {
      const there = found.get(mark) ?? [];
      if (there.length === 0) result.lost += 1;
      else if (there.length > 1) result.twice += 1;
      else if (!isDeepStrictEqual(there[0], record)) result.torn += 1;
    }
    const { created } = this;
    const odd = [...this.#odd, ...this.#misread].slice(0, 10);
    return { created, ...this.#counts, tries: [...this.#tries], odd, ...result };
  }

  /** @returns where the record is */
  async #create(): Promise<string> {
    const mark = randomUUID();
    const author = this.#userIds[Math.floor(Math.random() * this.#userIds.length)];
    const kind = author === undefined || Math.random() < 0.3 ? 'users' : 'posts';
    const body =
      kind === 'users'
        ? { name: mark, email: `${mark}@example.org`, mark }
        : { title: mark, authorId: author, mark };
    const { record, headers } = await this.#insist(201, `/api/v1/${kind}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': mark },
      body: JSON.stringify(body),
    });
    if (headers.get('idempotency-replayed') === 'true') this.#counts.replayed += 1;
    this.#acknowledged.set(mark, { kind, record });
    if (kind === 'users') this.#userIds.push(String(record.id));
    return `/api/v1/${kind}/${record.id}`;
  }

  /** What was acknowledged is there for who asks next, whoever is the primary by then. */
  async #read(path: string): Promise<void> {
    const { record } = await this.#insist(200, path);
    this.#counts.read += 1;
    const made = this.#acknowledged.get(String(record.mark))?.record;
    if (!isDeepStrictEqual(record, made)) this.#misread.push(`read ${JSON.stringify(record)}`);
  }

  /** Sends a request until it is answered as it should be. */
  async #insist(
    status: number,
    path: string,
    init: RequestInit = {},
  ): Promise<{ readonly record: Record_; readonly headers: Headers }> {
    for (let tries = 0; ; tries++) {
      const answer = await this.#try(status, path, init);
      if (typeof answer !== 'number') {
        this.#tries[tries] = (this.#tries[tries] ?? 0) + 1;
        return answer;
      }
      this.#counts.unavailable += 1;
      await sleep(answer);
    }
  }

  /** @returns the answer, or for how many milliseconds to wait before the next try */
  async #try(status: number, path: string, init: RequestInit) {
    const from = Date.now();
    try {
      const signal = AbortSignal.timeout(20_000);
      const answer = await fetch(this.#address + path, { ...init, signal });
      const text = await answer.text();
      if (answer.status === status) {
        return { record: JSON.parse(text) as Record_, headers: answer.headers };
      }
      const retryAfter = answer.headers.get('retry-after');
      if (answer.status === 503 && retryAfter !== null) return Number(retryAfter) * 1000;
      this.#odd.push(`${answer.status} ${text.slice(0, 200)}`);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (error.name === 'TimeoutError') this.#odd.push('no answer');
      if (error instanceof SyntaxError) this.#odd.push(`not JSON: ${error.message}`);
    } finally {
      this.#counts.slowestMs = Math.max(this.#counts.slowestMs, Date.now() - from);
    }
    return 1000;
  }

  async #listAll(kind: Kind): Promise<Record_[]> {
    const all: Record_[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query = `limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
      const page = (await (
        await fetch(`${this.#address}/api/v1/${kind}?${query}`)
      ).json()) as Listed;
      all.push(...(page[kind] ?? []));
      cursor = page.next;
    }
    return all;
  }
}
