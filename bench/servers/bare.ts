import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BareStore } from './bare-store.ts';
import { newPost, pageOf } from './store.ts';

const base = '/api/v1/posts';

/**
 * Serves the same requests with as little code as possible on `node:http`: no framework, validation or log,
 * and only the headers that a client needs to read the body. Returns the port.
 */
export async function bare(store: BareStore): Promise<number> {
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    if (request.method === 'POST') {
      return send(response, 201, await store.add(newPost(JSON.parse(await bodyOf(request)))));
    }
    if (path.length > base.length) {
      const json = await store.get(path.slice(base.length + 1));
      return send(response, json === undefined ? 404 : 200, json ?? '{}');
    }
    const limit = Number(new URLSearchParams(query).get('limit'));
    send(response, 200, await pageOf(store, limit));
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      console.error(error);
      send(response, 500, '{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString()));
    request.on('error', reject);
  });
}

function send(response: ServerResponse, status: number, json: string): void {
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(json),
  });
  response.end(json);
}
