import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../support/until.ts';

/** An event as text: `updated post 0196… 3`. */
type Event = string;

/** The changes of clients compared to the events that followers received. */
export interface EventReport {
  readonly acknowledged: number;
  /** Changes with no response or an unknown outcome at first, which may have been made. */
  readonly unknown: number;
  readonly events: number;
  /** Acknowledged changes without an event. */
  readonly missed: number;
  /** Events of changes that were neither acknowledged nor uncertain. */
  readonly foreign: number;
  readonly twice: number;
  /** Events that arrived after a later event of the same record. */
  readonly outOfOrder: number;
  /** Followers whose events differ from those of the first follower, or have another order. */
  readonly otherOrders: number;
  readonly odd: readonly string[];
}

export function isFollowed(report: EventReport): boolean {
  const { missed, foreign, twice, outOfOrder, otherOrders, odd } = report;
  return missed + foreign + twice + outOfOrder + otherOrders + odd.length === 0;
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly id?: string;
    readonly next?: string;
    readonly events?: EventItem[];
    readonly outcome?: string;
  };
}
interface EventItem {
  readonly type: string;
  readonly id: string;
  readonly version: number;
}

/** Clients that create, change and delete users with posts over HTTP, and record the outcomes. */
export class EventLoad {
  /** The current address of the server. */
  address = '';
  readonly acknowledged = new Set<Event>();
  /** Changes that may have been made. */
  readonly unknown = new Set<Event>();
  readonly odd: string[] = [];
  #clients: Promise<unknown> = Promise.resolve();
  #stopped = false;

  start(clients: number): void {
    const run = async () => {
      while (!this.#stopped) await this.#live();
    };
    this.#clients = Promise.all(Array.from({ length: clients }, run));
  }

  /** Resolves when all clients have finished. The server must be available until then. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#clients;
  }

  /** Creates a user with posts, changes and deletes them. */
  async #live(): Promise<void> {
    const author = await this.#create('user', { name: 'N' });
    const posts: { id: string; version: number }[] = [];
    for (let n = randomInt(4); n > 0; n--) {
      posts.push({ id: await this.#create('post', { title: 'T', authorId: author }), version: 1 });
    }
    for (const one of posts) {
      for (let n = randomInt(3); n > 0; n--) {
        one.version += 1;
        const change = { method: 'PATCH', type: 'application/merge-patch+json', body: { n } };
        const path = `/posts/${one.id}`;
        await this.#insist(
          [`updated post ${one.id} ${one.version}`],
          path,
          change,
          one.version - 1,
        );
      }
    }
    if (randomInt(3) === 0) return;
    const mode = randomInt(2) === 0 ? 'keep' : 'delete';
    const ofPosts = posts.map(({ id, version }) =>
      mode === 'keep' ? `updated post ${id} ${version + 1}` : `deleted post ${id} ${version}`,
    );
    const events = [...ofPosts, `deleted user ${author} 1`];
    await this.#insist(events, `/users/${author}?posts=${mode}`, { method: 'DELETE' }, 1);
  }

  /** Creates a record with an idempotency key, retrying until it is acknowledged. */
  async #create(kind: 'user' | 'post', body: object): Promise<string> {
    const key = randomUUID();
    for (;;) {
      const answer = await send(this.address, `/${kind}s`, { method: 'POST', body, key });
      if (answer?.status === 201 && answer.body.id !== undefined) {
        this.acknowledged.add(`created ${kind} ${answer.body.id} 1`);
        return answer.body.id;
      }
      if (answer !== undefined && answer.status !== 503) this.#isOdd('POST', answer);
      await sleep(100);
    }
  }

  /**
   * Retries a conditional change until it is acknowledged. If an earlier try succeeded, the version has
   * changed. As nothing else changes the record, a mismatch means success.
   */
  async #insist(events: Event[], path: string, request: Request, version: number): Promise<void> {
    for (let tries = 1; ; tries++) {
      const answer = await send(this.address, path, { ...request, ifMatch: `"${version}"` });
      if (answer !== undefined && answer.status < 300) {
        for (const event of events) this.acknowledged.add(event);
        return;
      }
      if (answer === undefined || answer.body.outcome === 'unknown') {
        for (const event of events) this.unknown.add(event);
      } else if (answer.status !== 503) {
        const isMade = [404, 412].includes(answer.status) && this.unknown.has(events[0] ?? '');
        if (isMade) for (const event of events) this.acknowledged.add(event);
        else this.#isOdd(`${request.method} ${path} (try ${tries})`, answer);
        return;
      }
      await sleep(100);
    }
  }

  #isOdd(what: string, { status, body }: Answer): void {
    this.odd.push(`${what}: ${status} ${JSON.stringify(body)}`);
  }
}

