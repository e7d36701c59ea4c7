import { expect } from 'chai';
import Koa from 'koa';
import type { Endpoint } from '../../../src/adapters/http/endpoint.ts';
import { serve } from '../../../src/adapters/http/index.ts';
import { Limiter } from '../../../src/adapters/http/limits/limiter.ts';
import { initState } from '../../../src/adapters/http/request.ts';
import { apiRouter } from '../../../src/adapters/http/router.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum } from '../../../src/index.ts';
import { until } from '../../support/until.ts';

describe('the router', () => {
  it('runs the requests of a new endpoint in parallel, whatever its method', async () => {
    let running = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const endpoint: Endpoint = {
      ...{ method: 'PUT', path: '/settings', operation: 'putSettings', summary: 'Put settings' },
      ...{ scopes: ['users:write'], responses: { 204: { description: 'Done.' } } },
      async handle(ctx) {
        running += 1;
        await promise;
        ctx.status = 204;
      },
    };
    const rostrum = createRostrum(createMemoryStore());
    const app = new Koa().use(initState({ prefix: '' }, false) as Koa.Middleware);
    app.use(apiRouter(rostrum, '', {}, new Limiter(), [endpoint]).routes());
    const server = await serve(app, { port: 0 });
    const put = () => fetch(`${server.url}/settings`, { method: 'PUT' });
    const all = [put(), put()];
    await until(() => running === 2, 'both are in progress').finally(resolve);
    for (const { status } of await Promise.all(all)) expect(status).to.equal(204);
    await server.close();
  });
});
