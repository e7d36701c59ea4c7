import { expect } from 'chai';
import { createApp, serve } from '../../src/adapters/http/index.ts';
import { createMcpHandler } from '../../src/adapters/mcp/index.ts';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum } from '../../src/index.ts';
import { declaredFields } from './requests.ts';
import { runFuzz } from './run-fuzz.ts';

describe('random requests', () => {
  it('all get responses that match the contract', async function () {
    this.timeout(60_000);
    const rostrum = createRostrum(createMemoryStore({ declaredFields }));
    const mcp = createMcpHandler(rostrum, { deletes: true });
    const app = createApp(rostrum, { ready: async () => {}, mcp });
    const server = await serve(app, { port: 0 });
    const seed = Number(process.env.FUZZ_SEED ?? Math.trunc(Math.random() * 2 ** 31));
    const { failures } = await runFuzz({ port: server.address.port, requests: 3000, seed });
    await server.close();
    expect(failures, `FUZZ_SEED=${seed}`).to.deep.equal([]);
  });
});
