import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Meilisearch } from 'meilisearch';
import { Webhook } from 'standardwebhooks';
import '../../examples/sources.mjs';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum } from '../../src/index.ts';
import { startApi } from '../adapters/http/support/api.ts';
import { until } from '../support/until.ts';

const { createClient } = await import('../../packages/rostrum-client/src/index.ts');
const { indexPosts } = await import('../../examples/followers/search-index.ts');
const { forward } = await import('../../examples/followers/webhooks.ts');

function memoryPositions() {
  return {
    position: undefined as string | undefined,
    async load() {
      return this.position;
    },
    async save(position: string) {
      this.position = position;
    },
  };
}

describe('the follower examples', () => {
  it('deliver every event in order to a receiver that is slow or fails', async () => {
    const store = createMemoryStore();
    const { users, posts } = createRostrum(store);
    await using api = await startApi({ store });
    const secret = `whsec_${Buffer.from('a secret of 24 characters').toString('base64')}`;
    const met: string[] = [];
    let requests = 0;
    const receive = async (request: IncomingMessage): Promise<number | undefined> => {
      const body = (await buffer(request)).toString();
      // Verifies the signature like a real receiver.
      new Webhook(secret).verify(body, request.headers as Record<string, string>);
      const id = String(request.headers['webhook-id']);
      requests += 1;
      if (requests % 5 === 1) return 500;
      if (requests % 5 === 2) return undefined;
      if (met.at(-1) !== id) met.push(id);
      if (requests % 5 === 3) await sleep(50);
      return requests % 5 === 4 ? 502 : 204;
    };
    const receiver = createServer((request, response) => {
      receive(request).then(
        (status) => (status ? response.writeHead(status).end() : request.socket.destroy()),
        () => response.writeHead(401).end(),
      );
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const ended = new AbortController();
    const positions = memoryPositions();
    positions.position = (await createRostrum(store).events.read()).next;
    const base = `${api.server.url}/api/v1`;
    const running = forward(base, { url, secret }, positions, ended.signal).catch(() => {});
    const { id } = (await users.create({ name: 'Ada' })).record;
    const post = (await posts.create({ title: 'x', authorId: id })).record.id;
    await users.delete(id, { posts: 'keep' });
    const expected = [
      `user.created.${id}.1`,
      `post.created.${post}.1`,
      `post.updated.${post}.2`,
      `user.deleted.${id}.1`,
    ];
    await until(() => new Set(met).size === 4, 'all events have arrived');
    expect([...new Set(met)]).to.deep.equal(expected);
    ended.abort();
    await running;
    receiver.closeAllConnections();
    receiver.close();
  });

  it('keep a search index in sync with all posts', async () => {
    const store = createMemoryStore();
    const { posts } = createRostrum(store);
    await using api = await startApi({ store });
    const kept = (await posts.create({ title: 'kept' })).record.id;
    const gone = (await posts.create({ title: 'gone' })).record.id;
    const index = new Map<unknown, unknown>();
    const search = {
      async updateDocuments(documents: Record<string, unknown>[]) {
        for (const document of documents) index.set(document.id, document.title);
      },
      async deleteDocuments(ids: string[]) {
        for (const id of ids) index.delete(id);
      },
    };
    const ended = new AbortController();
    const positions = memoryPositions();
    const running = indexPosts(
      createClient({ url: `${api.server.url}/api/v1` }),
      search as unknown as ReturnType<Meilisearch['index']>,
      positions,
      ended.signal,
    ).catch(() => {});
    await until(() => index.size === 2, 'the records are there');
    const made = (await posts.create({ title: 'made' })).record.id;
    await posts.patch(kept, { title: 'changed' });
    await posts.delete(gone);
    const expected = new Map([
      [kept, 'changed'],
      [made, 'made'],
    ]);
    const inStep = () => JSON.stringify([...index].sort()) === JSON.stringify([...expected].sort());
    await until(inStep, 'the index is in step');
    ended.abort();
    await running;
  });
});
