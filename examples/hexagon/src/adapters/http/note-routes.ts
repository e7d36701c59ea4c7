import type { Router } from '@koa/router';
import type { Notes } from '../../domain/notes.ts';
import { idOf, jsonBody, sendVersion, versionsOf } from './route-helpers.ts';

export function addNoteRoutes(router: Router, notes: Notes): void {
  router.get('/notes', async (ctx) => {
    const { limit, ...query } = ctx.query;
    ctx.body = await notes.list(limit === undefined ? query : { ...query, limit: Number(limit) });
  });

  router.post('/notes', jsonBody, async (ctx) => {
    const note = await notes.create(ctx.request.body);
    ctx.status = 201;
    ctx.set('Location', `/notes/${note.id}`);
    sendVersion(ctx, note);
  });

  router.get('/notes/:id', async (ctx) => sendVersion(ctx, await notes.get(idOf(ctx))));

  router.patch('/notes/:id', jsonBody, async (ctx) => {
    sendVersion(ctx, await notes.change(idOf(ctx), ctx.request.body, versionsOf(ctx)));
  });

  router.put('/notes/:id/owner', jsonBody, async (ctx) => {
    sendVersion(ctx, await notes.move(idOf(ctx), ctx.request.body, versionsOf(ctx)));
  });

  router.delete('/notes/:id', async (ctx) => {
    await notes.remove(idOf(ctx), versionsOf(ctx));
    ctx.status = 204;
  });
}
