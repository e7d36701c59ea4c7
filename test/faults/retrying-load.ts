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

/** What clients saw who send every creation again, with its key, until it is answered 201. */
export interface Report {
  readonly created: number;
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
  readonly #counts = { replayed: 0, unavailable: 0, slowestMs: 0 };
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
        while (!this.#stopped) await this.#create();
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
    return { created: this.created, ...this.#counts, odd: this.#odd.slice(0, 10), ...result };
  }

  async #create(): Promise<void> {
    const mark = randomUUID();
    const author = this.#userIds[Math.floor(Math.random() * this.#userIds.length)];
    const kind = author === undefined || Math.random() < 0.3 ? 'users' : 'posts';
    const body =
      kind === 'users'
        ? { name: mark, email: `${mark}@example.org`, mark }
        : { title: mark, authorId: author, mark };
    for (;;) {
      const record = await this.#post(kind, mark, body);
      if (record !== undefined) {
        this.#acknowledged.set(mark, { kind, record });
        if (kind === 'users') this.#userIds.push(String(record.id));
        return;
      }
      await sleep(100);
    }
  }

  async #post(kind: Kind, key: string, body: object): Promise<Record_ | undefined> {
    const from = Date.now();
    try {
      const answer = await fetch(`${this.#address}/api/v1/${kind}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(20_000),
      });
      const text = await answer.text();
      if (answer.status === 201) {
        if (answer.headers.get('idempotency-replayed') === 'true') this.#counts.replayed += 1;
        return JSON.parse(text) as Record_;
      }
      if (answer.status !== 503) this.#odd.push(`${answer.status} ${text.slice(0, 200)}`);
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') this.#odd.push('no answer');
    } finally {
      this.#counts.slowestMs = Math.max(this.#counts.slowestMs, Date.now() - from);
    }
    this.#counts.unavailable += 1;
    return undefined;
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
