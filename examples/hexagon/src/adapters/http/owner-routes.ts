import type { Router } from '@koa/router';
import type { Owners } from '../../domain/owners.ts';
import { idOf, jsonBody } from './route-helpers.ts';

export function addOwnerRoutes(router: Router, owners: Owners): void {
  router.post('/owners', jsonBody, async (ctx) => {
    const owner = await owners.create(ctx.request.body);
    ctx.status = 201;
    ctx.set('Location', `/owners/${owner.id}`);
    ctx.body = owner;
  });

  router.get('/owners/:id', async (ctx) => {
    ctx.body = await owners.get(idOf(ctx));
  });
}
