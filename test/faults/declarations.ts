// Declares fields of many posts under load, with two servers of which one was started before. While a field is
// pending or declared, clients of both servers write wrong values and duplicates all the time. The command that
// declares is killed in each of its steps, and the next one goes on. No wrong value may be stored, and no unique one
// twice. Then three servers restart in turn, two of them with --field.
//
//   node test/faults/declarations.ts [--store sqlite|mongodb] [--posts 100000]

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { MongoClient } from 'mongodb';
import { openStore } from '../../src/adapters/inversify/open-store.ts';
import { checkRecord, fieldsIn } from '../../src/domain/fields/declared-fields.ts';
import { type Entity, VersionedRecord } from '../../src/domain/records/record.ts';
import type { Store } from '../../src/ports/store.ts';
import { post } from '../../src/testing/fixtures.ts';
import { findMongod } from '../support/mongod/binary.ts';
import { startReplicaSet } from '../support/mongod/servers.ts';
import { outcomeOf } from '../support/process.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { rostrum, type Server, sendJson, startCommand, startServer } from '../support/server.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    posts: { type: 'string', default: '100000' },
  },
});
const count = Number(values.posts);
const declaredFields = {
  posts: { views: 'number', slug: { type: 'text', unique: true }, tags: 'text[]' },
} as const;
const declarations = ['posts.views:number', 'posts.slug:text:unique', 'posts.tags:text[]'];
/** Rejected once the fields are pending. */
const wrong: readonly object[] = [{ views: 'x' }, { slug: 5 }, { tags: 'a' }, { tags: ['a', 1] }];

await using folder = await temporaryDirectory();
const path = join(folder.path, 'rostrum.db');
const isSqlite = values.store === 'sqlite';
const binary = isSqlite ? undefined : await findMongod();
await using server = binary === undefined ? undefined : await startReplicaSet(binary, 1);
const url = server?.url('declarations') ?? `sqlite:${path}`;
await using client = isSqlite ? undefined : await new MongoClient(url).connect();

/** Returns how many fields are pending, and how many are declared. */
async function readState(): Promise<{ readonly pending: number; readonly declared: number }> {
  if (client === undefined) {
    using file = new DatabaseSync(path, { readOnly: true });
    const sql =
      'SELECT count(*) FILTER (WHERE pending <> 0) AS pending, count(*) AS declared FROM fields';
    const state = file.prepare(sql).get();
    return { pending: Number(state?.pending), declared: Number(state?.declared) };
  }
  const [posts] = await client.db().listCollections({ name: 'posts' }).toArray();
  const rule = Object(posts).options.validator?.$jsonSchema?.properties.custom.properties ?? {};
  const fields: { description?: string }[] = Object.values(rule);
  const pending = fields.filter(({ description }) => description !== undefined).length;
  return { pending, declared: fields.length };
}

const silent = { info() {}, warn() {}, error() {} };
const withStore = async <T>(use: (store: Store) => Promise<T>): Promise<T> => {
  await using store = await openStore(url, silent);
  for (let tries = 0; tries < 20; tries++)
    if (
      await store.ready().then(
        () => true,
        () => false,
      )
    )
      break;
  return await use(store);
};

async function fill(): Promise<void> {
  const at = (n: number) => ({ views: n, slug: `s${n}`, tags: ['a', `t${n % 100}`] });
  await withStore(async ({ transfer }) => {
    for (let n = 0; n < count; n += 500) {
      const batch = Array.from({ length: 500 }, (_, i) => post(at(n + i)));
      await transfer?.posts.load(batch.map((record) => new VersionedRecord(record, 1)));
    }
  });
}

/** Reads all posts. Returns how many have a wrong value, and how many share a slug. */
async function judge(): Promise<{ readonly wrong: number; readonly twice: number }> {
  const slugs = new Set<unknown>();
  const result = { wrong: 0, twice: 0 };
  const judgeOne = (record: Entity) => {
    try {
      checkRecord(fieldsIn(declaredFields.posts), record);
    } catch {
      result.wrong += 1;
    }
    if (slugs.has(record.slug)) result.twice += 1;
    if (record.slug !== undefined) slugs.add(record.slug);
  };
  await withStore(async ({ transfer }) => {
    let page = await transfer?.posts.scan({ limit: 1000, bytes: 2 ** 22 });
    while (page !== undefined && page.length > 0) {
      for (const { record } of page) judgeOne(record);
      page = await transfer?.posts.scan({
        limit: 1000,
        bytes: 2 ** 22,
        after: page.at(-1)?.record.id,
      });
    }
  });
  return result;
}

/** The clients of a server: one writes what is right, the others what is wrong while `isStrict`. */
class Clients {
  readonly statuses: Record<string, number> = {};
  readonly #server: Server;
  #times: number[] = [];
  isStrict = false;
  isOver = false;

  constructor(server: Server) {
    this.#server = server;
  }