/** Reads the event log continuously, and keeps its position while the server is down. */
export class EventFollower {
  /** The current address of the server. */
  address: string;
  readonly met: Event[] = [];
  readonly odd: string[] = [];
  #position: string;
  #stopped = false;
  readonly #end: Promise<void>;

  constructor(address: string, position: string) {
    this.address = address;
    this.#position = position;
    this.#end = this.#follow();
  }

  /** Resolves when this event was received, and stops reading. */
  async stopBehind(event: Event): Promise<void> {
    await until(() => this.met.includes(event), `a follower meets ${event}`, 60_000);
    this.#stopped = true;
    await this.#end;
  }

  async #follow(): Promise<void> {
    while (!this.#stopped) {
      const query = `after=${this.#position}&limit=${randomInt(1, 1000)}&wait=${randomInt(2)}`;
      const answer = await send(this.address, `/events?${query}`, { method: 'GET' });
      const { events, next } = answer?.body ?? {};
      if (answer?.status === 200 && events !== undefined && next !== undefined) {
        for (const { type, id, version } of events) {
          const [kind, change] = type.split('.');
          this.met.push(`${change} ${kind} ${id} ${version}`);
        }
        this.#position = next;
        continue;
      }
      if (answer !== undefined && answer.status !== 503) {
        this.odd.push(`${answer.status} ${JSON.stringify(answer.body)}`);
        return;
      }
      await sleep(50);
    }
  }
}

/** Returns the position at the end of the log, where followers begin. */
export async function endOfEvents(address: string): Promise<string> {
  const answer = await send(address, '/events', { method: 'GET' });
  if (answer?.body.next === undefined) throw new Error(`No log: ${JSON.stringify(answer)}`);
  return answer.body.next;
}

/** Makes one last change and returns its event. Followers that received it have received all earlier events. */
export async function lastEvent(address: string): Promise<Event> {
  const answer = await send(address, '/users', { method: 'POST', body: { name: 'last' } });
  return `created user ${answer?.body.id} 1`;
}

/** @param others acknowledged changes of other clients */
export function judge(
  loads: readonly EventLoad[],
  followers: readonly EventFollower[],
  others: Iterable<Event> = [],
): EventReport {
  const acknowledged = new Set([...loads.flatMap((load) => [...load.acknowledged]), ...others]);
  const unknown = new Set(loads.flatMap((load) => [...load.unknown]));
  const [first] = followers;
  const counts = { missed: 0, foreign: 0, twice: 0, outOfOrder: 0, otherOrders: 0 };
  for (const { met } of followers) {
    const all = new Set(met);
    counts.missed += [...acknowledged].filter((event) => !all.has(event)).length;
    counts.foreign += met.filter((one) => !acknowledged.has(one) && !unknown.has(one)).length;
    counts.twice += met.length - all.size;
    if (met.join() !== first?.met.join()) counts.otherOrders += 1;
    const versions = new Map<string, number>();
    for (const event of met) {
      const [change, kind, id, version] = event.split(' ');
      // The event of a deletion has the last version of the record.
      const place = Number(version) + (change === 'deleted' ? 0.5 : 0);
      if (place <= (versions.get(`${kind} ${id}`) ?? 0)) counts.outOfOrder += 1;
      versions.set(`${kind} ${id}`, place);
    }
  }
  const odd = [...loads, ...followers].flatMap((one) => one.odd).slice(0, 10);
  const events = first?.met.length ?? 0;
  return { acknowledged: acknowledged.size, unknown: unknown.size, events, ...counts, odd };
}

interface Request {
  readonly method: string;
  readonly type?: string;
  readonly body?: object;
  readonly key?: string;
  readonly ifMatch?: string;
}

/** Returns undefined if no response arrives. */
async function send(address: string, path: string, request: Request): Promise<Answer | undefined> {
  const { method, type = 'application/json', body, key, ifMatch } = request;
  try {
    const response = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: {
        ...(body && { 'content-type': type }),
        ...(key && { 'idempotency-key': key }),
        ...(ifMatch && { 'if-match': ifMatch }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  } catch {
    return undefined;
  }
}
