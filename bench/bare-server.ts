import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { systemClock } from '../src/adapters/system/clock.ts';
import { uuidV7 } from '../src/adapters/system/uuid-v7.ts';
import { newestFirst, type Store } from '../src/index.ts';
import { base } from './requests.ts';

/**
 * What the program is compared to: the same store behind the least that answers the same requests.
 * No framework, no validation, no conditions, no errors.
 */
export function bareServer(store: Store): Server {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    if (request.method === 'POST') {
      const { title, body, authorId } = JSON.parse(await text(request));
      const now = systemClock.now();
      const record = { id: uuidV7.next(), title, body, authorId, createdAt: now, updatedAt: now };
      const { stored } = await store.posts.create(record);
      return send(response, 201, stored.record);
    }
    if (path.length > base.length) {
      const found = await store.posts.get(path.slice(base.length + 1));
      return send(response, found ? 200 : 404, found?.record);
    }
    const limit = Number(new URLSearchParams(query).get('limit'));
    const { items, next = null } = await store.posts.list({}, { order: newestFirst, limit });
    send(response, 200, { posts: items.map(({ record }) => record), next });
  }

  return createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error(error);
      send(response, 500, {});
    });
  });
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function send(response: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value) ?? '';
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}
