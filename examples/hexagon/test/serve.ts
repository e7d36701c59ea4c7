import type { Server } from 'node:http';
import { createContainer, tokens } from '../src/adapters/inversify/container.ts';

/** Serves the API during the tests of a `describe`, with a container and a store of its own. */
export function serve() {
  const container = createContainer('memory:');
  let server: Server;
  before(async () => {
    server = (await container.getAsync(tokens.app)).listen(0, '127.0.0.1');
  });
  after(() => server.close());

  async function send(method: string, path: string, body?: object | string, headers = {}) {
    const { port } = server.address() as { port: number };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...(body && { 'Content-Type': 'application/json' }), ...headers },
      body: typeof body === 'object' ? JSON.stringify(body) : (body ?? null),
    });
    const received: Headers = response.headers;
    const text = await response.text();
    return { status: response.status, headers: received, body: text && JSON.parse(text) };
  }

  return { container, send };
}
