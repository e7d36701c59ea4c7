import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { createFetchHandler } from '../../../src/adapters/http/fetch/index.ts';
import { rostrumMiddleware } from '../../../src/adapters/http/index.ts';
import { createMcpHandler } from '../../../src/adapters/mcp/index.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { type Caller, createRostrum } from '../../../src/index.ts';
import { connectTo } from './support/mcp.ts';

describe('MCP in another app', () => {
  const rostrum = createRostrum(createMemoryStore());
  const mcp = createMcpHandler(rostrum);
  const scopes = new Set(['posts:read'] as const);
  const authenticate = (): Caller => ({ name: 'app', subject: null, scopes });

  it('is served below the prefix of rostrumMiddleware, with its authentication', async () => {
    const app = new Koa();
    app.use(rostrumMiddleware(rostrum, { prefix: '/forum', mcp, authenticate }));
    app.use((ctx) => {
      ctx.body = 'host';
    });
    const server: Server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = await connectTo(new URL(`http://127.0.0.1:${port}/forum/mcp`));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).to.deep.equal(['find_posts', 'get_post']);
    await client.close();
    expect(await (await fetch(`http://127.0.0.1:${port}/mcp`)).text()).to.equal('host');
    server.closeAllConnections();
    server.close();
  });

  it('is served by rostrum/fetch', async () => {
    const handle = createFetchHandler(rostrum, { mcp, authenticate });
    const url = new URL('https://example.com/api/v1/mcp');
    const headers = { Origin: url.origin }; // A page of this server.
    const client = await connectTo(url, headers, '2026-07-28', (input, init) =>
      handle(new Request(input, init)),
    );
    const { isError, content } = await client.call('find_posts');
    expect([isError, content]).to.deep.equal([false, { posts: [], next: null }]);
    await client.close();
  });
});
