import type { Router, RouterContext } from '@koa/router';
import type { Context } from 'koa';
import type { Note } from '../../domain/note.ts';
import type { Notes } from '../../domain/notes.ts';
import { jsonBody } from './json-body.ts';

export function addNoteRoutes(router: Router, notes: Notes): void {
  router.get('/notes', async (ctx) => {
    const { limit, ...query } = ctx.query;
    ctx.body = await notes.list(limit === undefined ? query : { ...query, limit: Number(limit) });
  });

  router.post('/notes', jsonBody, async (ctx) => {
    const note = await notes.create(ctx.request.body);
    ctx.status = 201;
    ctx.set('Location', `/notes/${note.id}`);
    send(ctx, note);
  });

  router.get('/notes/:id', async (ctx) => send(ctx, await notes.get(idOf(ctx))));

  router.patch('/notes/:id', jsonBody, async (ctx) => {
    send(ctx, await notes.change(idOf(ctx), ctx.request.body, versionsOf(ctx)));
  });

  router.put('/notes/:id/owner', jsonBody, async (ctx) => {
    send(ctx, await notes.move(idOf(ctx), ctx.request.body, versionsOf(ctx)));
  });

  router.delete('/notes/:id', async (ctx) => {
    await notes.remove(idOf(ctx), versionsOf(ctx));
    ctx.status = 204;
  });
}

function idOf(ctx: RouterContext): string {
  return ctx.params.id ?? '';
}

function send(ctx: Context, note: Note): void {
  ctx.set('ETag', `"${note.version}"`);
  ctx.body = note;
}

/** Returns the versions in If-Match (RFC 9110), or undefined if the client accepts every version. */
function versionsOf(ctx: Context): number[] | undefined {
  const header = ctx.get('If-Match');
  if (header === '' || header === '*') return undefined;
  // Any other tag, such as a weak one, becomes NaN and matches no version.
  return header.split(',').map((tag) => Number(/^\s*"(\d+)"\s*$/.exec(tag)?.[1]));
}
