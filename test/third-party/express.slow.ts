import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { rostrumListener } from '../../src/adapters/http/index.ts';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum } from '../../src/index.ts';
import { callsTo } from '../adapters/http/support/api.ts';
import { expectAt } from '../adapters/http/support/mounted.ts';

describe('Rostrum in Express', () => {
  const rostrum = createRostrum(createMemoryStore());
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) server.close();
  });

  async function listen(app: express.Express) {
    const server = createServer(app).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return callsTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }

  it('accepts the full prefix below a path that Express removes all or part of', async () => {
    const appAt = (path: string | RegExp) =>
      express()
        .use(path, rostrumListener(rostrum, { prefix: '/forum' }))
        .use((request, response) => {
          response.end(`the rest, ${request.url}`);
        });
    for (const path of ['/forum', '/{*path}', '/:name', /^\/forum(?=\/)/]) {
      const calls = await listen(appAt(path));
      const made = await calls.post('/forum/users', { name: 'Ann' });
      const location = made.headers.get('location') ?? '';
      expect(location).to.equal(`/forum/users/${made.body.id}`);
      expect((await calls.get(`${location}?`)).status).to.equal(200);
      for (const other of ['/forumx/users', '/else?a=/forum/users', '/']) {
        expect((await calls.get(other)).text, other).to.equal(`the rest, ${other}`);
      }
    }
    // With a parameter in the route, Express itself rejects malformed percent-encoding.
    await expectAt('/forum', await listen(appAt('/forum')));
    const router = express.Router().use('/b', rostrumListener(rostrum, { prefix: '/a/b' }));
    await expectAt('/a/b', await listen(express().use('/a', router)));
  });
});
