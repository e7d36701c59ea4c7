import { randomInt, randomUUID } from 'node:crypto';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  type Fields,
  type Input,
  isLinearizable,
  type Operation,
  type Output,
} from './linearizable.ts';

/** The numbers of concurrent clients, requests per client, and records. */
export interface Extent {
  readonly clients: number;
  readonly requests: number;
  readonly records: number;
}

/** 20 clients on three records. */
export const usual: Extent = { clients: 20, requests: 8, records: 3 };

/** The result of a request: a response, the certainty that nothing was done, or unknown. */
type Seen = Output | 'nothing was done' | undefined;

interface RecordHistory {
  readonly collection: 'users' | 'posts';
  readonly key: string;
  readonly first: Fields;
  id: string | undefined;
  readonly operations: Operation[];
}

/** Clients of one or more servers on one store, which race for a few records. */
export class Racers implements Disposable {
  /** Statistics of all histories so far. */
  readonly counts = { operations: 0, unknown: 0, undone: 0, replayed: 0, refused: 0 };
  readonly #addresses: readonly string[];
  readonly #agent = new Agent({ keepAlive: true });
  #authors: readonly string[] = [];

  constructor(addresses: readonly string[]) {
    this.#addresses = addresses;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  /** Returns the operations of a record whose history is not linearizable, as text. */
  async race({ clients, requests, records }: Extent): Promise<string | undefined> {
    if (this.#authors.length === 0) {
      this.#authors = [await this.#makeAuthor(), await this.#makeAuthor()];
    }
    const histories = Array.from({ length: records }, (_, i) => this.#begin(i));
    let time = 0;
    const run = async (client: number) => {
      const versions = new Map<RecordHistory, number>();
      for (let n = 0; n < requests; n++) {
        const history = pick(histories);
        const input = this.#choose(history, `${client}.${n}`, versions.get(history));
        const begin = time++;
        const seen = await this.#send(history, input);
        if (seen === 'nothing was done') {
          this.counts.undone += 1;
          continue;
        }
        if (seen?.version !== undefined) versions.set(history, seen.version);
        history.id ??= seen?.id;
        const end = seen === undefined ? Infinity : time++;
        history.operations.push({ input, output: seen, begin, end });
        this.counts.operations += 1;
        if (seen === undefined) this.counts.unknown += 1;
        if (seen?.replayed) this.counts.replayed += 1;
        if (seen?.status === 412) this.counts.refused += 1;
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, client) => run(client)));
    const wrong = histories.find(({ first, operations }) => !isLinearizable(operations, first));
    return wrong && describeHistory(wrong);
  }

  #begin(i: number): RecordHistory {
    const collection = i % 2 === 0 ? 'posts' : 'users';
    const first = { a: 'first', b: this.#anyB(collection, 'first') };
    return { collection, key: randomUUID(), first, id: undefined, operations: [] };
  }

  /** The second field of a post is its author, because some stores need more steps to change it. */
  #anyB(collection: 'users' | 'posts', unique: string): string {
    return collection === 'posts' ? pick(this.#authors) : unique;
  }

  #choose({ id, collection }: RecordHistory, unique: string, only: number | undefined): Input {
    const dice = randomInt(100);
    if (id === undefined || dice < 10) return { method: 'POST' };
    const condition = randomInt(2) === 0 ? only : undefined;
    const a = unique;
    const b = this.#anyB(collection, unique);
    if (dice < 40) return { method: 'GET' };
    if (dice < 60) return { method: 'PUT', fields: { a, b }, only: condition };
    if (dice < 97) {
      return { method: 'PATCH', fields: randomInt(2) === 0 ? { a } : { b }, only: condition };
    }
    return { method: 'DELETE', only: condition };
  }

  async #send(history: RecordHistory, { method, fields, only }: Input): Promise<Seen> {
    const { collection, key, first, id } = history;
    const path = method === 'POST' ? `/${collection}` : `/${collection}/${id}`;
    const given = method === 'POST' ? first : fields;
    const whole = method === 'POST' || method === 'PUT';
    const headers = {
      ...(method === 'POST' && { 'Idempotency-Key': key }),
      ...(only !== undefined && { 'If-Match': `"${only}"` }),
    };
    const body = given && {
      ...(whole && { [collection === 'posts' ? 'title' : 'name']: 'x' }),
      ...(given.a !== undefined && { a: given.a }),
      ...(given.b !== undefined && { [collection === 'posts' ? 'authorId' : 'b']: given.b }),
    };
    const response = await this.#call(method, path, headers, body, randomInt(30) === 0);
    if (response === undefined) return undefined;
    const { status, etag, replayed, record } = response;
    if (status === 503) return record.outcome === 'unknown' ? undefined : 'nothing was done';
    const version = etag === undefined ? {} : { version: Number(etag.slice(1, -1)) };
    if (status === 404) return { status };
    if (status === 412) return { status, ...version };
    if (status !== 200 && status !== 201) {
      throw new Error(`${method} ${path}: ${status} ${JSON.stringify(record)}`);
    }
    if (method === 'DELETE') return { status };
    const b = collection === 'posts' ? record.authorId : record.b;
    const read = { status, ...version, fields: { a: String(record.a), b: String(b) } };
    return method === 'POST' ? { ...read, id: String(record.id), replayed } : read;
  }

  /** Returns undefined if the connection broke, intentionally or not. */
  async #call(method: string, path: string, headers: object, body?: object, leaves = false) {
    const sent = request(`${pick(this.#addresses)}/api/v1${path}`, {
      method,
      agent: this.#agent,
      headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
    });
    const leaving = leaves ? setTimeout(() => sent.destroy(), randomInt(4)) : undefined;
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        sent.once('response', resolve).once('error', reject).once('close', reject);
        sent.end(body && JSON.stringify(body));
      });
      const record = JSON.parse(await text(response)) as Record<string, unknown>;
      const { etag, 'idempotency-replayed': replayed } = response.headers;
      return { status: response.statusCode, etag, replayed: replayed === 'true', record };
    } catch {
      return undefined;
    } finally {
      clearTimeout(leaving);
    }
  }

  async #makeAuthor(): Promise<string> {
    // On a busy machine, this call can also end without a response.
    for (let tries = 0; tries < 10; tries++) {
      const made = await this.#call('POST', '/users', {}, { name: 'author' });
      if (made?.status === 201) return String(made.record.id);
    }
    throw new Error('The server created no user.');
  }
}

function pick<T>(all: readonly T[]): T {
  return all[randomInt(all.length)] as T;
}

function describeHistory({ collection, operations }: RecordHistory): string {
  const lines = operations
    .toSorted((one, other) => one.begin - other.begin)
    .map(
      ({ begin, end, input, output }) =>
        `${begin}–${end}: ${JSON.stringify(input)} → ${JSON.stringify(output) ?? 'unknown'}`,
    );
  return `No order explains this record of ${collection}:\n${lines.join('\n')}`;
}