  async run(): Promise<void> {
    const clients = [this.#writeRight(), this.#writeWrong(), this.#writeTwice()];
    await Promise.all(clients);
  }

  /** Returns the slowest hundredth of the times since the last call, in milliseconds. */
  takeP99(): number {
    const sorted = this.#times.toSorted((a, b) => a - b);
    this.#times = [];
    return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
  }

  async #send(kind: string, body: object): Promise<void> {
    const { status } = await sendJson(this.#server.address, 'POST', '/posts', {
      title: 'A',
      ...body,
    });
    const key = `${kind} ${status}`;
    this.statuses[key] = (this.statuses[key] ?? 0) + 1;
  }

  async #writeRight(): Promise<void> {
    while (!this.isOver) {
      const start = performance.now();
      await this.#send('right', { slug: randomUUID(), views: 1, tags: ['a'] });
      this.#times.push(performance.now() - start);
      await sleep(2);
    }
  }

  async #writeWrong(): Promise<void> {
    for (let n = 0; !this.isOver; n++) {
      if (this.isStrict) await this.#send('wrong', wrong[n % wrong.length] ?? {});
      await sleep(1);
    }
  }

  async #writeTwice(): Promise<void> {
    while (!this.isOver) {
      // Before the index is built, one of these two can be stored beside the other, so the fields are not declared.
      if ((await readState()).pending === 0 && this.isStrict)
        await this.#send('twice', { slug: 's1' });
      await sleep(20);
    }
  }
}

const start = performance.now();
const say = (what: string, result?: unknown) => {
  console.log(`${((performance.now() - start) / 1000).toFixed(1)} s: ${what}`, result ?? '');
};
const expectTrue = (what: string, isTrue: boolean) => {
  if (isTrue) return;
  process.exitCode = 1;
  say(`FAILED: ${what}`);
};

await fill();
say(`${count} posts`);
await using one = await startServer('--store', url);
await using other = await startServer('--store', url);
const clients = [new Clients(one), new Clients(other)];
const running = clients.map((each) => each.run());
await sleep(2000);
say(
  'p99 in ms before',
  clients.map((each) => each.takeP99()),
);

// With a wrong record.
const bad = await sendJson<{ id: string }>(one.address, 'POST', '/posts', {
  title: 'bad',
  views: 'x',
});
const refused = await rostrum('field', 'add', ...declarations, '--store', url);
say('with a wrong record', refused.stderr.trim());
expectTrue('the wrong record is named', refused.stderr.includes(bad.body.id));
expectTrue('the declarations are taken back', (await readState()).declared === 0);
say(
  'p99 in ms',
  clients.map((each) => each.takeP99()),
);
await fetch(`${one.address}/api/v1/posts/${bad.body.id}`, { method: 'DELETE' });

// With two records of the same slug.
const twin = await sendJson<{ id: string }>(one.address, 'POST', '/posts', {
  title: 'bad',
  slug: 's1',
});
const twins = await rostrum('field', 'add', ...declarations, '--store', url);
say('with the same slug twice', twins.stderr.trim());
expectTrue('the second record is named', twins.stderr.includes(twin.body.id));
await fetch(`${one.address}/api/v1/posts/${twin.body.id}`, { method: 'DELETE' });
for (const field of (await rostrum('field', 'list', '--store', url)).stdout.split('\n')) {
  const [name = ''] = field.split(':');
  if (name !== '') await rostrum('field', 'remove', name, '--store', url);
}

// Killed in each step: as soon as the fields are pending, later, and when one of them is declared.
for (const [step, isThere] of Object.entries({
  'as the fields are pending': ({ pending }) => pending > 0,
  'while records are read': ({ pending }) => pending > 0,
  'after a field is declared': ({ pending, declared }) => declared > 0 && pending < declared,
} satisfies Record<string, (state: Awaited<ReturnType<typeof readState>>) => boolean>)) {
  const child = startCommand(['field', 'add', ...declarations, '--store', url]);
  const ended = outcomeOf(child);
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && !isThere(await readState())) await sleep(1);
  for (const each of clients) each.isStrict = true;
  if (step.startsWith('while')) await sleep(300);
  child.kill('SIGKILL');
  const { code, stderr } = await ended;
  say(`killed ${step}`, { code, stderr: stderr.trim(), ...(await readState()) });
}
const added = await rostrum('field', 'add', ...declarations, '--store', url);
say('the next one goes on', added);
expectTrue('the fields are declared', added.code === 0);
expectTrue('none is pending', (await readState()).pending === 0);
await sleep(2000);
say(
  'p99 in ms',
  clients.map((each) => each.takeP99()),
);

// Three servers restart in turn, two of them with declarations.
const flags = declarations.flatMap((declaration) => ['--field', declaration]);
for (let n = 0; n < 6; n++) {
  await using restarted = await startServer('--store', url, ...(n % 3 === 0 ? [] : flags));
  const { status } = await sendJson(restarted.address, 'GET', '/posts?slug=s1&views[gte]=0&tags=a');
  expectTrue(`a restarted server filters by the fields, not ${status}`, status === 200);
}

for (const each of clients) each.isOver = true;
await Promise.all(running);
for (const { statuses } of clients) {
  say('responses', statuses);
  const accepted = (statuses['wrong 201'] ?? 0) + (statuses['twice 201'] ?? 0);
  expectTrue('no wrong value is accepted', accepted === 0 && (statuses['wrong 422'] ?? 0) > 0);
  expectTrue(
    'no request fails',
    Object.keys(statuses).every((key) => !/ 5/.test(key)),
  );
}
const found = await judge();
say('stored', found);
expectTrue('no wrong value is stored', found.wrong + found.twice === 0);
