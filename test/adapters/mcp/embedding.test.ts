import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { createFetchHandler } from '../../../src/adapters/http/fetch/index.ts';
import { rostrumMiddleware } from '../../../src/adapters/http/index.ts';
import { createMcpHandler } from '../../../src/adapters/mcp/index.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { recordLimits } from '../../../src/domain/fields/rules.ts';
import { type Caller, createRostrum, RostrumError } from '../../../src/index.ts';
import { until } from '../../support/until.ts';
import { keepLog } from '../http/support/log.ts';
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

  it('ends a list when the client disconnects or the time is up', async () => {
    const store = createMemoryStore();
    const begun: AbortSignal[] = [];
    store.posts.list = ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        begun.push(signal as AbortSignal);
      });
    const { logger, lines } = keepLog();
    const slow = createRostrum(store);
    const handler = createMcpHandler(slow, { logger });
    const handle = createFetchHandler(slow, { mcp: handler, logger });
    const requestWith = (signal: AbortSignal) =>
      new Request('https://example.com/api/v1/mcp', {
        ...{ method: 'POST', signal, headers: { 'Content-Type': 'application/json' } },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_posts","arguments":{}}}',
      });
    const gone = new AbortController();
    const aborted = handle(requestWith(gone.signal)).catch(() => 'aborted');
    await until(() => begun.length === 1, 'the list begins');
    gone.abort();
    expect(await aborted).to.equal('aborted');
    await until(() => begun[0]?.aborted === true, 'the list ends');
    const late = new AbortController();
    const response = handler(requestWith(late.signal), null);
    await until(() => begun.length === 2, 'the list begins');
    late.abort(new RostrumError('overloaded', {}));
    const { result } = (await (await response).json()) as { result: { structuredContent: object } };
    expect(result.structuredContent).to.have.nested.property('error.code', 'overloaded');
    expect(lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('takes the largest record, with its message around it', async () => {
    const handle = createFetchHandler(rostrum, { mcp });
    const create = async (more: number) => {
      const fields = { title: 'T', body: '' };
      const size = recordLimits.bytes - JSON.stringify(fields).length + more;
      const text = '€'.repeat(size / 3) + 'x'.repeat(size % 3); // 500,000 characters are a larger body.
      const args = { title: 'T', body: text, key: 'k'.repeat(254) + more };
      const params = { name: 'create_post', arguments: args };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      const headers = { 'Content-Type': 'application/json' };
      const init = { method: 'POST', headers, body };
      const response = await handle(new Request('https://example.com/api/v1/mcp', init));
      const { result } = (await response.json()) as { result: { structuredContent: object } };
      return result.structuredContent;
    };
    expect(await create(0)).to.have.property('replayed', false);
    expect(await create(1)).to.have.nested.property('error.issues[0].code', 'too-large');
  });

  it('takes arguments that are nested deep or long, and any Accept', async () => {
    const handle = createFetchHandler(rostrum, { mcp, authenticate });
    const [deep, long] = [10_000, 900_000];
    const call = (name: string, args: string) =>
      `"method":"tools/call","params":{"name":"${name}","arguments":${args}}`;
    const results: string[] = [];
    for (const [message, accept] of [
      ['"method":"tools/list"', 'application/json'],
      ['"method":"tools/list"', '*/*'],
      ['"method":"tools/list"', ''],
      [`"method":"none","params":${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`, ''],
      [call('find_posts', `{"x":${'['.repeat(deep)}${']'.repeat(deep)}}`), ''],
      [call('find_posts', `{"title_starts_with":"${'x'.repeat(long)}"}`), ''],
    ] as const) {
      const headers = { 'Content-Type': 'application/json', ...(accept && { Accept: accept }) };
      const init = { method: 'POST', headers, body: `{"jsonrpc":"2.0","id":1,${message}}` };
      const response = await handle(new Request('https://example.com/api/v1/mcp', init));
      const { result, error } = (await response.json()) as Record<string, Record<string, unknown>>;
      results.push(`${response.status} ${error?.code ?? result?.isError ?? 'listed'}`);
    }
    const listed = Array<string>(3).fill('200 listed');
    expect(results).to.deep.equal([...listed, '200 -32601', '200 true', '200 false']);
  });
});
